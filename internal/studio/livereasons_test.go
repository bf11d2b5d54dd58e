package studio

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// texts are the literals of a folder's source: all of them, and those that are the reason of
// an event or a kind of refusal.
func texts(t *testing.T, folder string) (all, reasons, kinds map[string]bool) {
	t.Helper()
	all, reasons, kinds = map[string]bool{}, map[string]bool{}, map[string]bool{}
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), name, source, 0)
		require.NoError(t, err)
		note := func(to map[string]bool, n ast.Expr) {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text, err := strconv.Unquote(literal.Value)
				require.NoError(t, err)
				if to[text] = true; text == "" {
					delete(to, text)
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				note(all, n)
			case *ast.CallExpr: // i.failed(…, "reason")
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "failed" {
					note(reasons, n.Args[len(n.Args)-1])
				}
			case *ast.ReturnStmt: // return Dead, VerdictDead, "reason"
				if len(n.Results) == 3 {
					if verdict, ok := n.Results[1].(*ast.Ident); ok && strings.HasPrefix(verdict.Name, "Verdict") {
						note(reasons, n.Results[2])
					}
				}
			case *ast.ValueSpec: // reasons = []string{…}, errX = errors.New("reason")
				if name := n.Names[0].Name; name == "reasons" {
					for _, e := range n.Values[0].(*ast.CompositeLit).Elts {
						note(kinds, e)
					}
				} else if name == "errVersion" || name == "errPanic" {
					note(reasons, n.Values[0].(*ast.CallExpr).Args[0])
				}
			}
			return true
		})
	}
	return all, reasons, kinds
}

// The words are those that the inbox and the runtime write: none that they do not, and all
// that the inbox gives for a reason.
func TestReasonsAreThoseOfTheInbox(t *testing.T) {
	t.Parallel()
	all, reasons, kinds := texts(t, "../../fsm/inbox")
	runtime, _, _ := texts(t, "../../fsm")
	for _, known := range slices.Sorted(maps.Keys(reasonsZH)) {
		require.True(t, all[known] || runtime[known], known)
	}
	require.Greater(t, len(reasons), 5)
	for _, written := range slices.Sorted(maps.Keys(reasons)) {
		require.Contains(t, reasonsZH, written)
	}
	require.Equal(t, slices.Sorted(maps.Keys(kinds)), slices.Sorted(maps.Keys(refusalsZH)))
}

func TestReasonsInChinese(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"no guard of the machine was true": "状态机没有条件成立", "order pay: no such row": "order pay：没有这一行",
		"": "", "the card was lost": "", "order pay: the card was lost": "", "a long text: no such row": "", "no such row: for a while": "",
	} {
		require.Equal(t, want, reasonText(reason, "zh"), reason)
		require.Empty(t, reasonText(reason, "en"), "as it is")
	}
	require.Equal(t, "签名（signature）", refusalText("signature", "zh"))
	require.Equal(t, "signature", refusalText("signature", "en"))
	require.Equal(t, "anything", refusalText("anything", "zh"))
}
