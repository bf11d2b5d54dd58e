package gensql_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/syntax"
)

// shutAs is the door with the state SHUT under another name, and what that says.
func shutAs(name, fields string) string {
	return strings.NewReplacer("SHUT: {}", name+": {"+fields+"}", "SHUT", name).Replace(door)
}

// What a rename cannot be is told at its place, and makes no migration.
func TestRenamesThatAreRefused(t *testing.T) {
	t.Parallel()
	const underWay = `; the rename of "SHUT" to "CLOSED" is under way: let it end by fsmgen generate --advance, or take its migration back (see fsmgen rules FSM093)`
	withLocked := strings.Replace(shutAs("CLOSED", "was: SHUT"), "  GONE: {final: true}", "  GONE: {final: true}\n  SHUT: {}", 1)
	withLocked = strings.Replace(withLocked, "transitions:", "transitions:\n  - {event: open, from: SHUT, to: OPEN}\n  - {event: knock, from: OPEN, to: SHUT}", 1)
	both := strings.NewReplacer("SHUT: {}", "SHUT: {}\n  CLOSED: {}", "transitions:", "transitions:\n  - {event: open, from: CLOSED, to: OPEN}\n  - {event: knock, from: OPEN, to: CLOSED}").Replace(door)
	merged := strings.NewReplacer("  SHUT: {}\n", "", "CLOSED: {}", "CLOSED: {was: SHUT}", "  - {event: open, from: SHUT, to: OPEN}\n", "", "SHUT, set", "CLOSED, set", "SHUT", "CLOSED").Replace(both)
	merged = strings.Replace(merged, "was: CLOSED", "was: SHUT", 1)
	for _, c := range []struct {
		name   string
		before []string
		yaml   string
		want   string
	}{
		{"was deleted half way", []string{door, shutAs("CLOSED", "was: SHUT")}, shutAs("CLOSED", ""), `door.yaml:10:3: FSM093 error the state "CLOSED" must keep was: SHUT` + underWay},
		{"another was half way", []string{door, shutAs("CLOSED", "was: SHUT")}, shutAs("CLOSED", "was: LATCHED"), `door.yaml:10:17: FSM093 error the state "CLOSED" must keep was: SHUT` + underWay},
		{"renamed again half way", []string{door, shutAs("CLOSED", "was: SHUT")}, shutAs("LATCHED", "was: CLOSED"), `door.yaml:10:18: FSM093 error the state "CLOSED" cannot get another name yet` + underWay},
		{"renamed back half way", []string{door, shutAs("CLOSED", "was: SHUT")}, door, `door.yaml:10:3: FSM093 error a state "SHUT" cannot be declared yet` + underWay},
		{"old name declared anew", []string{door, shutAs("CLOSED", "was: SHUT")}, strings.Replace(withLocked, "was: SHUT", "", 1), `FSM093 error a state "SHUT" cannot be declared yet` + underWay},
		{"was that never was", []string{door}, shutAs("CLOSED", "was: SHUTT"), `door.yaml:10:17: FSM094 error the newest migration knows no state "SHUTT"; did you mean "SHUT"?`},
		{"two states into one", []string{door, both}, merged, `FSM095 error the states "SHUT" and "CLOSED" were both there before; was gives one state another name and cannot make one of two: retire "SHUT" and lead its rows to "CLOSED" by a transition`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{}
			for _, yaml := range c.before {
				land(t, files, yaml)
			}
			content, problems := next(t, files, c.yaml)
			require.Nil(t, content)
			require.Contains(t, told(problems), c.want)
		})
	}
}

// Two states cannot swap their names; the definition alone says so.
func TestNamesAreNotSwapped(t *testing.T) {
	t.Parallel()
	var problems diag.List
	swapped := strings.NewReplacer("SHUT: {}", "SHUT: {was: OPEN}", "OPEN: {initial: true}", "OPEN: {initial: true, was: SHUT}").Replace(door)
	check.Run(syntax.Parse("door.yaml", []byte(swapped), &problems), &problems)
	require.Contains(t, told(problems.Sorted()), `FSM082 error "SHUT" is the name of another state`)
}

