package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
)

// found renders problems as "line:col code", which is what the tables compare.
func found(list *diag.List) []string {
	var out []string
	for _, p := range list.Sorted() {
		out = append(out, fmt.Sprintf("%d:%d %s", p.Pos.Line, p.Pos.Col, p.Code))
	}
	return out
}

func parse(t *testing.T, src string) (*Node, *diag.List) {
	t.Helper()
	var list diag.List
	return Parse("d.yaml", []byte(src), &list), &list
}

func TestParseKeepsOrderTextAndPositions(t *testing.T) {
	t.Parallel()
	root, list := parse(t, "# c\nmachine: order\n状态:\n  PAID: {label: \"已 付\", 'x': no}\nlist:\n  - 010\n  - [a]\nnothing:\n")
	require.Empty(t, list.Sorted())
	pos := func(line, col int) diag.Position { return diag.Position{File: "d.yaml", Line: line, Col: col} }

	m := root.AsMapping()
	require.Equal(t, []string{"machine", "状态", "list", "nothing"}, m.Keys())
	require.Equal(t, pos(2, 1), m.Entries[0].Key.Pos)
	require.Equal(t, "order", m.Get("machine").AsScalar().Text)
	require.Equal(t, pos(2, 10), m.Get("machine").Pos)

	paid := m.Get("状态").AsMapping().Get("PAID")
	require.Equal(t, KindMapping, paid.Kind)
	require.Equal(t, pos(4, 9), paid.Pos)
	label, ok := paid.AsMapping().Entry("label")
	require.True(t, ok)
	require.Equal(t, pos(4, 10), label.Key.Pos)
	require.Equal(t, pos(4, 17), label.Value.Pos)
	require.Equal(t, "已 付", label.Value.AsScalar().Text)
	require.True(t, label.Value.AsScalar().Quoted)
	// Characters, not bytes: the label's two Chinese characters count once each.
	x, _ := paid.AsMapping().Entry("x")
	require.Equal(t, pos(4, 24), x.Key.Pos)
	require.True(t, x.Key.Quoted)
	require.True(t, x.Value.AsScalar().Ambiguous)

	items := m.Get("list").AsSequence().Items
	require.Len(t, items, 2)
	require.Equal(t, "010", items[0].AsScalar().Text)
	require.Equal(t, pos(6, 5), items[0].Pos)
	require.Equal(t, KindSequence, items[1].Kind)

	require.True(t, m.Get("nothing").IsNull())
	require.Equal(t, pos(8, 9), m.Get("nothing").Pos)
	require.Nil(t, m.Get("absent"))
}

