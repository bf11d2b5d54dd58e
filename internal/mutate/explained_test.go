package mutate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An explanation covers what no test can notice and stops there: the changes
// below are of one line.
func TestExplainedAndNoMore(t *testing.T) {
	t.Parallel()
	const line = "  SET status = CASE l.fsm_cell WHEN 1 THEN 'PAID' WHEN 2 THEN 'SHIPPED' WHEN 3 THEN 'COMPLETED' WHEN 4 THEN 'REFUNDING' WHEN 5 THEN 'REFUNDED' ELSE l.status END,"
	source := func(name string) *Source {
		return &Source{Name: name, Line: 7, Text: "-- name: " + name + " :one\n" + line}
	}
	for _, c := range []struct {
		statement, operator, before, after string
		explained                          bool
	}{
		{"OrderRefundSucceeded", "when-drop", "WHEN 3 THEN 'COMPLETED'", "", true},
		{"OrderRefundSucceeded", "when-drop", "WHEN 4 THEN 'REFUNDING'", "", true},
		{"OrderRefund", "when-drop", "WHEN 4 THEN 'REFUNDING'", "", false}, // there it leads from other states
		{"OrderRefundSucceeded", "when-drop", "WHEN 5 THEN 'REFUNDED'", "", false},
		{"OrderRefundSucceeded", "number", "4", "3", true},
		{"OrderRefundSucceeded", "number", "3", "4", false},
		{"OrderRefund", "number", "4", "3", false},
		{"OrderRefundSucceeded", "else-drop", "ELSE l.status", "", true},
		{"OrderRefundSucceeded", "state-other", "'PAID'", "'SHIPPED'", false},
	} {
		m := &Mutant{Source: source(c.statement), Operator: c.operator, Line: 8, Column: 1 + strings.Index(line, c.before), Before: c.before, After: c.after}
		require.Equal(t, c.explained, Explained(m) >= 0, "%+v", c)
	}
}

// Of equal changes in one line only that one is explained of which it is true.
func TestExplainedByItsPlace(t *testing.T) {
	t.Parallel()
	const line = "   WHEN o.status = 'REFUNDING' AND (o.a + 1 <= o.refund_cents AND o.refunded_cents + 1 < o.paid_cents) IS TRUE THEN 4"
	for _, c := range []struct {
		place     string
		explained bool
	}{{"< o.paid_cents", true}, {"<= o.refund_cents", false}} {
		m := &Mutant{
			Source: &Source{Name: "OrderRefundSucceeded", Line: 7, Text: line}, Operator: "compare", Line: 7, Column: 1 + strings.Index(line, c.place),
			Before: "<", After: "<=",
		}
		require.Equal(t, c.explained, Explained(m) >= 0, c.place)
	}
}
