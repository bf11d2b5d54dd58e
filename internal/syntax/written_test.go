package syntax

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// told renders problems as "line:col code message".
func told(t *testing.T, src string) (root *Node, out []string) {
	t.Helper()
	root, list := parse(t, src)
	for _, p := range list.Sorted() {
		out = append(out, fmt.Sprintf("%d:%d %s %s", p.Pos.Line, p.Pos.Col, p.Code, p.Message))
	}
	return root, out
}

func TestBeginningsOfFiles(t *testing.T) {
	t.Parallel()
	const (
		bom      = "1:1 FSM006 this file begins with a byte order mark; save it as UTF-8 without one"
		wide     = "1:1 FSM005 this file is UTF-16; save it as UTF-8"
		nothing  = "0:0 FSM002 this file holds no definition"
		yamlLine = "1:1 FSM017 a line begins with %: YAML directives are not used here"
	)
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"a mark, and what follows it is read too", "\uFEFFa: 1\na: 2\n", []string{bom, `2:1 FSM008 key "a" is repeated; it is first at line 1`}},
		{"a mark alone", "\uFEFF", []string{nothing, bom}},
		{"two marks", "\uFEFF\uFEFFa: 1\n", []string{bom, "1:1 FSM007 the control character U+FEFF is not allowed; delete it"}},
		{"a mark in the middle", "a: 1\n\uFEFFb: 2\n", []string{"2:1 FSM007 the control character U+FEFF is not allowed; delete it"}},
		{"utf-16 with a mark, little", "\xff\xfea\x00", []string{wide}},
		{"utf-16 with a mark, big", "\xfe\xff\x00a", []string{wide}},
		{"utf-16 without a mark, little", "a\x00:\x00 \x001\x00", []string{wide}},
		{"utf-16 without a mark, big", "\x00a\x00:\x00 \x001", []string{wide}},
		{"nothing", "", []string{nothing}},
		{"line ends", "\n\r\n\n", []string{nothing}},
		{"tabs", "\t\t\n\t", []string{nothing}},
		{"comments", "# a\n  # b", []string{nothing}},
		{"three dashes", "---", []string{nothing}},
		{"three dashes and a comment", "--- # a\n", []string{nothing}},
		{"three dots", "...\n", []string{nothing}},
		{"a version", "%YAML 1.2\n---\na: 1\n", []string{yamlLine}},
		{"an unknown directive", "%FOO\n", []string{yamlLine}},
		{"three dashes and a definition", "--- # a\na: 1\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, found := told(t, c.src)
			require.Equal(t, c.want, found)
		})
	}
}

func TestEndsOfFiles(t *testing.T) {
	t.Parallel()
	second := func(at string) []string {
		return []string{at + " FSM014 a second document begins here; use one file a machine"}
	}
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"no line end", "a: 1", nil},
		{"no line end in a block", "a: |\n  x", nil},
		{"windows line ends", "a: 1\r\nb: |\r\n  x\r\n", nil},
		{"three dots", "a: 1\n...\n", nil},
		{"three dots and a comment", "a: 1\n... # b\n# c\n", nil},
		{"a document after three dots", "a: 1\n...\nb: 2\n", second("3:1")},
		{"a document after three dashes", "a: 1\n---\nb: 2\n", second("2:1")},
		{"an empty document", "a: 1\n---\n", second("2:1")},
		{"a document in a document", "a: 1\n---\n---\nb: 2\n", second("2:1")},
		{"a directive before a document", "a: 1\n---\n%YAML 1.1\n---\nb: 1\n", []string{"3:1 FSM017 a line begins with %: YAML directives are not used here"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, found := told(t, c.src)
			require.Equal(t, c.want, found)
		})
	}
}

func TestCharactersThatBreakNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ src, want string }{
		{"a\u0085b: 1\n", "1:2 FSM007 the control character U+0085 is not allowed; delete it"},
		{"待\u2028b: 1\n", "1:2 FSM007 the control character U+2028 is not allowed; delete it"},
		{"a: b\u2029\n", "1:5 FSM007 the control character U+2029 is not allowed; delete it"},
		{"x: {'a\u2028': 1}\n", "1:7 FSM007 the control character U+2028 is not allowed; delete it"},
		{`"a\Nb": 1`, "1:3 FSM007 the control character U+0085 is not allowed; remove the escape"},
		{`"a\Lb": 1`, "1:3 FSM007 the control character U+2028 is not allowed; remove the escape"},
		{`"a\Pb": 1`, "1:3 FSM007 the control character U+2029 is not allowed; remove the escape"},
		{`"a \uFEFF": 1`, "1:4 FSM007 the control character U+FEFF is not allowed; remove the escape"},
		{`"a\0": 1`, "1:3 FSM007 the control character U+0000 is not allowed; remove the escape"},
		{"a: 1\rb: 2\r", "1:5 FSM007 the control character U+000D is not allowed; delete it"},
		{"\xed\xa0\x80: 1\n", "1:1 FSM005 byte 0xed is not UTF-8; save the file as UTF-8"}, // half of a pair
		{"a: \xc0\x80\n", "1:4 FSM005 byte 0xc0 is not UTF-8; save the file as UTF-8"},     // NUL, the long way
		{`a: "\ud800"`, "1:7 FSM001 this escape names no character"},
	} {
		t.Run(c.src, func(t *testing.T) {
			t.Parallel()
			_, found := told(t, c.src)
			require.Equal(t, c.want, found[0])
		})
	}
}

func TestTabs(t *testing.T) {
	t.Parallel()
	const words = "a tab is used as indentation; use spaces"
	for _, c := range []struct {
		name, src, want string
	}{
		{"before the first key", "\ta: 1\n", "1:1 FSM001 " + words},
		{"before a key", "a:\n  b: 1\n\tc: 2\n", "3:1 FSM001 " + words},
		{"before an item", "a:\n - b\n\t- c\n", "3:1 FSM001 " + words},
		{"before a block of text", "a: |\n\tb\n", "2:1 FSM001 " + words},
		{"after a value", "a: b\t# c\nd: e\t\n", ""},
		{"after a colon and a dash", "a:\tb\nc:\n -\td\n", ""},
		{"in brackets", "a: {\n\tb: c\n}\n", ""},
		{"in quotes", "a: 'x\n\ty'\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, found := told(t, c.src)
			if c.want == "" {
				require.Empty(t, found)
				require.NotNil(t, root)
				return
			}
			require.Equal(t, []string{c.want}, found)
		})
	}
}

func TestTextThatYAMLTakesForAMark(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ src, want string }{
		{"a: *\n", `1:4 FSM001 text that begins with "*" must be quoted, as in '*'`},
		{"a: [b, *]\n", `1:8 FSM001 text that begins with "*" must be quoted, as in '*'`},
		{"待: & b\n", `1:4 FSM001 text that begins with "&" must be quoted`},
		{"a: !a!b%\n", `1:4 FSM001 text that begins with "!" must be quoted`},
		{"a:\n  - *nope\n", `2:5 FSM009 the alias *nope is not allowed; write the value out, or quote text that begins with "*"`},
		{"a: {b: *nope}\n", `1:8 FSM009 the alias *nope is not allowed; write the value out, or quote text that begins with "*"`},
		{"*nope : 1\n", `1:1 FSM009 the alias *nope is not allowed; write the value out, or quote text that begins with "*"`},
		{"a: 'b' or 'c'\n", "1:8 FSM001 this cannot follow what stands before it on the line; quote the whole text, or begin a new line"},
		{"z: 1\na: 'b' c\n", "2:8 FSM001 this cannot follow what stands before it on the line; quote the whole text, or begin a new line"},
		{"a:\n  b: \"c\" d\n", "2:10 FSM001 this cannot follow what stands before it on the line; quote the whole text, or begin a new line"},
	} {
		t.Run(c.src, func(t *testing.T) {
			t.Parallel()
			root, found := told(t, c.src)
			require.Nil(t, root)
			require.Equal(t, []string{c.want}, found)
		})
	}
}
