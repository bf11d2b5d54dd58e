package layout

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// guarding are the packages that compare what somebody sent with a secret, or with
// what a secret makes.
var guarding = []string{
	"fsm/webhook", "fsm/token", "fsm/token/tokenredis", "fsm/inbox", "fsm/command", "fsm/command/commandhttp",
	"fsm/lock/lockredis", "fsm/internal/redisconn", "internal/studio", "examples/orders", "examples/orders/shop",
}

// confidential is in the names of what must not be compared byte by byte: the time that
// takes tells how many of the first were right.
var confidential = regexp.MustCompile(`(?i)secret|signature|hmac|\bmac\b|password|passwd|bearer|\bhash\b|digest|\btoken\b|^sign$|^reveal$|^sealed$|^sum$`)

// telling are the functions that compare so.
var telling = map[string][]string{
	"bytes":   {"Equal", "Compare", "EqualFold", "HasPrefix"},
	"strings": {"EqualFold", "Compare", "HasPrefix", "HasSuffix", "Contains"},
	"slices":  {"Equal", "Compare"},
	"reflect": {"DeepEqual"},
	"cmp":     {"Compare"},
}

// settled are comparisons that were looked at, with the reason why they tell nothing.
var settled = map[string]string{
	"fsm/webhook/rsa.go: strict.EncodeToString(raw) != signature": "the sender's own text and what it decodes to; no secret of ours is in either",
	"fsm/command/record.go: bytes.Equal(sum[:], r.sum)":           "the fingerprint of the caller's own request, who knows both",
}

// compared lists the comparisons of secrets in a file that are not in constant time.
// One with a constant, nil or a length looks at no secret.
func compared(file *ast.File) []ast.Node {
	var found []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && !plain(n.X) && !plain(n.Y) && (secretive(n.X) || secretive(n.Y)) {
				found = append(found, n)
			}
		case *ast.SwitchStmt:
			if n.Tag != nil && secretive(n.Tag) {
				found = append(found, n.Tag)
			}
		case *ast.CallExpr:
			if tells(n) && slices.ContainsFunc(n.Args, secretive) && !slices.ContainsFunc(n.Args, literal) {
				found = append(found, n)
			}
		case *ast.IndexExpr: // a map is looked up by comparing, too
			if call, ok := n.Index.(*ast.CallExpr); ok && secretive(call) {
				found = append(found, n)
			}
		}
		return true
	})
	return found
}

func tells(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := f.X.(*ast.Ident)
	return ok && slices.Contains(telling[pkg.Name], f.Sel.Name)
}

func literal(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.CallExpr: // []byte("…")
		_, conversion := e.Fun.(*ast.ArrayType)
		return conversion && len(e.Args) == 1 && literal(e.Args[0])
	case *ast.Ident:
		return e.Obj != nil && e.Obj.Kind == ast.Con || strings.HasSuffix(e.Name, "Prefix")
	}
	return false
}

// packages are those of which constants and errors are compared with.
var packages = map[string]bool{"io": true, "http": true, "ed25519": true, "token": true, "sha256": true, "pgx": true}

// plain are constants, nil, numbers and lengths.
func plain(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return e.Name == "nil" || e.Name == "true" || e.Name == "false" || literal(e)
	case *ast.SelectorExpr: // a constant or an error of a package
		pkg, ok := e.X.(*ast.Ident)
		return ok && pkg.Obj == nil && packages[pkg.Name] && ast.IsExported(e.Sel.Name)
	case *ast.CallExpr:
		f, ok := e.Fun.(*ast.Ident)
		s, method := e.Fun.(*ast.SelectorExpr)
		return ok && (f.Name == "len" || f.Name == "cap") || method && (s.Sel.Name == "ConstantTimeCompare" || strings.HasSuffix(s.Sel.Name, "Len"))
	}
	return false
}

// secretive reports whether a name in the expression is that of a secret.
func secretive(e ast.Expr) bool {
	yes := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			yes = yes || confidential.MatchString(n.Name)
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "len" {
				return false
			}
		}
		return true
	})
	return yes
}

func TestSecretsAreComparedInConstantTime(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, pkg := range guarding {
		files, err := filepath.Glob(filepath.Join("../..", pkg, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files, pkg)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, name, nil, 0)
			require.NoError(t, err)
			for _, n := range compared(file) {
				is := pkg + "/" + filepath.Base(name) + ": " + textOf(t, name, fset, n)
				if settled[is] != "" {
					used[is] = true
					continue
				}
				t.Errorf("%s: compare it with crypto/subtle or hmac.Equal (%s)", is, fset.Position(n.Pos()))
			}
		}
	}
	require.Len(t, used, len(settled), "what was looked at is gone: take it out")
}

func textOf(t *testing.T, name string, fset *token.FileSet, n ast.Node) string {
	t.Helper()
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(content[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset])
}

// The rule finds what it is for, and lets pass what tells nothing.
func TestComparisonsThatTellAreFound(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]int{
		`secret == given`:                                      1,
		`string(h.signature) != sent`:                          1,
		`bytes.Equal(mac, sent)`:                               1,
		`s.Reveal() == sent`:                                   1,
		`strings.EqualFold(r.Header.Get("x"), digest)`:         1,
		`known[s.Reveal()] != 0`:                               1,
		`reflect.DeepEqual(a.password, b)`:                     1,
		`func() bool { switch token { case a: }; return x }()`: 1,
		`secret == ""`:                                         0,
		`len(signature) != 64`:                                 0,
		`subtle.ConstantTimeCompare(secret, sent) == 1`:        0,
		`hmac.Equal(mac, sent)`:                                0,
		`state == other`:                                       0,
		`strings.HasPrefix(secret, "whsec_")`:                  0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", fmt.Sprintf("package p\nvar _ = %s\n", code), 0)
		require.NoError(t, err, code)
		require.Len(t, compared(file), want, code)
	}
}
