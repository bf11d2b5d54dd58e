package live

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/testdb"
)

// migrated is a database with the tables that are generated for a machine.
func migrated(t *testing.T, m *model.Machine, before string) bed {
	t.Helper()
	var problems diag.List
	files := fstest.MapFS{
		"00001_core.sql": {Data: gensql.Core()}, "00002_before.sql": {Data: []byte("-- +goose Up\n" + before)},
		"00003_machine.sql": {Data: gensql.Migration(m, nil, &problems)},
	}
	require.Empty(t, problems.Sorted())
	pool := testdb.New(t, testdb.WithMigrations(files))
	return bed{t, pool, pool.Config().ConnString()}
}

// lease has names of its own, codes for states, and a key of three columns.
const lease = `
machine: lease
table:
  name: leases
  key: [{column: tenant, type: text}, {column: lease_no, type: bigint}, {column: day, type: date}]
  columns: {deed: {type: text, optional: true}}
  status: {column: phase, type: smallint}
  version: revision
  deadline: {at: due_at, runs: due_runs}
states:
  OFFERED: {initial: true, code: 10, deadline: {after: 1h, event: remind, max: 2}}
  SIGNED:  {code: 20, was: ACCEPTED}
  ENDED:   {code: 40, final: true}
events:
  remind: {otherwise: {ignore: '*'}}
  sign:
    params: {deed_no: text, page: integer}
    identity: [deed_no, page]
  end:    {}
transitions:
  - {event: remind, from: OFFERED, to: OFFERED, emit: [remind_due]}
  - {event: sign,   from: OFFERED, to: SIGNED}
  - {event: end,    from: SIGNED,  to: ENDED}
`

// A table is read in its own way: names of columns, codes, keys of several columns, and
// names that states had before.
func TestATableOfItsOwnKind(t *testing.T) {
	t.Parallel()
	m := define(t, lease)
	b := migrated(t, m, "SELECT 1;")
	b.exec(`ALTER TABLE leases DISABLE TRIGGER USER`)
	b.exec(`INSERT INTO leases (tenant, lease_no, day, phase, revision, due_at) VALUES ('a "b"/c', 7, '2024-02-29', 20, 2, NULL), ('x', 8, '2024-03-01', 10, 1, now() - interval '2 hours')`)
	b.exec(`INSERT INTO lease_history (tenant, lease_no, day, version, event, from_status, to_status, at) VALUES
('a "b"/c', 7, '2024-02-29', 1, 'create', NULL, 'OFFERED', now() - interval '3 hours'), ('a "b"/c', 7, '2024-02-29', 2, 'sign', 'OFFERED', 'ACCEPTED', now()), ('x', 8, '2024-03-01', 1, 'create', NULL, 'OFFERED', now() - interval '3 hours')`)
	b.exec(`INSERT INTO lease_facts (tenant, lease_no, day, event, identity, fingerprint, outcome, from_status, to_status, version, at) VALUES ('a "b"/c', 7, '2024-02-29', 'sign', jsonb_build_array('d"1', 3)::text, '', 'Applied', 'OFFERED', 'ACCEPTED', 2, now())`)
	db := b.open()

	counts, err := db.Count(t.Context(), m)
	require.NoError(t, err)
	require.EqualValues(t, 1, counts.Of("SIGNED"))
	require.EqualValues(t, 1, counts.Of("OFFERED"))
	oldest, err := db.Oldest(t.Context(), m, counts)
	require.NoError(t, err)
	require.Len(t, oldest, 2)
	require.Equal(t, []string{"x", "8", "2024-03-01"}, oldest[0].Key)
	due, err := db.Deadlines(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, []string{"x", "8", "2024-03-01"}, due.Late[0].Key)
	require.Equal(t, "OFFERED", due.Late[0].State)
	moves, err := db.Moves(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, []Move{{Minute: 0, Event: "sign", From: "OFFERED", To: "SIGNED", N: 1}}, moves.Moves, "by the name of today")

	key := []string{`a "b"/c`, "7", "2024-02-29"}
	life, err := db.Life(t.Context(), m, key)
	require.NoError(t, err)
	require.True(t, life.There)
	require.Equal(t, "SIGNED", life.State)
	require.Equal(t, `["a \"b\"/c", 7, "2024-02-29"]`, life.KeyText)
	require.Equal(t, key, KeyOf(m, life.KeyText))
	require.Len(t, life.Entries, 2)
	require.Equal(t, "SIGNED", life.Entries[1].To)
	require.Len(t, life.Facts, 1)
	for _, text := range []string{life.KeyText, `["a \"b\"/c",7,"2024-02-29"]`, `["d\"1",3]`, `["d\"1", 3]`} {
		found, errs := db.Find(t.Context(), []*model.Machine{m}, text)
		require.Empty(t, errs, text)
		require.Len(t, found, 1, text)
		require.Equal(t, key, found[0].Key, text)
		require.Equal(t, "SIGNED", found[0].State)
	}
	// A key is found as pages show it, also where a column has in it what is between two.
	b.exec(`INSERT INTO leases (tenant, lease_no, day, phase, revision) VALUES ('x / 8', 9, '2024-03-01', 10, 1)`)
	for text, want := range map[string][]string{
		KeyShown(key): key, "x / 8 / 2024-03-01": {"x", "8", "2024-03-01"}, "x / 8 / 9 / 2024-03-01": {"x / 8", "9", "2024-03-01"},
	} {
		found, errs := db.Find(t.Context(), []*model.Machine{m}, text)
		require.Empty(t, errs, text)
		require.Len(t, found, 1, text)
		require.Equal(t, want, found[0].Key, text)
	}
	for _, text := range []string{"x / 8", "x / 8 / 2024-03-05", "x 8 2024-03-01", strings.Repeat("a / ", 250) + "7 / 2024-03-01"} {
		found, errs := db.Find(t.Context(), []*model.Machine{m}, text)
		require.Empty(t, errs, text)
		require.Empty(t, found, text)
	}
	// Of a row that is gone the key is as the outbox has it, too: its messages go by that.
	b.exec(`DELETE FROM leases WHERE lease_no = 7`)
	gone, err := db.Life(t.Context(), m, key)
	require.NoError(t, err)
	require.False(t, gone.There)
	require.Equal(t, life.KeyText, gone.KeyText)
	// What no state is declared for is shown as it is.
	b.exec(`ALTER TABLE leases DROP CONSTRAINT leases_status_check; UPDATE leases SET phase = 99 WHERE lease_no = 8`)
	counts, err = db.Count(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, StateCount{State: "99", Rows: 1}, StateCount{State: counts.States[3].State, Rows: counts.States[3].Rows, Declared: counts.States[3].Declared})
}

