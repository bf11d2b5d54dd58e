package syntax

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
)

// FuzzParse looks for bytes that panic, that are refused without a word, whose
// positions lie outside the text, or that are not read the same way twice.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"machine: order\nstates:\n  PAID: {final: true}\n", "a: &x [*x, !!str y]\n<<: *x\n", "k: |2-\n   a\n\n  b\n",
		"k: >+\n  a\n   b\n\n  c\n", "k: \"a\\u0041\\\n  b\\x42\"\n", "k: 'it''s\n\n b'\n", "? [a]\n: b\n", "%YAML 1.2\n---\n",
		"{{{{{{a", "\xff\xfe", "\uFEFFa: b", "a: b\r\nc: |\r\n d\r\n", "- - - -\n", "a\n---\nb", "'\\", "# c\n\n#d\na: #e\n  b\n#f",
		"a: 1\n...\nb: 2\n", "a: {\n\tb: c\n}\n", "- a: \"\\N\\L\\P\"\n", "a\x00:\x00", "\"a  \t b\\\n  c\": d\n", "{{}: [], ? a : b, 'c':d}",
	} {
		f.Add([]byte(seed))
	}
	definitions, err := filepath.Glob("../check/testdata/*/*.yaml")
	require.NoError(f, err)
	require.NotEmpty(f, definitions)
	for _, path := range definitions {
		src, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		var list diag.List
		root := Parse("d.yaml", src, &list)
		if root == nil {
			require.NotZero(t, list.Errors(), "refused without a problem")
		}
		var again diag.List
		require.Equal(t, outline(root), outline(Parse("d.yaml", bytes.Clone(src), &again)))
		require.Equal(t, list.Sorted(), again.Sorted())
		s := newSource("d.yaml", src)
		inside := func(pos diag.Position) {
			require.Equal(t, "d.yaml", pos.File)
			require.LessOrEqual(t, pos.Line, len(s.lines))
			if pos.Line > 0 && utf8.Valid(src) {
				require.LessOrEqual(t, pos.Col, utf8.RuneCount(s.line(pos.Line-1))+2)
				require.Positive(t, pos.Col)
			}
		}
		for _, p := range list.Sorted() {
			inside(p.Pos)
			require.NotEmpty(t, p.Message)
		}
		walk(root, func(scalar *Scalar) {
			inside(scalar.Pos)
			previous := scalar.PosAt(0)
			for at := range min(len(scalar.Text), 64) {
				pos := scalar.PosAt(at)
				inside(pos)
				require.False(t, pos.Line < previous.Line || pos.Line == previous.Line && pos.Col < previous.Col, "positions go back")
				previous = pos
			}
		})
	})
}

// outline lists every scalar of a tree with its place.
func outline(root *Node) []string {
	var out []string
	walk(root, func(s *Scalar) {
		out = append(out, fmt.Sprint(s.Pos, s.Quoted, s.Ambiguous, " ", s.Text))
	})
	return out
}

func walk(n *Node, visit func(*Scalar)) {
	if s := n.AsScalar(); s != nil {
		visit(s)
	}
	if seq := n.AsSequence(); seq != nil {
		for _, item := range seq.Items {
			walk(item, visit)
		}
	}
	if m := n.AsMapping(); m != nil {
		for _, entry := range m.Entries {
			visit(entry.Key)
			walk(entry.Value, visit)
		}
	}
}
