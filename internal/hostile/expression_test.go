package hostile

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pawl-go/pawl/internal/sqlexpr"
)

// canon writes a tree so that an expression of a definition and what became of it in
// a statement are one text: parameters and the clock by name, columns without the
// table that they are read from, no places.
type canon struct {
	strings.Builder
	params map[int32]string
}

func canonical(m protoreflect.Message, params map[int32]string) string {
	c := canon{params: params}
	c.node(m)
	return c.String()
}

func (c *canon) node(m protoreflect.Message) {
	if text := c.named(m.Interface()); text != "" {
		c.WriteString(text)
		return
	}
	c.WriteString(string(m.Descriptor().Name()) + "(")
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if !m.Has(f) || placed(f) {
			continue
		}
		c.WriteString(string(f.Name()) + ":")
		if !f.IsList() {
			c.single(f, m.Get(f))
			continue
		}
		for i := range m.Get(f).List().Len() {
			c.single(f, m.Get(f).List().Get(i))
		}
	}
	c.WriteString(")")
}

func (c *canon) single(f protoreflect.FieldDescriptor, v protoreflect.Value) {
	switch f.Kind() {
	case protoreflect.MessageKind:
		c.node(v.Message())
	case protoreflect.StringKind:
		c.WriteString(strconv.Quote(v.String()))
	default:
		fmt.Fprint(c, v.Interface(), " ")
	}
}

// named is the text of a parameter, a column or the clock; empty for another node.
func (c *canon) named(n any) string {
	switch n := n.(type) {
	case *pg.Node:
		if e := n.GetAExpr(); e != nil { // what renderers make of an only parameter
			if cast := e.GetRexpr().GetTypeCast(); e.GetLexpr() == nil && len(e.GetName()) == 1 && e.GetName()[0].GetString_().GetSval() == "@" && cast != nil {
				return "@" + column(cast.GetArg().GetColumnRef())
			}
		}
		return c.unwrapped(n)
	case *pg.ColumnRef:
		return "column " + column(n)
	}
	return ""
}

func (c *canon) unwrapped(n *pg.Node) string {
	if cast := n.GetTypeCast(); cast != nil {
		if f := cast.GetArg().GetFuncCall(); strings.HasPrefix(function(f), "sqlc.") {
			return "@" + f.GetArgs()[0].GetAConst().GetSval().GetSval()
		}
	}
	if all := n.GetCoalesceExpr().GetArgs(); len(all) > 0 {
		switch first := c.unwrapped(all[0]); {
		case first == "@fsm_now":
			return "now"
		case len(all) == 1 && strings.HasPrefix(first, "@"):
			return first
		}
	}
	switch {
	case n.GetParamRef() != nil && c.params != nil:
		return "@" + c.params[n.GetParamRef().GetNumber()]
	case function(n.GetFuncCall()) == "now":
		return "now"
	case strings.HasPrefix(column(n.GetColumnRef()), "fsm_arg_"):
		return "@" + strings.TrimPrefix(column(n.GetColumnRef()), "fsm_arg_")
	}
	return ""
}

func column(c *pg.ColumnRef) string {
	if len(c.GetFields()) == 0 {
		return ""
	}
	return c.GetFields()[len(c.GetFields())-1].GetString_().GetSval()
}

func function(f *pg.FuncCall) string {
	var names []string
	for _, n := range f.GetFuncname() {
		names = append(names, n.GetString_().GetSval())
	}
	return strings.Join(names, ".")
}

// slot is a place for an expression, and where it must be found.
type slot struct {
	path string
	// queries are those that have it, and table says that the migration does.
	queries []string
	table   bool
}

var slots = []slot{
	{"guards named sql", []string{"SlotShut :one", "SlotShutBatch :many"}, false},
	{"transitions set done", []string{"SlotShut :one", "SlotShutBatch :many"}, false},
	{"events shut params word check", []string{"SlotShut :one", "SlotShutBatch :many"}, false},
	{"table columns ok check", nil, true},
	{"table columns ok default", []string{"SlotCreate :one"}, true},
}

