package genfile

import (
	"bytes"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// Qualified is a name of another package. It is a plain value: it may be kept,
// compared and printed in several files.
type Qualified struct {
	path  string
	alias string
	name  string
}

// Import returns the name of a package for [File.P] to print. The package is
// imported only when the name is printed. With an empty path the name is
// printed alone.
func (f *File) Import(path, name string) Qualified {
	return Qualified{path: path, name: name}
}

// ImportAs is [File.Import] for a package whose name does not follow from its
// path. The import says alias, or alias with a number when that is taken. The
// alias of the first print of a path counts.
func (f *File) ImportAs(path, alias, name string) Qualified {
	return Qualified{path: path, alias: alias, name: name}
}

// Reserve keeps imports from taking names. Names declared in the printed text
// are kept free anyway; this is for names that another file of the package
// declares.
func (f *File) Reserve(names ...string) {
	for _, name := range names {
		f.reserved[name] = true
	}
}

// importNames is the imports of one file, in the order of first use, and what
// each is called.
type importNames struct {
	paths  []string
	byPath map[string]string
}

// importNames gives every printed package a name that is neither taken nor
// given twice. "." is no name, as everywhere in Go.
func (f *File) importNames(taken map[string]bool) *importNames {
	names := &importNames{byPath: make(map[string]string)}
	used := make(map[string]bool)
	for _, p := range f.pieces {
		if p.name == nil || p.name.path == "" || names.byPath[p.name.path] != "" {
			continue
		}
		base := p.name.alias
		if base == "" {
			base = packageName(p.name.path)
		}
		name := base
		for n := 2; taken[name] || used[name] || reservedWord(name); n++ {
			name = base + strconv.Itoa(n)
		}
		used[name] = true
		names.paths = append(names.paths, p.name.path)
		names.byPath[p.name.path] = name
	}
	return names
}

func (n *importNames) write(b *bytes.Buffer) {
	if len(n.paths) == 0 {
		return
	}
	var standard, others []string
	for _, p := range n.paths {
		if isStandard(p) {
			standard = append(standard, p)
		} else {
			others = append(others, p)
		}
	}
	sort.Strings(standard)
	sort.Strings(others)
	b.WriteString("import (\n")
	for _, p := range standard {
		n.writeOne(b, p)
	}
	if len(standard) > 0 && len(others) > 0 {
		b.WriteByte('\n')
	}
	for _, p := range others {
		n.writeOne(b, p)
	}
	b.WriteString(")\n\n")
}

func (n *importNames) writeOne(b *bytes.Buffer, p string) {
	if n.byPath[p] != packageName(p) || !plainPath(p) {
		b.WriteString(n.byPath[p] + " ")
	}
	b.WriteString(strconv.Quote(p) + "\n")
}

// isStandard tells by the first element of the path, which has a dot unless it
// is the standard library's. A module named without one, which Go discourages,
// is grouped with it; that changes the order alone.
func isStandard(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return !strings.Contains(first, ".")
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// packageName guesses the name of a package: the last element of its path that
// is not a major version, without what a name cannot hold.
func packageName(p string) string {
	base := path.Base(p)
	if majorVersion.MatchString(base) && path.Dir(p) != "." {
		base = path.Base(path.Dir(p))
	}
	if i := strings.LastIndex(base, ".v"); i > 0 && majorVersion.MatchString(base[i+1:]) {
		base = base[:i]
	}
	var b strings.Builder
	for _, r := range base {
		if identRune(r) && (b.Len() > 0 || !digit(r)) {
			b.WriteRune(r)
		}
	}
	if b.Len() == 0 {
		return "pkg"
	}
	return b.String()
}

// plainPath reports whether the guess can be trusted: an element that is no
// identifier, such as go-udiff, has a package of some other name.
func plainPath(p string) bool {
	base := path.Base(p)
	if majorVersion.MatchString(base) && path.Dir(p) != "." {
		base = path.Base(path.Dir(p))
	}
	return token.IsIdentifier(base)
}

// shadows adds to taken each import name that the file itself declares, as a
// parameter, a variable or at the top level, and reports whether there was one.
func shadows(file *ast.File, names *importNames, taken map[string]bool) bool {
	imported := make(map[string]bool, len(names.paths))
	for _, p := range names.paths {
		imported[names.byPath[p]] = true
	}
	found := false
	declare := func(idents ...*ast.Ident) {
		for _, ident := range idents {
			if ident != nil && imported[ident.Name] {
				taken[ident.Name] = true
				found = true
			}
		}
	}
	fields := func(list *ast.FieldList) {
		if list != nil {
			for _, field := range list.List {
				declare(field.Names...)
			}
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.FuncDecl:
			fields(n.Recv)
			if n.Recv == nil {
				declare(n.Name)
			}
		case *ast.FuncType:
			fields(n.TypeParams)
			fields(n.Params)
			fields(n.Results)
		case *ast.ValueSpec:
			declare(n.Names...)
		case *ast.TypeSpec:
			declare(n.Name)
			fields(n.TypeParams)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, left := range n.Lhs {
					ident, _ := left.(*ast.Ident)
					declare(ident)
				}
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				key, _ := n.Key.(*ast.Ident)
				value, _ := n.Value.(*ast.Ident)
				declare(key, value)
			}
		}
		return true
	})
	return found
}
