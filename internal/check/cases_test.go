package check_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

// What people reported of other tools as passing unseen, tried on this one.
// Each definition is written as one would write it; want has every problem
// there is, as "line:col CODE" with a piece of its words.
func TestMistakesThatOthersLetPass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		behaviour, definition string
		want                  []string
	}{
		{"two edges of one event and state with different targets are refused", `
machine: m
states: {OPEN: {initial: true}, PAID: {final: true}, LOST: {final: true}}
events: {pay: {}}
transitions:
  - {event: pay, from: OPEN, to: PAID}
  - {event: pay, from: OPEN, to: LOST}`,
			[]string{`6:24 FSM032 never taken from "OPEN": the one at line 5`}},
		{"two edges of one event with the same guard are refused", `
machine: m
table: {name: t, key: {column: id, type: uuid}, columns: {due: bigint}}
states: {OPEN: {initial: true}, PAID: {final: true}, LOST: {final: true}}
guards: {enough: {sql: due > 0}}
events: {pay: {}}
transitions:
  - {event: pay, from: OPEN, to: PAID, guard: enough}
  - {event: pay, from: OPEN, to: LOST, guard: enough}`,
			[]string{`8:47 FSM033 the same guard before this one`}},
		{"a second declaration of an event does not overwrite the first", `
machine: m
states: {OPEN: {initial: true}, PAID: {final: true}}
events:
  pay: {describe: the first}
  pay: {describe: the second}
transitions:
  - {event: pay, from: OPEN, to: PAID}`,
			[]string{`5:3 FSM008 key "pay" is repeated; it is first at line 4`}},
		{"a second declaration of a state does not overwrite the first", `
machine: m
states:
  OPEN: {initial: true}
  PAID: {final: true}
  PAID: {}
events: {pay: {}}
transitions:
  - {event: pay, from: OPEN, to: PAID}`,
			[]string{`5:3 FSM008 key "PAID" is repeated; it is first at line 4`}},
		{"a misspelt target is no new state", `
machine: m
states: {OPEN: {initial: true}, PAID: {final: true}}
events: {pay: {}}
transitions:
  - {event: pay, from: OPEN, to: PIAD}`,
			[]string{`5:34 FSM012 state "PIAD" is not declared; did you mean "PAID"?`}},
		{"a misspelt key deep inside a transition is told", `
machine: m
states: {OPEN: {initial: true}, PAID: {final: true}}
events: {pay: {}}
transitions:
  - {event: pay, from: OPEN, to: PAID, gaurd: enough}`,
			[]string{`5:40 FSM020 did you mean "guard"?`}},
		{"a start that is no state is told, and so is having none", `
machine: m
states: {OPEN: {}, PAID: {final: true}}
events: {pay: {}}
transitions:
  - {event: pay, from: OPEN, to: PAID}`,
			[]string{`2:1 FSM030 no state is initial`}},
		{"a state that nothing reaches is told", `
machine: m
states: {OPEN: {initial: true}, PAID: {final: true}, LOST: {final: true}}
events: {pay: {}}
transitions:
  - {event: pay, from: OPEN, to: PAID}`,
			[]string{`2:54 FSM034 no row ever reaches state "LOST"`}},
		{"a state that is no end and cannot be left is told", `
machine: m
states: {OPEN: {initial: true}, HELD: {}, PAID: {final: true}}
events: {pay: {}, hold: {}}
transitions:
  - {event: pay, from: OPEN, to: PAID}
  - {event: hold, from: OPEN, to: HELD}`,
			[]string{`2:33 FSM035 no transition leaves state "HELD"`}},
		{"a callback whose cells are not all decided is refused", `
machine: m
states: {OPEN: {initial: true, resting: true}, PAID: {final: true}, VOID: {final: true}}
events: {paid: {source: callback, params: {nr: text}, identity: nr, otherwise: {ignore: VOID}}, void: {}}
transitions:
  - {event: paid, from: OPEN, to: PAID}
  - {event: void, from: OPEN, to: VOID}`,
			[]string{`3:10 FSM037 not decided in "PAID"`}},
		{"an event back to the same state is legal, and safe to repeat only with an identity", `
machine: m
states: {OPEN: {initial: true, resting: true}}
events: {poke: {}, refund: {params: {nr: text}, identity: nr}}
transitions:
  - {event: refund, from: OPEN, to: OPEN}
  - {event: poke, from: OPEN, to: OPEN}`,
			[]string{`6:35 FSM046 event "poke" leads to "OPEN" and moves the row again from there`}},
		{"a guard that sums other rows is refused", `
machine: m
table: {name: t, key: {column: id, type: uuid}, columns: {paid: bigint}}
states: {OPEN: {initial: true}, DONE: {final: true}}
events: {refund: {params: {sum: bigint}}}
transitions:
  - {event: refund, from: OPEN, to: DONE, guard: {sql: (SELECT sum(r.sum) FROM refunds AS r) + @sum <= paid}}`,
			[]string{`6:56 FSM053`}},
		{"a cancellation that leaves every state has to say so state by state", `
machine: m
states: {OPEN: {initial: true}, PAID: {final: true}}
events: {pay: {}, cancel: {}}
transitions:
  - {event: pay, from: OPEN, to: PAID}
  - {event: cancel, from: '*', to: PAID}`,
			[]string{`6:27 FSM012 '*' stands for the rest of the states in otherwise alone`}},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			t.Parallel()
			found := told(c.definition)
			require.Len(t, found, len(c.want), "%q", found)
			for i, want := range c.want {
				place, words, _ := strings.Cut(want, " ")
				code, words, _ := strings.Cut(words, " ")
				require.True(t, strings.HasPrefix(found[i], place+" "+code+" "), found[i])
				require.Contains(t, found[i], words)
			}
		})
	}
}

// told checks one definition and returns what is wrong with it, warnings too.
func told(definition string) []string {
	var problems diag.List
	check.Run(syntax.Parse("m.yaml", []byte(strings.TrimPrefix(definition, "\n")), &problems), &problems)
	var found []string
	for _, p := range problems.Sorted() {
		_, place, _ := strings.Cut(p.Pos.String(), ":")
		found = append(found, place+" "+string(p.Code)+" "+p.Message)
	}
	return found
}

// A cell says what the event does in the state, whatever was left out: an
// exception for one event or machine cannot spread to others.
func TestEveryCellIsDecided(t *testing.T) {
	t.Parallel()
	machines, problems := run(t, "testdata/sample/order.yaml")
	require.Empty(t, text(t, problems))
	for _, e := range machines[0].Events {
		require.Len(t, e.Cells, len(machines[0].States))
		for i, c := range e.Cells {
			require.Same(t, machines[0].States[i], c.State)
			if e.Callback && !c.Closed() {
				require.NotEqual(t, model.GuardFailed, c.Otherwise, "a refused callback leaves no trace: %s in %s", e.Name, c.State.Name)
			}
		}
	}
	cancel := machines[0].Event("cancel")
	for _, state := range []string{"PAID", "SHIPPED", "COMPLETED", "REFUNDING", "REFUNDED"} {
		cell := cancel.Cells[machines[0].State(state).Index]
		require.False(t, cell.Moves(), state)
		require.Equal(t, model.Reject, cell.Otherwise, state)
	}
}