// holdExpression puts an expression into a slot. What is accepted is found again as
// it is wherever the slot's statements have it.
func holdExpression(t testing.TB, d definition, s slot, sql string) (accepted bool) {
	t.Helper()
	at := slices.IndexFunc(d.places, func(p place) bool { return !p.key && strings.Join(p.path, " ") == s.path })
	require.GreaterOrEqual(t, at, 0, s.path)
	is := judge(t, d.mutated(t, change{at, instead, sql}))
	if is == nil {
		return false
	}
	was := base(t, d)
	require.Equal(t, kinds(was.migration), kinds(is.migration))
	require.Equal(t, kinds(was.queries), kinds(is.queries))

	node, params, err := sqlexpr.Tree(sql)
	require.NoError(t, err)
	want := canonical(node.ProtoReflect(), params)
	names := expectedQueries(is.machine)
	for _, q := range s.queries {
		at := slices.Index(names, q)
		require.GreaterOrEqual(t, at, 0, q)
		require.Contains(t, canonical(is.queries[at].tree.ProtoReflect(), nil), want, q)
	}
	if s.table {
		require.Contains(t, canonical(is.migration[0].tree.ProtoReflect(), nil), want, "%s", is.rendered.migration)
	}
	return true
}

func slotted(t testing.TB) definition {
	t.Helper()
	all, err := read("testdata/slots/*.yaml")
	require.NoError(t, err)
	require.Len(t, all, 1)
	return all[0]
}

// parameterised are expressions of all that a slot can read.
var parameterised = []string{
	"cents + @amount > 0", "note = @word", "@word || note <> 'x  y'", "$$a  b$$ = @word", "coalesce(@day, at::date) IS NOT NULL", "at > now() - interval '1 day'", "note IN ('a', @word)",
	"doc ->> 'a;b' = '--'", "doc['k'] = '1'", "@amount = ANY (ARRAY[cents, 1])", "note LIKE '%/*%'", "note\n=\n'/*'", "doc\n#>> '{a}' = 'x'", "cents\n# @amount\n= 5 AND note = 'x'", "cents\r# @amount = 5 AND note = 'x'", "@word", "ok", "NOT ok", "ok AND done", "ok IS NOT TRUE", "cents BETWEEN @amount AND 7",
	"CASE WHEN ok THEN done ELSE @amount > 1 END", "@amount::text = note", "@word::varchar(3) = 'abc'", `note COLLATE "C" > @word COLLATE "C"`, "date_trunc('day', now()) = at", "extract(epoch from at) > 1", "trim(both ' ' from note) <> ''",
	"E'a\\'b' = note", "U&'d\\0061t' = note", "N'x' = note", "B'1' = B'1'", "X'1F' = B'1'", "'a' 'b' = note", "'it''s' <> note", "1_0 = 1", "(1 = 1)", "((ok))", "- cents < 0", "note = 'a' AND NOT ok OR done", "note = '\u2028'", "note = '\u00a0 x'", "note\u00a0= 'x'",
}

// FuzzExpression puts SQL into every place that an expression has.
func FuzzExpression(f *testing.F) {
	d := slotted(f)
	for i, sql := range some(slices.Concat(expressions, parameterised)) {
		f.Add(uint8(i), sql)
	}
	// The parser is made ready on its first use, which would pass for a hang.
	base(f, d)
	f.Fuzz(func(t *testing.T, which uint8, sql string) {
		if sql = strings.ToValidUTF8(sql, "?"); len(sql) <= 1<<10 {
			holdExpression(t, d, slots[int(which)%len(slots)], sql)
		}
	})
}

// Every expression in a slot, or with -every in all of them.
func TestExpressionsStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	d := slotted(t)
	accepted := make([]int, len(slots))
	for i, sql := range slices.Concat(expressions, parameterised) {
		for n, s := range slots {
			if (*every || i%len(slots) == n) && holdExpression(t, d, s, sql) {
				accepted[n]++
			}
		}
	}
	for n, s := range slots {
		require.Greater(t, accepted[n], 4, s.path)
	}
}

// every has each text tried in every place, which takes minutes.
var every = flag.Bool("every", false, "try every text in every place")

// some are all where they are to begin with, and else a few, which any test run has
// the time for.
func some(all []string) []string {
	if fuzzing := flag.Lookup("test.fuzz"); *every || fuzzing != nil && fuzzing.Value.String() != "" {
		return all
	}
	var kept []string
	for i := 0; i < len(all); i += 6 {
		kept = append(kept, all[i])
	}
	return kept
}
