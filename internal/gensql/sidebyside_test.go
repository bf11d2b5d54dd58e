package gensql_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// A check that changed takes what either program writes, until the one of
// before is gone.
func TestAStricterCheckWaits(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	stricter := strings.Replace(door, "knocks >= 0", "knocks BETWEEN 0 AND 4", 1)
	land(t, files, door)
	require.Empty(t, land(t, files, stricter))
	content, _ := next(t, files, stricter)
	require.Nil(t, content, "generated twice, it is the same")
	require.Len(t, advance(t, files, stricter), 1)
	s := standing(t, files)
	s.up(2)
	s.may("INSERT INTO doors (door_id, status, version, colour, knocks) VALUES (1, 'OPEN', 1, 'red', 5), (2, 'OPEN', 1, 'red', 4)")
	s.cannot("INSERT INTO doors (door_id, status, version, colour, knocks) VALUES (3, 'OPEN', 1, 'red', -1)")
	before := shape(t, s.db)
	_, err := s.provider.UpTo(context.Background(), 3)
	require.ErrorContains(t, err, "doors_knocks_check", "a row breaks it")
	require.Equal(t, before, shape(t, s.db))
	s.may("UPDATE doors SET knocks = 1 WHERE door_id = 1")
	s.up(3)
	s.cannot("UPDATE doors SET knocks = 5 WHERE door_id = 1")
	s.down(2)
	require.Equal(t, before, shape(t, s.db))
}

// A check on a new column that looks at an old one could refuse what programs
// of before write; it waits too.
func TestACheckOverAnOldColumnWaits(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	capped := strings.Replace(door, "colour: text", "colour: text\n    most: {type: integer, default: 3, check: knocks <= most}", 1)
	land(t, files, door)
	land(t, files, capped)
	require.Equal(t, []string{"column most has no check yet"}, schema(t, files).Waits())
	advance(t, files, capped)
	s := standing(t, files)
	s.up(2)
	s.may("INSERT INTO doors (door_id, status, version, colour, knocks) VALUES (1, 'OPEN', 1, 'red', 4)", "DELETE FROM doors")
	s.up(3)
	s.cannot("INSERT INTO doors (door_id, status, version, colour, knocks) VALUES (1, 'OPEN', 1, 'red', 4)")
}

// Programs of before leave a column to its default; one that is gone stays for them.
func TestADefaultStays(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	with := func(fields string) string {
		return strings.Replace(door, "colour: text", "colour: text\n    tries: {type: integer"+fields+"}", 1)
	}
	land(t, files, with(", default: 7"))
	require.Empty(t, land(t, files, with("")))
	require.Equal(t, []string{"column tries keeps its default, 7"}, schema(t, files).Waits())
	content, _ := next(t, files, with(""))
	require.Nil(t, content, "generated twice, it is the same")
	advance(t, files, with(""))
	require.Empty(t, schema(t, files).Waits())
	s := standing(t, files)
	s.up(2)
	s.may("INSERT INTO doors (door_id, status, version, colour) VALUES (1, 'OPEN', 1, 'red')")
	s.up(3)
	s.cannot("INSERT INTO doors (door_id, status, version, colour) VALUES (2, 'OPEN', 1, 'red')")
	s.down(2)
	s.may("INSERT INTO doors (door_id, status, version, colour) VALUES (3, 'OPEN', 1, 'red')")
}

// A column that has become required takes the default for a NULL that a
// program of before writes.
func TestARequiredColumnIsFilled(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	with := func(fields string) string {
		return strings.Replace(door, "colour: text", `colour: {type: text, default: "'none'"`+fields+"}", 1)
	}
	land(t, files, with(", optional: true"))
	require.Empty(t, land(t, files, with("")))
	require.Len(t, advance(t, files, with("")), 1)
	const empty = "INSERT INTO doors (door_id, status, version, colour) VALUES (%, 'OPEN', 1, NULL)"
	s := standing(t, files)
	s.up(1)
	s.may(strings.Replace(empty, "%", "1", 1))
	before := shape(t, s.db)
	s.up(2)
	s.may(strings.Replace(empty, "%", "2", 1), "UPDATE doors SET colour = NULL WHERE door_id = 1")
	s.says("SELECT string_agg(colour, ' ') FROM doors", "none none")
	s.up(3)
	s.cannot(strings.Replace(empty, "%", "3", 1))
	s.down(1)
	require.Equal(t, before, shape(t, s.db))
}

