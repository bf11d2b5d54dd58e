package jsonschema_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/jsonschema"
	"github.com/pawl-go/pawl/internal/syntax"
)

// schema compiles the schema of the blocks with a validator that is not ours.
func schema(t testing.TB, blocks []check.Block) *validator.Schema {
	t.Helper()
	text, err := jsonschema.Definition(blocks, check.Rules())
	require.NoError(t, err)
	doc, err := validator.UnmarshalJSON(strings.NewReader(string(text)))
	require.NoError(t, err)
	c := validator.NewCompiler()
	require.NoError(t, c.AddResource("definition.schema.json", doc))
	s, err := c.Compile("definition.schema.json")
	require.NoError(t, err)
	return s
}

// read is a YAML text as an editor hands it to its validator.
func read(t testing.TB, text []byte) any {
	t.Helper()
	var value any
	require.NoError(t, yaml.Unmarshal(text, &value))
	return viaJSON(t, value)
}

func viaJSON(t testing.TB, value any) any {
	t.Helper()
	text, err := json.Marshal(named(value))
	require.NoError(t, err)
	value, err = validator.UnmarshalJSON(strings.NewReader(string(text)))
	require.NoError(t, err)
	return value
}

// named makes texts of all keys: JSON has no others.
func named(value any) any {
	switch v := value.(type) {
	case map[any]any:
		m := map[string]any{}
		for key, inner := range v {
			m[fmt.Sprint(key)] = named(inner)
		}
		return m
	case map[string]any:
		for key, inner := range v {
			v[key] = named(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = named(inner)
		}
	}
	return value
}

// lint returns the checker's problems with a text.
func lint(text []byte) []diag.Problem {
	problems := &diag.List{}
	check.Run(syntax.Parse("x.yaml", text, problems), problems)
	return problems.Sorted()
}

func file(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return text
}
