package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAmbiguous(t *testing.T) {
	t.Parallel()
	// From the type pages of YAML 1.1 and the core schema of YAML 1.2.
	for _, text := range strings.Fields(`no NO No n N y Y yes YES on On OFF off true True TRUE false null Null NULL ~
		1 -1 +7 010 0o17 0b1010 0B1 0x1F 1_000 1.5 1. .5 -.5 1e3 1.5E-3 685.230_15e+03 190:20:30 20:30.15
		.inf -.INF .nan .NaN 2020-01-01 2020-1-1 2001-12-14t21:59:43.10-05:00 2001-12-15T02:59:43Z << =`) {
		require.True(t, ambiguous(text), text)
	}
	require.True(t, ambiguous(""))
	require.True(t, ambiguous("2001-12-14 21:59:43.10 -5"))
	for _, text := range strings.Fields(`PAID nope yess 30m 10d 1.2.3 v1 1a 待支付 now() @x a=b 2020-01 -- . .. - + e3 _1 0x 1:99 nULL tRUE Infinity`) {
		require.False(t, ambiguous(text), text)
	}
	require.False(t, ambiguous(strings.Repeat("1", 100_000)+"x"))
}

func TestQuotedIsNeverAmbiguous(t *testing.T) {
	t.Parallel()
	root, list := parse(t, "- no\n- 'no'\n- \"no\"\n- |-\n  no\n- >-\n  no\n-\n")
	require.Empty(t, list.Sorted())
	var ambiguities, quotes []bool
	for _, item := range root.AsSequence().Items {
		ambiguities = append(ambiguities, item.AsScalar().Ambiguous)
		quotes = append(quotes, item.AsScalar().Quoted)
	}
	require.Equal(t, []bool{true, false, false, false, false, true}, ambiguities)
	require.Equal(t, []bool{false, true, true, true, true, false}, quotes)
}

func TestEntriesAreFoundInMappingsOfEverySize(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	for n := range 3 * manyEntries {
		fmt.Fprintf(&src, "k%d: %d\n", n, n)
		root, list := parse(t, src.String()+"k0: again\n")
		require.Equal(t, []string{fmt.Sprintf("%d:1 FSM008", n+2)}, found(list))
		m := root.AsMapping()
		require.Len(t, m.Entries, n+1)
		for i := range n + 1 {
			entry, ok := m.Entry(fmt.Sprint("k", i))
			require.True(t, ok)
			require.Equal(t, fmt.Sprint(i), entry.Value.AsScalar().Text)
		}
		_, ok := m.Entry(fmt.Sprint("k", n+1))
		require.False(t, ok)
		require.Nil(t, m.Get("k"))
	}
}

func TestScalarReaders(t *testing.T) {
	t.Parallel()
	root, _ := parse(t, "t: true\nf: false\nq: 'true'\nyes: yes\ni: 20\nneg: -3\noct: 010\nbig: 99999999999\nnull1: ~\nnull2: null\nqnull: 'null'\n")
	scalar := func(key string) *Scalar { return root.AsMapping().Get(key).AsScalar() }
	for key, want := range map[string][2]bool{"t": {true, true}, "f": {false, true}, "q": {}, "yes": {}, "i": {}} {
		value, ok := scalar(key).Bool()
		require.Equal(t, want, [2]bool{value, ok}, key)
	}
	for key, want := range map[string]int{"i": 20, "neg": -3} {
		value, ok := scalar(key).Int()
		require.True(t, ok, key)
		require.Equal(t, want, value, key)
	}
	for _, key := range []string{"oct", "big", "t", "q"} {
		_, ok := scalar(key).Int()
		require.False(t, ok, key)
	}
	require.True(t, scalar("null1").IsNull())
	require.True(t, scalar("null2").IsNull())
	require.False(t, scalar("qnull").IsNull())
	require.False(t, scalar("i").IsNull())
}

func TestNilReaders(t *testing.T) {
	t.Parallel()
	var n *Node
	require.Nil(t, n.AsScalar())
	require.Nil(t, n.AsSequence())
	require.Nil(t, n.AsMapping())
	require.True(t, n.IsNull())
	require.Nil(t, n.AsMapping().Get("a"))
	require.Nil(t, n.AsMapping().Keys())
	require.Zero(t, n.AsScalar().PosAt(3))
	_, ok := n.AsScalar().Bool()
	require.False(t, ok)
	_, ok = n.AsScalar().Int()
	require.False(t, ok)
	require.Equal(t, "nothing", Kind(0).String())
	require.Equal(t, "a list", KindSequence.String())
}

func TestRulesAreComplete(t *testing.T) {
	t.Parallel()
	var codes []string
	for _, rule := range Rules() {
		codes = append(codes, string(rule.Code))
		require.NotEmpty(t, rule.Short)
		require.NotEmpty(t, rule.Cause)
		require.NotEmpty(t, rule.Fix)
	}
	require.Equal(t, strings.Fields("FSM001 FSM002 FSM003 FSM004 FSM005 FSM006 FSM007 FSM008 FSM009 FSM010 FSM011 FSM013 FSM014 FSM015 FSM016 FSM017 FSM018"), codes)
}
