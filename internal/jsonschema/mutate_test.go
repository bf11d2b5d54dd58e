package jsonschema_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
)

// place is one key of one mapping of a definition.
type place struct {
	block check.Block
	key   check.Key
	in    map[string]any
	name  string
}

func (p place) String() string { return p.block.Name + "." + p.name }

func blockOf(name string) check.Block {
	blocks := check.Language()
	return blocks[slices.IndexFunc(blocks, func(b check.Block) bool { return b.Name == name })]
}

// places walks a definition as the language describes it.
func places(b check.Block, in any) []place {
	m, ok := in.(map[string]any)
	if !ok {
		return nil
	}
	var found []place
	for _, k := range b.Keys {
		for _, name := range sorted(m) {
			if k.Name != name && k.Name != "" {
				continue
			}
			found = append(found, place{b, k, m, name})
			if k.Of == "" {
				continue
			}
			inner := blockOf(k.Of)
			switch value := m[name].(type) {
			case map[string]any:
				if k.Shape != check.ShapeNamed {
					found = append(found, places(inner, value)...)
					continue
				}
				for _, each := range sorted(value) {
					found = append(found, places(inner, value[each])...)
				}
			case []any:
				for _, each := range value {
					found = append(found, places(inner, each)...)
				}
			}
		}
	}
	return found
}

func sorted(m map[string]any) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// shapeCodes are the problems of shape, which a schema is there to find too.
var shapeCodes = []diag.Code{check.CodeUnknownKey, check.CodeWrongKind, check.CodeMissing, check.CodeBadName, check.CodeType, check.CodeDuration}

// lax is what the checker refuses as a matter of shape and the schema lets
// pass: an optional key may be empty, and here it has to have something.
var lax = []string{"definition.table: null", "otherwise.compensate: null"}

// TestTheSchemaAgreesWithTheChecker changes every key of definitions that have
// them all, in many ways that go wrong, and asks both. The schema refuses
// nothing that the checker takes, and misses nothing that is a matter of shape.
func TestTheSchemaAgreesWithTheChecker(t *testing.T) {
	t.Parallel()
	s := schema(t, check.Language())
	asked := map[string]bool{}
	for _, name := range []string{"testdata/full.yaml", "testdata/enum.yaml"} {
		text := file(t, name)
		for at, p := range places(blockOf("definition"), read(t, text)) {
			key := p.block.Name + "." + p.key.Name
			if !asked[key] {
				asked[key] = true
				for way := range ways {
					whole := read(t, text)
					what := change(t, places(blockOf("definition"), whole)[at], ways[way])
					agree(t, s, whole, what)
				}
			}
		}
	}
	for _, b := range check.Language() {
		for _, k := range b.Keys {
			require.True(t, asked[b.Name+"."+k.Name], "testdata/full.yaml has no key %q of block %s; write it there", k.Name, b.Name)
		}
	}
}

// leftOut and misspelt are changes of a key, the others are values for it.
type (
	leftOut  struct{}
	misspelt struct{}
)

var ways = []any{leftOut{}, misspelt{}, nil, true, 7, "", "Not a name!", "text", []any{}, []any{[]any{"x"}}, []any{"same", "same"}, map[string]any{}, map[string]any{"Zzz!": "x"}}

// change changes the definition at the place, and says how.
func change(t *testing.T, p place, way any) string {
	t.Helper()
	before := p.in[p.name]
	delete(p.in, p.name)
	switch way.(type) {
	case leftOut:
		return p.String() + " left out"
	case misspelt:
		p.in[p.name+"x"] = before
		return p.String() + " misspelt"
	}
	p.in[p.name] = way
	value, err := json.Marshal(way)
	require.NoError(t, err)
	return fmt.Sprintf("%s: %s", p, value)
}

func agree(t *testing.T, s *validator.Schema, whole any, what string) {
	t.Helper()
	text, err := json.MarshalIndent(whole, "", " ")
	require.NoError(t, err)
	problems := lint(text)
	refused := s.Validate(viaJSON(t, whole))
	wrong := slices.ContainsFunc(problems, func(q diag.Problem) bool { return q.Severity == diag.Error })
	shape := slices.IndexFunc(problems, func(q diag.Problem) bool { return slices.Contains(shapeCodes, q.Code) })
	require.False(t, refused != nil && !wrong, "the schema refuses what is right: %s\n%v", what, refused)
	if refused == nil && shape >= 0 && !slices.Contains(lax, what) {
		t.Errorf("the schema lets pass %s: %s", what, problems[shape].Message)
	}
}
