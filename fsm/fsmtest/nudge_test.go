package fsmtest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsAroundAValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of    near
		value string
		want  []string
	}{
		{near{Column: Column{Type: "bigint"}}, "7", []string{"(7) - 1", "(7) + 1"}},
		{near{Column: Column{Type: "numeric(12,2)", Optional: true}}, "7.50", []string{"NULL", "(7.50) - 1", "(7.50) + 1"}},
		{near{Column: Column{Type: "integer", Default: "0", Value: "5"}}, "", []string{"(0) - 1", "(0) + 1"}},
		{near{Column: Column{Type: "text", Optional: true, Value: "'x'"}}, "", []string{"'x'", "left(('x')::text, -1)", "('x')::text || 'x'"}},
		{near{into: 1, Column: Column{Type: "date", Value: "'2020-01-02'"}}, "", []string{"('2020-01-02')::date - 1", "('2020-01-02')::date + 1"}},
		{near{Column: Column{Type: "boolean"}}, "true", []string{"NOT (true)"}},
	} {
		require.Equal(t, c.want, around(c.of, c.value), "%+v", c)
	}
}

func TestGuardsAreReadForTheirColumns(t *testing.T) {
	t.Parallel()
	e := &engine{m: &Machine{Columns: []Column{{Name: "paid"}, {Name: "paid_at"}, {Name: "order"}}}}
	event := &Event{Params: []Column{{Name: "paid"}, {Name: "by"}}, Transitions: []Transition{
		{From: []string{"A"}, Guard: `o."order" < p.paid`}, {From: []string{"B"}, Guard: "o.paid_at < c.now"},
	}}
	var names []string
	for _, n := range e.read(event, "A") {
		names = append(names, n.name)
	}
	require.Equal(t, []string{"order", "paid"}, names)
	require.Empty(t, e.read(event, "C"))
}
