package gensql_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// coded is the door with its states kept as codes.
var coded = strings.NewReplacer("columns:\n    colour", "status: {type: smallint}\n  columns:\n    colour", "OPEN: {initial: true}", "OPEN: {initial: true, code: 10}",
	"SHUT: {}", "SHUT: {code: 20}", "GONE: {final: true}", "GONE: {final: true, code: 30}").Replace(door)

// A row with the code of a state that went must not be read as the new state
// that took the code.
func TestACodeIsNotGivenToAnotherState(t *testing.T) {
	t.Parallel()
	const taken = `door.yaml:12:29: FSM090 error the code 30 stands for "GONE" in the rows there are, so they would be read as "LOST": give the new state another code; if it is the same state, say was: GONE` + "\n"
	lost := strings.ReplaceAll(coded, "GONE", "LOST")
	other := strings.Replace(lost, "code: 30", "code: 40", 1)

	files := fstest.MapFS{}
	land(t, files, coded)
	content, problems := next(t, files, lost)
	require.Nil(t, content, "it was declared until now")
	require.Contains(t, told(problems), taken)

	added := strings.NewReplacer("  LOST: {final: true, code: 40}", "  LOST: {final: true, code: 40}\n  SOLD: {final: true, code: 30}",
		"transitions:", "transitions:\n  - {event: knock, from: OPEN, to: SOLD}").Replace(other)
	land(t, files, other)
	content, problems = next(t, files, added)
	require.Nil(t, content, "it is pending")
	require.Equal(t, strings.NewReplacer(`12:29`, `13:29`, `"LOST"`, `"SOLD"`).Replace(taken), told(problems))
	_, problems = next(t, files, strings.Replace(coded, "code: 30", "code: 50", 1))
	require.Contains(t, told(problems), `door.yaml:12:29: FSM090 error the code of "GONE" was 30 before, and rows may still have it; give it that one again`)

	advance(t, files, other)
	land(t, files, added) // its rows are gone, the database has seen to it
	s := standing(t, files)
	s.up(4)
	s.may(insert(1, "10"), move(1, "30"))

	renamed := fstest.MapFS{}
	land(t, renamed, coded)
	require.Empty(t, land(t, renamed, strings.Replace(lost, "final: true, code", "final: true, was: GONE, code", 1)), "the same state")
}
