package hostile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

// definition is a definition that is mutated, and the places of its texts.
type definition struct {
	name   string
	source []byte
	places []place
}

// place is a text of a definition, a key or a value.
type place struct {
	path []string // keys that lead there, and its own text where it is a key
	text string
	key  bool
}

// kind is what a text is, as far as the tests treat texts differently.
type kind int

const (
	other   kind = iota
	prose        // for people alone: no statement has it
	name         // of a state or an event
	sqlText      // an expression
)

func (p place) kind() kind {
	last := p.path[len(p.path)-1]
	parent := ""
	if len(p.path) > 1 {
		parent = p.path[len(p.path)-2]
	}
	switch {
	case p.key && (parent == "states" || parent == "events"):
		return name
	case p.key:
		return other
	case last == "describe" || last == "keep" || last == "owner", parent == "label", parent == "waive":
		return prose
	case last == "sql" || last == "check" || last == "default" || parent == "set":
		return sqlText
	}
	return other
}

// definitions are those of this repository and of the tests that are about what a
// definition may say.
var definitions = sync.OnceValues(func() ([]definition, error) {
	return read("testdata/*.yaml", "../../definitions/*.yaml", "../check/testdata/lifecycles/*.yaml", "../gensuite/testdata/hostile.yaml")
})

// read reads the definitions of files, in order of the patterns.
func read(patterns ...string) ([]definition, error) {
	var all []definition
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			source, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			var root yaml.Node
			if err := yaml.Unmarshal(source, &root); err != nil {
				return nil, err
			}
			d := definition{name: filepath.Base(path), source: source}
			visit(&root, nil, false, func(n *yaml.Node, path []string, key bool) {
				d.places = append(d.places, place{path: slices.Clone(path), text: n.Value, key: key})
			})
			all = append(all, d)
		}
	}
	return all, nil
}

// visit calls see for every scalar, keys before their values.
func visit(n *yaml.Node, path []string, key bool, see func(*yaml.Node, []string, bool)) {
	switch n.Kind {
	case yaml.ScalarNode:
		if key || len(path) > 0 {
			see(n, path, key)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			inner := append(path, n.Content[i].Value)
			visit(n.Content[i], inner, true, see)
			visit(n.Content[i+1], inner, false, see)
		}
	default:
		for _, item := range n.Content {
			visit(item, path, false, see)
		}
	}
}

// way is how a text takes the place of another.
type way int

const (
	instead  way = iota // of the text
	behind              // it
	before              // it
	everyone            // instead of every equal text of the definition
	ways
)

// change is one text of a definition that becomes another.
type change struct {
	place int
	way   way
	text  string
}

// mutated is the definition with the changes, and whether they changed names
// wherever they stand. All other texts stay as they are.
func (d definition) mutated(t testing.TB, changes ...change) []byte {
	t.Helper()
	var root yaml.Node
	require.NoError(t, yaml.Unmarshal(d.source, &root))
	for _, c := range changes {
		at := 0
		visit(&root, nil, false, func(n *yaml.Node, _ []string, _ bool) {
			was := d.places[c.place].text
			if at++; at-1 == c.place || c.way == everyone && n.Value == was {
				n.SetString(c.way.of(was, c.text))
				n.Style = yaml.DoubleQuotedStyle
			}
		})
	}
	out, err := yaml.Marshal(&root)
	require.NoError(t, err)
	return out
}

func (w way) of(was, text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	switch w {
	case behind:
		return was + text
	case before:
		return text + was
	}
	return text
}
