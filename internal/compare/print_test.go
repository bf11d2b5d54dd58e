package compare_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/compare"
)

func report(t *testing.T, name string) *compare.Report {
	t.Helper()
	return compare.Machines(folder(t, "testdata/"+name+"/old"), folder(t, "testdata/"+name+"/new"))
}

func text(t *testing.T, r *compare.Report) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, r.Text(&b))
	require.NoError(t, r.Summary(&b))
	return b.String()
}

func TestText(t *testing.T) {
	t.Parallel()
	require.Equal(t, `order
  breaking  major  state PACKED is removed (was order.yaml:12)
    ! old programs  they still bring rows there, which the database takes until --advance and the
                    new programs do not know (FSM092)
    ! rows          any that stand in PACKED could not be read or moved; count them with --database
      callers       StatePacked is gone
  breaking  major  event pack is removed; it moves PAID to PACKED (was order.yaml:25)
      old programs  they still fire it, and the database takes its moves until --advance
    ! callers       EventPack and the call Pack are gone
  safe      minor  ship in PAID: was: refused; is: moves to SHIPPED (order.yaml:29)
      old programs  they decide as before until they are stopped
      callers       calls that were refused move the row now

--advance is fsmgen generate --advance, which is for when no old program runs any more.
2 breaking, 1 safe change: major
`, text(t, report(t, "state-removed")))
	require.Equal(t, "no change\n", text(t, report(t, "same-in-another-layout")))
	require.Contains(t, text(t, report(t, "table-existing")), "\n1 safe change: patch\n")
	require.Contains(t, text(t, report(t, "table-name")), "\n1 breaking change: major\n")
	require.Contains(t, text(t, report(t, "state-code")), "\n2 breaking changes: major\n")
}

// Machines are apart, in the order of their files.
func TestTextGroupsByMachine(t *testing.T) {
	t.Parallel()
	got := text(t, report(t, "machine-renamed"))
	require.Less(t, strings.Index(got, "order\n  breaking"), strings.Index(got, "\n\npurchase\n  safe"))
}

func TestTextFitsATerminal(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"state-removed", "column-check", "transition-order", "transition-added-behind", "emit-changed", "machine-renamed"} {
		for line := range strings.Lines(text(t, report(t, name))) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 100, "%s: %s", name, line)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	r := report(t, "state-removed-after-retirement")
	require.Len(t, r.Uncounted(), 1)
	r.Uncounted()[0].Count(3)
	var b strings.Builder
	require.NoError(t, r.JSON(&b))
	require.JSONEq(t, `{"verdict": "major", "breaking": 1, "safe": 0, "changes": [{
		"machine": "order", "kind": "state.removed", "path": "states.PACKED", "text": "state PACKED is removed", "safe": false, "semver": "major",
		"reasons": [
			{"side": "rows", "breaks": true, "text": "3 stand in PACKED and could not be read or moved; move them first"},
			{"side": "callers", "breaks": false, "text": "StatePacked is gone"}],
		"old": {"file": "order.yaml", "line": 12, "col": 3},
		"rows": {"table": "orders", "state": "PACKED", "count": 3}}]}`, b.String())
	b.Reset()
	require.NoError(t, report(t, "same-in-another-layout").JSON(&b))
	require.JSONEq(t, `{"verdict": "none", "breaking": 0, "safe": 0, "changes": []}`, b.String())
}

// A place is never broken, so that it can be found and copied.
func TestAPlaceStaysWhole(t *testing.T) {
	t.Parallel()
	r := report(t, "state-removed")
	r.Changes[0].Old.File = "main:" + strings.Repeat("x", 60)
	require.Contains(t, text(t, r), "state PACKED is removed\n"+strings.Repeat(" ", 19)+"(was main:xxx")
}

// Whatever the terminal would obey is written as an escape.
func TestTextIsHarmless(t *testing.T) {
	t.Parallel()
	r := report(t, "table-existing")
	r.Changes[0].Text = "a\x1b[2Jb\u202ec"
	require.Contains(t, text(t, r), `a\u001b[2Jb\u202ec`)
}

type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestTheWritersErrorIsReturned(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, (&compare.Report{}).Text(full{}), errFull)
	require.ErrorIs(t, (&compare.Report{}).Summary(full{}), errFull)
	require.ErrorIs(t, (&compare.Report{}).JSON(full{}), errFull)
}

func TestJSONEndsInANewline(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, (&compare.Report{}).JSON(&b))
	require.True(t, json.Valid([]byte(b.String())) && strings.HasSuffix(b.String(), "}\n"))
}
