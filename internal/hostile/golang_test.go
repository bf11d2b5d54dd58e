package hostile

import (
	"bytes"
	"go/ast"
	"go/build/constraint"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// program is a machine's package as Go reads it.
type program struct {
	imports []string
	// code is the package without comments and with nothing in its constants.
	code string
	decl int
}

// holdsGo looks at the packages: formatted, every name declared once, no comment
// that commands a tool.
func holdsGo(t testing.TB, r rendered) program {
	t.Helper()
	var p program
	declared := map[string]bool{}
	for _, f := range r.packages {
		formatted, err := format.Source(f.Content)
		require.NoError(t, err, "%s", f.Content)
		require.Equal(t, string(formatted), string(f.Content))
		files := token.NewFileSet()
		read, err := parser.ParseFile(files, f.Name, f.Content, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, group := range read.Comments {
			for _, c := range group.List {
				holdsComment(t, c.Text)
			}
		}
		for _, d := range read.Decls {
			p.decl++
			for _, name := range names(d) {
				name = read.Name.Name + "." + name
				require.False(t, declared[name], "%s is declared twice", name)
				declared[name] = true
			}
		}
		for _, i := range read.Imports {
			p.imports = append(p.imports, f.Name+" "+i.Path.Value)
		}
		p.code += bare(t, files, read)
	}
	return p
}

func holdsComment(t testing.TB, text string) {
	t.Helper()
	require.False(t, constraint.IsGoBuild(text) || constraint.IsPlusBuild(text), text)
	require.True(t, text == "//" || strings.HasPrefix(text, "// ") || strings.HasPrefix(text, "//\t"), "%q", text)
	for _, r := range text {
		require.False(t, r == '\u202e' || r == '\u2066' || r == '\u200b', "%q hides what it says", text)
	}
}

// names are what a declaration declares in its package, methods with their type.
func names(d ast.Decl) []string {
	var out []string
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			var b bytes.Buffer
			_ = printer.Fprint(&b, token.NewFileSet(), d.Recv.List[0].Type)
			name = strings.TrimPrefix(b.String(), "*") + "." + name
		}
		out = append(out, name)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				out = append(out, s.Name.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					out = append(out, n.Name)
				}
			}
		}
	}
	kept := out[:0]
	for _, name := range out {
		if name != "_" && name != "init" {
			kept = append(kept, name)
		}
	}
	return kept
}

// bare prints a file without comments, its text constants empty.
func bare(t testing.TB, files *token.FileSet, f *ast.File) string {
	t.Helper()
	f.Comments, f.Doc = nil, nil
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				n.Value = `""`
			}
		case *ast.GenDecl:
			n.Doc = nil
		case *ast.FuncDecl:
			n.Doc = nil
		case *ast.TypeSpec:
			n.Doc, n.Comment = nil, nil
		case *ast.ValueSpec:
			n.Doc, n.Comment = nil, nil
		case *ast.Field:
			n.Doc, n.Comment = nil, nil
		}
		return true
	})
	var b bytes.Buffer
	require.NoError(t, printer.Fprint(&b, files, f))
	return strings.Join(strings.Fields(b.String()), " ")
}
