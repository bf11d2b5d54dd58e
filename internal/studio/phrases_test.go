package studio

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pair is a phrase in both languages, and where it is written.
type pair struct{ at, en, zh string }

// spoken are the folders whose phrases people read here.
var spoken = []string{"studio", "simulate", "gendocs", "gensvg", "wording"}

// inTemplates finds what t and plural translate.
var inTemplates = regexp.MustCompile(`\b(?:t|plural \S+ "[^"]*"|plural \([^)]*\) "[^"]*") ("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*")`)

// phrases are all that is written in two languages.
func phrases(t *testing.T) (all []pair) {
	t.Helper()
	add := func(at, en, zh string) {
		one, err := strconv.Unquote(en)
		require.NoError(t, err, at)
		other, err := strconv.Unquote(zh)
		require.NoError(t, err, at)
		all = append(all, pair{at, one, other})
	}
	for _, folder := range spoken {
		dir := os.DirFS(path.Join("..", folder))
		err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && name == "testdata" {
				return passed(err)
			}
			at := folder + "/" + name
			switch {
			case path.Ext(name) == ".html":
				text, err := fs.ReadFile(dir, name)
				if err != nil {
					return err
				}
				for _, m := range inTemplates.FindAllStringSubmatch(string(text), -1) {
					add(at, m[1], m[2])
				}
			case path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go"):
				text, err := fs.ReadFile(dir, name)
				if err != nil {
					return err
				}
				file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
				if err != nil {
					return err
				}
				ast.Inspect(file, func(n ast.Node) bool {
					if en, zh := translated(n); en != nil && zh != nil {
						add(at, en.Value, zh.Value)
					}
					return true
				})
			}
			return nil
		})
		require.NoError(t, err)
	}
	return all
}

// passed is the error, or that a folder is passed over.
func passed(err error) error {
	if err != nil {
		return err
	}
	return fs.SkipDir
}

// translated are the literals of a Phrase; nil for any other node.
func translated(n ast.Node) (en, zh *ast.BasicLit) {
	literal, ok := n.(*ast.CompositeLit)
	if !ok || len(literal.Elts) != 2 {
		return nil, nil
	}
	for i, e := range literal.Elts {
		name := []string{"EN", "ZH"}[i]
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			key, ok := pair.Key.(*ast.Ident)
			if !ok || key.Name != name {
				return nil, nil
			}
			e = pair.Value
		}
		text, ok := e.(*ast.BasicLit)
		if !ok || text.Kind != token.STRING {
			return nil, nil
		}
		if i == 0 {
			en = text
		} else {
			zh = text
		}
	}
	if !regexp.MustCompile(`\p{Han}`).MatchString(zh.Value) && !strings.HasPrefix(zh.Value, en.Value) {
		return nil, nil // a literal of something else
	}
	return en, zh
}

// verb finds what a phrase is filled in with.
var verb = regexp.MustCompile(`%(?:\[(\d+)\])?([a-z])`)

// verbs are those of a phrase by the argument that they take.
func verbs(text string) []string {
	var all []string
	next := 0
	for _, m := range verb.FindAllStringSubmatch(text, -1) {
		next++
		if m[1] != "" {
			next, _ = strconv.Atoi(m[1])
		}
		all = append(all, strconv.Itoa(next)+m[2])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// latin finds marks of Latin script beside Chinese, and doubled finds two that end one
// sentence.
var (
	latin   = regexp.MustCompile(`[\p{Han}，。；：！？、（）“”][.,;:!?]|[.,;:!?][\p{Han}]`)
	doubled = regexp.MustCompile(`[.。,，;；:：!！?？]\s?[.。,，;；:：!！?？]|…[.。]`)
)

// Both languages are filled in with the same, end alike, and have their own marks.
func TestPhrasesAgree(t *testing.T) {
	t.Parallel()
	all := phrases(t)
	require.Greater(t, len(all), 800)
	for _, p := range all {
		require.Equal(t, verbs(p.en), verbs(p.zh), "%s: %q and %q take the same", p.at, p.en, p.zh)
		require.NotRegexp(t, latin, p.zh, p.at)
		require.NotRegexp(t, doubled, p.en, p.at)
		require.NotRegexp(t, doubled, p.zh, p.at)
		if p.en != "" {
			require.Equal(t, strings.HasSuffix(strings.TrimSpace(p.en), "."), strings.HasSuffix(p.zh, "。"), "%s: %q and %q end alike", p.at, p.en, p.zh)
		}
	}
}

// between finds a mark of Latin script in a template beside what is filled in: a Chinese
// page would have it, too. behind finds a plural behind any number.
var (
	between = regexp.MustCompile(`\}\}\s*(?:<[^>{]*>\s*)*[.,;:!?()]+(?:[\s<{]|$)`)
	behind  = regexp.MustCompile(`\{\{[^{}]*\}\}(?:</b>)? \{\{t "(?:tries|[a-z]+s)" "`)
	// apart finds a space beside a Chinese mark, which has its own.
	apart = regexp.MustCompile(`[：；，]"\}\}(?:</b>)? [^\s]| (?:<[^>]*>)?\{\{t "[^"]*" "[（：；，]`)
	// choice is the one of a sign.
	choice = regexp.MustCompile(`"untold"\}\}\?\{\{else`)
	// verbal are words in s that are none of several things.
	verbal = regexp.MustCompile(`\{\{t "(?:writes|needs|is|was|has|waits|leads|overdue)" "`)
)

func TestTemplatesHaveNoMarksOfOneLanguage(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"studio", "gendocs"} {
		dir := os.DirFS(path.Join("..", folder, "assets"))
		names, err := fs.Glob(dir, "*.html")
		require.NoError(t, err)
		require.NotEmpty(t, names)
		for _, name := range names {
			text, err := fs.ReadFile(dir, name)
			require.NoError(t, err)
			for i, line := range strings.Split(string(text), "\n") {
				line = choice.ReplaceAllString(line, "")
				require.Empty(t, between.FindString(line), "%s/%s:%d", folder, name, i+1)
				require.Empty(t, apart.FindString(line), "%s/%s:%d", folder, name, i+1)
				for _, found := range behind.FindAllString(line, -1) {
					if verbal.MatchString(found) || strings.Contains(found, "{{if ") || strings.Contains(found, "{{else") || strings.Contains(found, "{{end}}") {
						continue
					}
					t.Errorf("%s/%s:%d has %s: use plural", folder, name, i+1, found)
				}
			}
		}
	}
}