// A day is a key as PostgreSQL writes it, and no text is taken for one that it refuses.
func TestDaysThatAreKeys(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	for text, is := range map[string]bool{
		"2024-02-29": true, "2023-02-29": false, "2024-13-01": false, "0000-01-01": false, "0001-01-01": true, "infinity": true, "-infinity": true,
		"12026-01-02": true, "012026-01-02": false, "5874897-12-31": true, "5874898-01-01": false, "0044-03-15 BC": true, "0001-02-29 BC": true,
		"0002-02-29 BC": false, "4713-01-01 BC": true, "4714-01-01 BC": false, "today": false, "2024-2-9": false,
	} {
		require.Equal(t, is, castable(model.Type{Kind: model.KindDate}, text), text)
		if is {
			var written string
			require.NoError(t, b.pool.QueryRow(t.Context(), "SELECT to_jsonb($1::text::date) #>> '{}'", text).Scan(&written), text)
			require.Equal(t, text, written)
		}
	}
	require.False(t, castable(model.Type{Kind: model.KindText}, "\xff"))
}

// tickets are a table that was there before.
const tickets = `
machine: ticket
table: {name: tickets, key: {column: ticket_id, type: integer}, status: status, deadline: due_at, existing: true}
states: {NEW: {initial: true, deadline: {after: 1h, event: close}}, DONE: {final: true}}
events: {close: {}}
transitions: [{event: close, from: NEW, to: DONE}]
`