func TestParseProblems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, src string
		want      []string
		usable    bool
	}{
		{"duplicate key", "a: 1\nb:\n  c: 1\n  d: 2\n  \"c\": 3\na: 2\n", []string{"5:3 FSM008", "6:1 FSM008"}, true},
		{"duplicate in flow", "{a: 1, a: 2}", []string{"1:8 FSM008"}, true},
		{"alias and anchor", "a: &x 1\nb: *x\n", []string{"1:4 FSM010", "2:4 FSM009"}, true},
		{"alias without anchor", "a: *x\n", []string{"1:4 FSM009"}, false},
		{"alias as key", "a: &x 1\n*x : 2\n", []string{"1:4 FSM010", "2:1 FSM009"}, true},
		{"anchor on key", "&k a: 1\n", []string{"1:1 FSM010"}, true},
		{"anchor on mapping", "a: &m\n  b: 1\n", []string{"1:4 FSM010"}, true},
		{"tags", "a: !!str 1\nb: !x 2\nc: ! 3\nd: !!map {}\n", []string{"1:4 FSM011", "2:4 FSM011", "3:4 FSM011", "4:4 FSM011"}, true},
		{"tag on key", "!!str a: 1\n", []string{"1:1 FSM011"}, true},
		{"merge key", "a: 1\n<<: {b: 2}\n", []string{"2:1 FSM013"}, true},
		{"quoted merge key is a name", "'<<': 1\n", nil, true},
		{"second document", "a: 1\n---\nb: 2\n", []string{"2:1 FSM014"}, true},
		{"second document is broken", "a: 1\n---\nb: [\n", []string{"4:1 FSM001"}, false},
		{"document marks alone", "---\na: 1\n...\n", nil, true},
		{"list as key", "? [a, b]\n: 1\nc: 2\n", []string{"1:3 FSM015"}, true},
		{"mapping as key", "{{a: 1}: 2}", []string{"1:2 FSM015"}, true},
		{"empty key", ": 1\n", []string{"1:1 FSM016"}, true},
		{"empty file", "", []string{"0:0 FSM002"}, false},
		{"comments only", "# nothing\n\n", []string{"0:0 FSM002"}, false},
		{"document mark only", "---\n", []string{"0:0 FSM002"}, false},
		{"byte order mark", "\uFEFFa: b\n", []string{"1:1 FSM006"}, true},
		{"byte order mark inside", "a: b\uFEFF\n", []string{"1:5 FSM007"}, false},
		{"utf-16 little", "\xff\xfea\x00", []string{"1:1 FSM005"}, false},
		{"utf-16 big", "\xfe\xff\x00a", []string{"1:1 FSM005"}, false},
		{"invalid utf-8", "待: \xff\nb: \xc3(\n", []string{"1:4 FSM005", "2:4 FSM005"}, false},
		{"nul", "a: b\x00c\n", []string{"1:5 FSM007"}, false},
		{"escape character in a comment", "# \x1b[2J\na: 1\n", []string{"1:3 FSM007"}, false},
		{"delete and c1", "a: \x7f\u009b\n", []string{"1:4 FSM007", "1:5 FSM007"}, false},
		{"next line", "a: b\u0085c\n", []string{"1:5 FSM007"}, false},
		{"line separator", "a: b\u2028c\n", []string{"1:5 FSM007"}, false},
		{"text direction", "a: \u202eb\n", []string{"1:4 FSM007"}, false},
		{"lone carriage return", "a: b\rc: d\n", []string{"1:5 FSM007"}, false},
		{"windows line ends", "a: b\r\nc:\r\n  d: e\r\n", nil, true},
		{"escaped nul", "a: \"bc\\0\"\n", []string{"1:7 FSM007"}, true},
		{"escaped control", "a: \"x\\e[2J\"\n", []string{"1:6 FSM007"}, true},
		{"escaped line and tab", "a: \"x\\n\\ty\"\n", nil, true},
		{"directive", "%YAML 1.2\n---\na: 1\n", []string{"1:1 FSM017"}, false},
		{"tag directives", "%TAG !a! b\n%TAG !b! c\n---\na: 1\n", []string{"1:1 FSM017", "2:1 FSM017"}, false},
		{"line too long", "a: " + strings.Repeat("x", maxLineBytes), []string{"1:1 FSM003"}, false},
		{"line just fits", "a: " + strings.Repeat("x", maxLineBytes-3), nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, list := parse(t, c.src)
			require.Equal(t, c.want, found(list))
			require.Equal(t, c.usable, root != nil)
			require.Equal(t, len(c.want), list.Errors())
		})
	}
}

func TestSyntaxErrorsAreReworded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ src, at, words string }{
		{"a: 1\n  b: 2\n", "2:4", `a ":" cannot stand here`},
		{"a: b: c\n", "1:5", `a ":" cannot stand here`},
		{"a: [1\nb: 2\n", "2:2", `a "," or "]" is missing in a list (begun at line 1)`},
		{"{a: 1]", "1:6", `a "," or "}" is missing in a mapping`},
		{"a: 'x\n", "2:1", "this quoted text is never closed (begun at line 1)"},
		{"a: \"\\q\"\n", "1:5", "must begin a known escape"},
		{"- a\nb: 1\n", "2:1", "not part of the list"},
		{"a: 1\n- b\n", "2:1", "not part of the mapping that it stands in; check the indentation (begun at line 1)"},
		{"\ta: 1\n", "1:1", "a tab is used as indentation"},
		{"a:\n\tb: 1\n", "2:1", "a tab is used as indentation"},
		{"a: |x\n b\n", "1:5", `may follow "|"`},
		{"]", "1:1", "a value is missing here"},
		{"\"a\":1", "1:4", "after the end of the definition"},
		{"a: [x #y\n,#z\n]", "2:2", `a comment needs a space`},
	} {
		t.Run(c.src, func(t *testing.T) {
			t.Parallel()
			root, list := parse(t, c.src)
			require.Nil(t, root)
			require.Equal(t, 1, list.Len())
			p := list.Sorted()[0]
			require.Equal(t, CodeSyntax, p.Code)
			require.Equal(t, c.at, fmt.Sprintf("%d:%d", p.Pos.Line, p.Pos.Col), p.Message)
			require.Contains(t, p.Message, c.words)
			require.NotContains(t, p.Message, "yaml load error")
		})
	}
}

func TestMessagesNameWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	_, list := parse(t, "\n\na: 1\nb: 2\na: 3\n")
	require.Equal(t, `key "a" is repeated; it is first at line 3`, list.Sorted()[0].Message)

	long := strings.Repeat("待", 200)
	_, list = parse(t, long+": 1\n"+long+": 2\n")
	require.Contains(t, list.Sorted()[0].Message, strings.Repeat("待", 60)+"…")
	require.NotContains(t, list.Sorted()[0].Message, strings.Repeat("待", 61))
}

func TestAProblemInAValueKeepsItsKey(t *testing.T) {
	t.Parallel()
	root, _ := parse(t, "a: &x 1\nb: *x\n")
	require.Equal(t, []string{"a", "b"}, root.AsMapping().Keys())
	require.True(t, root.AsMapping().Get("b").IsNull())
}

func TestAValueMissingAtTheEndIsInTheText(t *testing.T) {
	t.Parallel()
	root, list := parse(t, "? ab")
	require.Empty(t, list.Sorted())
	require.Equal(t, diag.Position{File: "d.yaml", Line: 1, Col: 5}, root.AsMapping().Get("ab").Pos)
}

func TestManyProblemsAreCut(t *testing.T) {
	t.Parallel()
	for _, src := range []string{strings.Repeat("a: 1\n", 50_000), strings.Repeat("\x01\n", 50_000), strings.Repeat("\x01", 10_000)} {
		_, list := parse(t, src)
		require.Equal(t, maxProblems+1, list.Len())
		require.Equal(t, CodeTooMany, list.Sorted()[0].Code)
	}
}

// Who forgets the quotes around a parameter is told of each, and of what else
// is wrong too; the value is read as it was meant.
func TestAValueThatBeginsWithAnAtSignIsReadAllTheSame(t *testing.T) {
	t.Parallel()
	var problems diag.List
	root := Parse("d.yaml", []byte("待支付: @x\nset: {a: @paid_cents + 1, b: `c`}\na: 1\na: 2\n"), &problems)
	require.Equal(t, []string{
		"d.yaml:1:6 FSM001 a value cannot begin with @; quote it: '@x'",
		"d.yaml:2:10 FSM001 a value cannot begin with @; quote it: '@paid_cents'",
		"d.yaml:2:30 FSM001 a value cannot begin with `; quote it: '`c`'",
		`d.yaml:4:1 FSM008 key "a" is repeated; it is first at line 3`,
	}, listed(&problems))
	require.Equal(t, "@x", root.Mapping.Get("待支付").Scalar.Text)
	require.Equal(t, "@paid_cents + 1", root.Mapping.Get("set").Mapping.Get("a").Scalar.Text)
	require.Equal(t, "`c`", root.Mapping.Get("set").Mapping.Get("b").Scalar.Text)

	// Each costs a reading of the whole, so only so many are gone past.
	problems = diag.List{}
	require.Nil(t, Parse("d.yaml", []byte("a: ["+strings.Repeat("@x, ", 50)+"]"), &problems))
	require.Len(t, problems.Sorted(), maxStandIns+1)
}

func listed(problems *diag.List) []string {
	var lines []string
	for _, p := range problems.Sorted() {
		lines = append(lines, fmt.Sprintf("%s %s %s", p.Pos, p.Code, p.Message))
	}
	return lines
}