// A new machine has just the new names, whatever was.
func TestANewMachineHasNoFormerNames(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	require.Empty(t, land(t, files, shutAs("CLOSED", "was: SHUT")))
	require.Empty(t, schema(t, files).Renames)
	require.NotContains(t, string(files[name(1)].Data), "SHUT")
}

// A definition that has changed is migrated before anything advances.
func TestAdvanceOfAChangedDefinitionIsRefused(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	land(t, files, door)
	land(t, files, renamed)
	var problems diag.List
	changed := strings.Replace(renamed, "colour: text", "colour: text\n    note: {type: text, optional: true}", 1)
	require.Empty(t, gensql.Advance(machine(t, changed), schema(t, files), &problems))
	require.Equal(t, `door.yaml:1:10: FSM097 error the definition has changed since the newest migration of "door": run fsmgen generate and deploy it first`+"\n", told(problems.Sorted()))
}

// Columns that programs of before could not write or read any more.
func TestColumnsAtOddsWithProgramsOfBefore(t *testing.T) {
	t.Parallel()
	optional := strings.Replace(door, "colour: text", "colour: {type: text, optional: true}", 1)
	files := fstest.MapFS{}
	land(t, files, door)
	require.Equal(t, `door.yaml:6:5: FSM096 warning programs of before cannot read a row whose "colour" is empty; write none before they are gone`+"\n", told(land(t, files, optional)))
	content, problems := next(t, files, strings.Replace(door, "colour: text", `colour: {type: text, default: "'none'"}`, 1))
	require.Nil(t, content)
	require.Equal(t, `door.yaml:6:5: FSM098 error programs of before create rows without "colour", which had no default: give it one and leave it optional for now, make it required later`+"\n", told(problems))
}

// Every code has a rule that gives cause and fix.
func TestTheCodesOfThisPackage(t *testing.T) {
	t.Parallel()
	var codes []string
	for _, r := range gensql.Rules() {
		codes = append(codes, string(r.Code))
	}
	require.Equal(t, []string{"FSM090", "FSM092", "FSM093", "FSM094", "FSM095", "FSM096", "FSM097", "FSM098", "FSM099"}, codes)
}

// SQL that looks for a state under rename by its name would be wrong for half
// of the rows until the rename is through.
func TestNoRenameWithSQLThatNamesTheState(t *testing.T) {
	t.Parallel()
	const way = `looks for a state by its name, and while "SHUT" is renamed to "CLOSED" rows hold either: take the name out and deploy that, rename, and put the new name in when the rename is through (a transition's from says in which states it goes, better than a guard)`
	const rule = "check: knocks >= 0"
	for _, c := range []struct{ name, old, new, want string }{
		{"check", rule, `check: "status <> 'SHUT' OR knocks >= 0"`, `door.yaml:7:48: FSM093 error this check ` + way},
		{"guard", "event: open, from: SHUT, to: OPEN", `event: open, from: SHUT, to: OPEN, guard: {sql: "status IN ('OPEN', 'SHUT') AND knocks > 0"}`, `FSM093 error this guard ` + way},
		{"value", "knocks: knocks + 1", `knocks: "CASE status WHEN 'SHUT' THEN 1 ELSE 2 END"`, `FSM093 error this value ` + way},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			was := strings.Replace(door, c.old, c.new, 1)
			is := strings.NewReplacer("SHUT: {}", "CLOSED: {was: SHUT}", "SHUT", "CLOSED").Replace(was)
			files := fstest.MapFS{}
			land(t, files, was)
			content, problems := next(t, files, is)
			require.Nil(t, content)
			require.Contains(t, told(problems), c.want)

			files = fstest.MapFS{}
			land(t, files, door)
			land(t, files, renamed)
			_, problems = next(t, files, is)
			require.Contains(t, told(problems), c.want, "nor half way")
			advance(t, files, renamed)
			advance(t, files, renamed)
			_, problems = next(t, files, is)
			require.NotContains(t, told(problems), "FSM093", "the rename is through")
		})
	}
	other := strings.Replace(door, rule, `check: "status <> 'OPEN' OR knocks >= 0"`, 1)
	files := fstest.MapFS{}
	land(t, files, other)
	require.Empty(t, land(t, files, strings.NewReplacer("SHUT: {}", "CLOSED: {was: SHUT}", "SHUT", "CLOSED").Replace(other)), "another state's name does no harm")
}
