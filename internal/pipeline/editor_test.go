package pipeline_test

import (
	"context"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// The first line of a definition leads to the schema that generation writes.
func TestFirstLinesLeadToTheSchema(t *testing.T) {
	t.Parallel()
	set, err := pipeline.Scaffold(fstest.MapFS{})
	require.NoError(t, err)
	first, ok := set.Get("definitions/article.yaml")
	require.True(t, ok)
	texts := map[string]string{"definitions/article.yaml": string(first)}
	for _, name := range []string{"order", "payment", "refund"} {
		text, err := os.ReadFile("../../definitions/" + name + ".yaml")
		require.NoError(t, err)
		texts["definitions/"+name+".yaml"] = string(text)
	}
	for name, text := range texts {
		line, _, _ := strings.Cut(text, "\n")
		to, found := strings.CutPrefix(line, "# yaml-language-server: $schema=")
		require.True(t, found, name)
		require.Equal(t, "gen/definition.schema.json", path.Join(path.Dir(name), to))
	}
}

// Generation writes the very schema that the command prints.
func TestGenerateWritesTheSchema(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"go.mod":                {Data: []byte("module example.com/x\n")},
		"definitions/lamp.yaml": {Data: []byte("machine: lamp\nstates: {DARK: {initial: true, final: true}}\n")},
	}
	var problems diag.List
	set, err := pipeline.Generate(context.Background(), files, &problems)
	require.NoError(t, err)
	require.Empty(t, problems.Sorted())
	have, ok := set.Get("gen/definition.schema.json")
	require.True(t, ok)
	want, err := pipeline.Schema()
	require.NoError(t, err)
	require.Equal(t, string(want), string(have))
}