// A column that is left has a value in new rows as long as programs of before
// read them.
func TestALeftColumnCanBeRead(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	bare := strings.Replace(door, "    colour: text\n", "", 1)
	land(t, files, door)
	land(t, files, bare)
	advance(t, files, bare)
	s := standing(t, files)
	s.up(2)
	s.may("INSERT INTO doors (door_id, status, version) VALUES (1, 'OPEN', 1)")
	s.up(3)
	s.may("INSERT INTO doors (door_id, status, version) VALUES (2, 'OPEN', 1)")
	s.says("SELECT string_agg(COALESCE(colour, 'NULL'), ',' ORDER BY door_id) FROM doors", ",NULL")
}

// Programs of before move rows without the due time that they do not know;
// those rows get it when these programs are gone.
func TestDueTimesAreSetOnceMore(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	timed := strings.Replace(door, "SHUT: {}", "SHUT: {deadline: {after: 90m, event: open}}", 1)
	land(t, files, door)
	land(t, files, timed)
	require.Equal(t, []string{"rows that enter SHUT may lack the due time that they should have, or have one"}, schema(t, files).Waits())
	advance(t, files, timed)
	require.Empty(t, schema(t, files).Waits())
	s := standing(t, files)
	s.up(2)
	s.may(insert(1, "OPEN"), move(1, "SHUT"))
	s.says("SELECT deadline_at::text FROM doors", "")
	s.up(3)
	s.says("SELECT (deadline_at > now() + interval '80 minutes')::text FROM doors", "true")
}

// A state is renamed and retired at once, and another becomes initial.
func TestChangesTogether(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	together := strings.NewReplacer("SHUT: {}", "CLOSED: {was: SHUT, retired: true}", "OPEN: {initial: true}", "OPEN: {}\n  AJAR: {initial: true}",
		"  - {event: shut, from: OPEN, to: SHUT}\n", "  - {event: shut, from: AJAR, to: OPEN}\n",
		"  - {event: knock, from: SHUT, to: SHUT, set: {knocks: knocks + 1}}\n", "  - {event: knock, from: OPEN, to: OPEN, set: {knocks: knocks + 1}}\n", "SHUT", "CLOSED").Replace(door)
	together = strings.Replace(together, "was: CLOSED", "was: SHUT", 1)
	land(t, files, door)
	require.Empty(t, land(t, files, together))
	require.Equal(t, []string{"state CLOSED is written under its former name SHUT", "rows may be created in OPEN",
		"rows may move from OPEN to CLOSED", "rows may move from CLOSED to CLOSED"}, schema(t, files).Waits())
	advance(t, files, together)
	require.Equal(t, []string{"state CLOSED is read under its former name SHUT too"}, schema(t, files).Waits())
	advance(t, files, together)
	s := standing(t, files)
	s.up(2)
	s.may(insert(1, "OPEN"), move(1, "SHUT"), move(1, "SHUT"), insert(2, "AJAR"), move(2, "OPEN"), insert(3, "OPEN"), move(3, "SHUT"), move(3, "OPEN"))
	s.up(3)
	s.cannot(insert(4, "OPEN"), move(2, "SHUT"), move(2, "CLOSED"), move(1, "SHUT"))
	s.up(4)
	s.says(statuses, "CLOSED OPEN OPEN")
	s.may(move(1, "OPEN"))
	s.down(1)
	s.may("DELETE FROM doors WHERE status = 'AJAR'")
}

