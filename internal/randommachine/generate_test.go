package randommachine_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/pipeline"
	"github.com/pawl-go/pawl/internal/randommachine"
)

var (
	generated     = flag.Int("generated", 3, "how many random machines go through all of fsmgen generate")
	generatedSeed = flag.Int("generated-seed", 1, "the first of their seeds")
)

// What fsmgen generate writes, by way of sqlc, is what the other tests run: the same
// migrations and queries, and each statement with the same parameters in the same
// places.
func TestFsmgenGenerateWritesTheSame(t *testing.T) {
	t.Parallel()
	generator := rapid.Custom(randommachine.Definition)
	for tried, seed := 0, *generatedSeed; tried < *generated; seed++ {
		b, err := build(generator.Example(seed))
		if err != nil {
			continue
		}
		tried++
		var problems diag.List
		set, err := pipeline.Generate(t.Context(), b.project(), &problems)
		require.NoError(t, err, b.text)
		require.NotNil(t, set, "seed %d: lint accepts what generate refuses: %v\n%s", seed, problems.Sorted(), b.text)
		for i, want := range b.migrations[1:] {
			content, ok := set.Get("migrations/0000" + strconv.Itoa(i+2) + "_" + b.m.Name + ".sql")
			require.True(t, ok)
			require.Equal(t, want, string(content))
		}
		content, ok := set.Get("queries/" + b.m.Name + ".sql")
		require.True(t, ok)
		queries, err := queriesOf(string(content))
		require.NoError(t, err)
		require.Equal(t, b.queries, queries)
		source, ok := set.Get("gen/db/" + b.m.Name + ".sql.go")
		require.True(t, ok)
		run := constants(t, source)
		for name, q := range queries {
			same(t, name, body(q.sql), body(run[name]))
		}
		require.Contains(t, queries, gensql.QueryName(b.m, "Create"))
	}
}

// constants are the statements in a file of sqlc's, by name.
func constants(t *testing.T, source []byte) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", source, 0)
	require.NoError(t, err)
	out := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		lit, is := n.(*ast.BasicLit)
		if !is || lit.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		require.NoError(t, err)
		if name := named.FindStringSubmatch(text); name != nil {
			out[name[1]] = text
		}
		return true
	})
	return out
}

var (
	comment = regexp.MustCompile(`(?m)^--.*\n`)
	place   = regexp.MustCompile(`\$[0-9]+`)
)

// body is a statement without the comments above it.
func body(sql string) string { return strings.TrimSpace(comment.ReplaceAllString(sql, "")) }

// same asks that two statements differ in the numbers of their parameters alone.
func same(t *testing.T, name, ours, sqlcs string) {
	t.Helper()
	require.Equal(t, place.ReplaceAllString(ours, "$$"), place.ReplaceAllString(sqlcs, "$$"), name)
	is, from := map[string]string{}, map[string]string{}
	theirs := place.FindAllString(sqlcs, -1)
	for i, our := range place.FindAllString(ours, -1) {
		if _, seen := is[our]; !seen {
			is[our] = theirs[i]
		}
		if _, seen := from[theirs[i]]; !seen {
			from[theirs[i]] = our
		}
		require.Equal(t, []string{theirs[i], our}, []string{is[our], from[theirs[i]]}, "%s: place %d", name, i+1)
	}
}