// Of a column that is no status at all, whatever is asked, some values are named, and no
// more of each than can be shown; what is declared is never among the rest.
func TestAColumnThatIsNoStatusIsBounded(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	m := define(t, tickets)
	b.exec(`CREATE TABLE tickets (ticket_id integer PRIMARY KEY, status text, version bigint NOT NULL DEFAULT 1, due_at timestamptz);
CREATE INDEX ON tickets (due_at);
INSERT INTO tickets SELECT i, CASE i WHEN 1 THEN 'NEW' WHEN 2 THEN repeat('长', 100000) WHEN 3 THEN repeat('长', 100000) WHEN 4 THEN NULL ELSE md5(i::text) END, 1, now() + (i - 10000) * interval '1 second' FROM generate_series(1, 9000) AS i`)
	db := b.open()
	long := StateCount{State: strings.Repeat("长", 200) + "…", Rows: 2}
	bounded := func(name string, states []StateCount) {
		require.Len(t, states, 23, name)
		require.Equal(t, StateCount{State: "NEW", Declared: true, Rows: 1}, states[0], name)
		require.Equal(t, StateCount{State: "DONE", Declared: true}, states[1], name)
		require.Equal(t, long, states[2], name)
		require.Equal(t, StateCount{Rows: 8978, Others: 8978}, states[22], name)
	}
	exact, err := db.Count(t.Context(), m)
	require.NoError(t, err)
	require.EqualValues(t, 9000, exact.Total)
	bounded("count", exact.States)
	due, err := db.Deadlines(t.Context(), m)
	require.NoError(t, err)
	require.EqualValues(t, 9000, due.Overdue)
	bounded("deadlines", append(due.States[:1:1], append([]StateCount{{State: "DONE", Declared: true}}, due.States[1:]...)...))
	require.Equal(t, long.State, due.Late[1].State)

	// A sample, before and after statistics, which have nine tenths of the rows.
	b.exec(`INSERT INTO tickets SELECT i, CASE WHEN i % 2 = 0 THEN (i % 60)::text ELSE 'NEW' END, 1 FROM generate_series(9001, 100000) AS i`)
	for _, by := range []string{"before", "after"} {
		about, err := db.Estimate(t.Context(), m)
		require.NoError(t, err)
		require.False(t, about.Exact, by)
		require.Len(t, about.States, 23, by)
		require.Equal(t, "NEW", about.States[0].State, by)
		require.InDelta(t, 45500, about.States[0].Rows, 15000, by)
		require.Positive(t, about.States[22].Others, by)
		require.InDelta(t, 100000, about.Total, 30000, by)
		b.exec("ANALYZE tickets")
	}
	about, err := db.Estimate(t.Context(), m)
	require.NoError(t, err)
	require.Greater(t, about.States[22].Others, int64(1000), "what is of no frequent value is not left out")

	// Statistics that have all rows, those without a status, too.
	b.exec(`TRUNCATE tickets; INSERT INTO tickets SELECT i, CASE i % 4 WHEN 0 THEN 'NEW' WHEN 1 THEN 'DONE' WHEN 2 THEN 'ODD' END, 1 FROM generate_series(1, 100000) AS i`)
	b.exec("ANALYZE tickets")
	about, err = db.Estimate(t.Context(), m)
	require.NoError(t, err)
	require.InDelta(t, 100000, about.Total, 1000)
	rows := map[string]int64{}
	for _, s := range about.States {
		rows[s.State] = s.Rows
	}
	for _, state := range []string{"NEW", "DONE", "ODD", "NULL"} {
		require.InDelta(t, 25000, rows[state], 2500, state)
	}
}

// lamp keeps its history in partitions, and its state in an enum.
const lamp = `
machine: lamp
table: {name: lamps, key: {column: lamp_id, type: integer}, status: {column: status, type: lamp_state}, history: {partition: day}}
states: {NEW: {initial: true}, LIT: {}, DARK: {final: true}}
events: {light: {}, burn: {}}
transitions: [{event: light, from: NEW, to: LIT}, {event: burn, from: LIT, to: DARK}]
`

// A history in partitions is read in those of the last hour alone, the rest included, by
// a role that may read their parent.
func TestAHistoryInPartitions(t *testing.T) {
	t.Parallel()
	m := define(t, strings.Replace(lamp, ", status: {column: status, type: lamp_state}", "", 1))
	b := migrated(t, m, "SELECT 1;")
	b.exec(`INSERT INTO lamp_history (lamp_id, version, event, from_status, to_status, at)
SELECT i, 1, 'create', NULL, 'NEW', now() - i * interval '10 minutes' FROM generate_series(1, 300) AS i`)
	b.exec(`INSERT INTO lamp_history (lamp_id, version, event, from_status, to_status, at) SELECT i, 2, 'light', 'NEW', 'LIT', now() FROM generate_series(1, 10) AS i`)
	role := b.role()
	b.exec("GRANT SELECT ON lamp_history, lamps TO " + role)
	moves, err := b.as(role).Moves(t.Context(), m)
	require.NoError(t, err)
	n := map[string]int64{}
	for _, v := range moves.Moves {
		n[v.Event] += v.N
	}
	require.EqualValues(t, 10, n["light"])
	require.InDelta(t, 5, n["create"], 1, "those of the last hour, whichever partition they are in")
	life, err := b.as(role).Life(t.Context(), m, []string{"1"})
	require.NoError(t, err)
	require.False(t, life.There)
	require.Len(t, life.Entries, 2)
	require.InDelta(t, (10 * time.Minute).Seconds(), life.Entries[0].Stayed.Seconds(), 1)
}