// Renames where the status column is an enum, or holds codes.
func TestRenamesInOtherStorage(t *testing.T) {
	t.Parallel()
	coded := strings.NewReplacer("columns:\n    colour", "status: {type: smallint}\n  columns:\n    colour", "OPEN: {initial: true}", "OPEN: {initial: true, code: 10}",
		"SHUT: {}", "SHUT: {code: 20}", "GONE: {final: true}", "GONE: {final: true, code: 30}").Replace(door)
	enum := strings.Replace(door, "columns:\n    colour", "status: {enum: door_state}\n  columns:\n    colour", 1)
	rename := func(yaml string) string {
		return strings.NewReplacer("SHUT: {code: 20}", "CLOSED: {code: 20, was: SHUT}", "SHUT: {}", "CLOSED: {was: SHUT}", "SHUT", "CLOSED").Replace(yaml)
	}
	for _, c := range []struct{ name, yaml, open, shut, closed string }{
		{"enum", enum, "OPEN", "SHUT", "CLOSED"},
		{"codes", coded, "10", "20", "20"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{}
			land(t, files, c.yaml)
			land(t, files, rename(c.yaml))
			advance(t, files, rename(c.yaml))
			advance(t, files, rename(c.yaml))
			s := standing(t, files)
			s.up(1)
			s.may(insert(1, c.open), move(1, c.shut),
				"INSERT INTO door_history (door_id, version, event, from_status, to_status, at) VALUES (1, 2, 'shut', 'OPEN', 'SHUT', now())")
			s.up(3)
			s.may(insert(2, c.open), move(2, c.closed))
			s.up(4)
			s.says("SELECT string_agg(status::text, ' ') FROM doors", c.closed+" "+c.closed)
			s.says("SELECT string_agg(to_status, ' ') FROM door_history", "CLOSED")
			s.may(move(2, c.open), move(2, c.closed))
			s.down(1)
			s.says("SELECT string_agg(status::text, ' ') FROM doors", c.shut+" "+c.shut)
			s.says("SELECT string_agg(to_status, ' ') FROM door_history", "SHUT")
			s.up(4)
			s.says("SELECT string_agg(status::text, ' ') FROM doors", c.closed+" "+c.closed)
		})
	}
	files := fstest.MapFS{}
	land(t, files, coded)
	content, problems := next(t, files, strings.Replace(rename(coded), "code: 20", "code: 21", 1))
	require.Nil(t, content)
	require.Contains(t, told(problems), `FSM090 error the code of "CLOSED" was 20 when it was called "SHUT"; a rename keeps it`)
}

// The machine's own columns and the key are old ones too: programs of before
// write them.
func TestACheckOverAnOwnColumnWaits(t *testing.T) {
	t.Parallel()
	for _, check := range []string{"status <> 'SHUT' OR most > 3", "version < 2 OR most > 3", "door_id > 1 OR most > 3"} {
		t.Run(check, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{}
			checked := strings.Replace(door, "colour: text", "colour: text\n    most: {type: integer, default: 3, check: \""+check+"\"}", 1)
			land(t, files, door)
			land(t, files, checked)
			require.Equal(t, []string{"column most has no check yet"}, schema(t, files).Waits())
			advance(t, files, checked)
			s := standing(t, files)
			s.up(2)
			s.may(insert(1, "OPEN"), move(1, "SHUT"), "DELETE FROM doors")
			s.up(3)
			s.may("INSERT INTO doors (door_id, status, version, colour, most) VALUES (1, 'OPEN', 1, 'red', 4)", move(1, "SHUT"))
			s.cannot("UPDATE doors SET most = 3")
		})
	}
}

// A check that names a state which is new in an enum cannot be put on by the
// migration that adds the value.
func TestACheckOverANewLabelWaits(t *testing.T) {
	t.Parallel()
	enum := strings.Replace(door, "columns:\n    colour", "status: {enum: door_state}\n  columns:\n    colour", 1)
	locked := strings.NewReplacer("  GONE: {final: true}", "  GONE: {final: true}\n  LOCKED: {}",
		"transitions:", "transitions:\n  - {event: shut, from: LOCKED, to: SHUT}\n  - {event: knock, from: OPEN, to: LOCKED}").Replace(enum)
	files := fstest.MapFS{}
	land(t, files, enum)
	content, problems := next(t, files, strings.Replace(locked, "check: knocks >= 0", "check: \"status <> 'LOCKED' OR knocks > 0\"", 1))
	require.Nil(t, content)
	require.Equal(t, `door.yaml:8:48: FSM090 error the check names a state that is new in the enum "door_state", which PostgreSQL refuses in one migration: add the state first, and change the check in the next release`+"\n", told(problems))

	most := strings.Replace(locked, "colour: text", "colour: text\n    most: {type: integer, default: 3, check: \"status <> 'LOCKED' OR most > 3\"}", 1)
	land(t, files, most)
	advance(t, files, most)
	s := standing(t, files)
	s.up(3)
	s.may("INSERT INTO doors (door_id, status, version, colour, most) VALUES (1, 'OPEN', 1, 'red', 4)", move(1, "LOCKED"))
	s.cannot("UPDATE doors SET most = 3")

	later := fstest.MapFS{} // in the next release it goes
	land(t, later, enum)
	land(t, later, locked)
	named := strings.Replace(locked, "check: knocks >= 0", "check: \"status <> 'LOCKED' OR knocks > 0\"", 1)
	land(t, later, named)
	advance(t, later, named)
	standing(t, later).up(4)
}
