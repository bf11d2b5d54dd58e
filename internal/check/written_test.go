package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

// read checks one definition and returns its errors as "line:col code message".
func read(src string) (*model.Machine, []string) {
	var problems diag.List
	m := check.Run(syntax.Parse("d.yaml", []byte(src), &problems), &problems)
	var found []string
	for _, p := range problems.Sorted() {
		if p.Severity == diag.Error {
			found = append(found, fmt.Sprintf("%d:%d %s %s", p.Pos.Line, p.Pos.Col, p.Code, p.Message))
		}
	}
	return m, found
}

// door has the name of a state at 3:3 and 9:12, and of an event at 6:3 and 8:13.
func door(state, event string) string {
	return "machine: door\nstates:\n  " + state + ": {initial: true}\n  SHUT: {final: true}\nevents:\n  " + event + ": {}\ntransitions:\n" +
		"  - {event: " + event + ",\n     from: " + state + ", to: SHUT}\n"
}

func TestNamesThatYAMLTurnsIntoSomethingElseAreRefusedWhereverTheyStand(t *testing.T) {
	t.Parallel()
	for _, name := range strings.Fields(`y Y yes Yes YES n N no No NO on On ON off Off OFF true True TRUE false False FALSE null Null NULL ~ =
		0 -0 1 +1 -1 010 08 0o10 0x1F 0b11 1_000 1__0 1.5 1. .5 1e3 12:30 12:30:45 190:20:30.15
		.inf -.INF +.Inf .nan .NaN 2020-01-01 2020-1-1 2001-12-14t21:59:43.10-05:00`) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			says := " FSM024 YAML may read " + name + " as something else than text; quote it: '" + name + "'"
			m, found := read(door(name, "shut"))
			require.Nil(t, m)
			require.Contains(t, found, "3:3"+says)
			m, found = read(door("OPEN", name))
			require.Nil(t, m)
			require.Contains(t, found, "6:3"+says)
			if name == "~" || strings.EqualFold(name, "null") {
				return // as a value that is nothing, which is refused as such
			}
			_, found = read(door(name, "shut"))
			require.Contains(t, found, "9:12"+says)
			_, found = read(door("OPEN", name))
			require.Contains(t, found, "8:13"+says)
			m, found = read("machine: " + name + "\nstates: {OPEN: {initial: true}}\n")
			require.Nil(t, m)
			require.Contains(t, found, "1:10"+says)
		})
	}
}

func TestQuotedNamesAreWhatTheySay(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"y", "NO", "no", "on", "off", "null", "010", "1_000", "12:30:45", "2020-01-01", "1.5"} {
		for _, quote := range []string{"'", `"`} {
			m, found := read(door(quote+name+quote, quote+name+quote))
			require.Empty(t, found, name)
			require.Equal(t, name, m.States[0].Name)
			require.Equal(t, name, m.Events[0].Name)
		}
	}
}

func TestNamesThatOnlyLookOddAreText(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"yES", "nULL", "tRUE", "None", "nil", "NaN", "inf", "0x", "0o8", "12:60", "1e+", "a:b", "?a", "-a", "v1", "待支付"} {
		m, found := read(door(name, "shut"))
		require.Empty(t, found, name)
		require.Equal(t, name, m.States[0].Name)
	}
}

func TestMistakesInWritingAreShownWhereTheyAre(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"the key on", "machine: door\non: {}\nstates:\n  OPEN: {initial: true}\n",
			[]string{`2:1 FSM020 a definition has no key "on"; it has machine, describe, owner, tags, table, create, states, guards, events, transitions, maps, waive`}},
		{"a state twice", "machine: door\nstates:\n  OPEN: {initial: true}\n  SHUT: {}\n  OPEN: {final: true}\n",
			[]string{`5:3 FSM008 key "OPEN" is repeated; it is first at line 3`}},
		{"an event twice, once in quotes", "machine: door\nstates:\n  OPEN: {initial: true}\nevents:\n  shut: {}\n  'shut': {}\n",
			[]string{`6:3 FSM008 key "shut" is repeated; it is first at line 5`}},
		{"a section twice", "machine: door\nstates:\n  OPEN: {initial: true}\nstates:\n  SHUT: {}\n",
			[]string{`4:1 FSM008 key "states" is repeated; it is first at line 2`}},
		{"a key twice in brackets", "machine: door\nstates: {OPEN: {initial: true, initial: false}}\n",
			[]string{`2:32 FSM008 key "initial" is repeated; it is first at line 2`}},
		{"an anchor that does not exist", "machine: door\nstates:\n  OPEN: {initial: true, label: *nope}\n",
			[]string{`3:32 FSM009 the alias *nope is not allowed; write the value out, or quote text that begins with "*"`}},
		{"a star that is meant as text", "machine: door\nstates: {OPEN: {initial: true}}\nevents: {shut: {otherwise: {reject: *}}}\n",
			[]string{`3:37 FSM001 text that begins with "*" must be quoted, as in '*'`}},
		{"a key misspelt deep inside a state", "machine: door\nstates:\n  OPEN:\n    initial: true\n    deadline:\n      aftr: 30m\n      event: shut\nevents: {shut: {}}\ntransitions: [{event: shut, from: OPEN, to: OPEN}]\n",
			[]string{`6:7 FSM020 "deadline" has no key "aftr"; did you mean "after"?`, `6:7 FSM022 the deadline does not say after what time; write after: 30m`}},
		{"a key of another language deep inside a state", "machine: door\nstates:\n  OPEN:\n    initial: true\n    deadline: {after: 30m, event: shut,\n      targt: SHUT}\nevents: {shut: {}}\ntransitions: [{event: shut, from: OPEN, to: OPEN}]\n",
			[]string{`6:7 FSM020 "deadline" has no key "targt"; it has after, event, max`}},
		{"a target misspelt", "machine: door\nstates:\n  OPEN: {initial: true}\n  SHUT: {}\nevents: {shut: {}}\ntransitions:\n  - event: shut\n    from: OPEN\n    to: SHTU\n",
			[]string{`9:9 FSM012 state "SHTU" is not declared; did you mean "SHUT"?`}},
		{"a mistake in SQL of several lines", "machine: door\ntable: {name: doors, key: {column: door_id, type: uuid}, columns: {seen: bigint}}\nstates:\n  OPEN: {initial: true}\n  SHUT: {final: true}\nevents: {shut: {}}\ntransitions:\n  - event: shut\n    from: OPEN\n    to: SHUT\n    guard:\n      sql: |\n        seen > 1\n        and sen < 5\n",
			[]string{`14:13 FSM012 column "sen" is not declared; did you mean "seen"?`}},
		{"a mistake in folded SQL with windows line ends", "machine: door\r\ntable: {name: doors, key: {column: door_id, type: uuid}, columns: {seen: bigint}}\r\nstates:\r\n  OPEN: {initial: true}\r\n  SHUT: {final: true}\r\nevents: {shut: {}}\r\ntransitions:\r\n  - event: shut\r\n    from: OPEN\r\n    to: SHUT\r\n    guard: {sql: 'seen > 1\r\n        and  sen < 5'}\r\n",
			[]string{`12:14 FSM012 column "sen" is not declared; did you mean "seen"?`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, found := read(c.src)
			require.Equal(t, c.want, found)
		})
	}
}
