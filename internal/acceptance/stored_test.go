package acceptance

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// parcel is a machine whose table keeps nothing under the usual names. KEY,
// STATUS, VERSION and IS_PAID stand for what the storages make different.
const parcel = `machine: parcel
table:
  name: parcels
  key: KEY
  status: STATUS
  version: VERSION
  deadline: {at: due_at, runs: due_runs}
  columns:
    total_cents: {type: bigint, check: total_cents > 0}
    paid_cents:  {type: bigint, default: 0}
states:
  PENDING:   {initial: true, deadline: {after: 30m, event: expire}CODE10}
  PAYING:    {deadline: {after: 15m, event: query, max: 2}CODE20}
  PAID:      {resting: trueCODE30}
  SHIPPED:   {final: trueCODE40}
  CANCELLED: {resting: trueCODE50}
events:
  pay:    {otherwise: {replay: [PAYING], reject: '*'}}
  query:  {otherwise: {ignore: '*'}}
  expire: {otherwise: {ignore: '*'}}
  cancel: {otherwise: {replay: [CANCELLED], reject: '*'}}
  ship:   {params: {limit_cents: bigint}, otherwise: {replay: [SHIPPED], reject: '*'}}
  paid:
    source: callback
    params: {nr: text, cents: bigint}
    identity: [nr]
    fingerprint: [cents]
    otherwise: {compensate: {states: '*', emit: [refund_due]}}
transitions:
  - {event: pay,    from: PENDING,           to: PAYING}
  - {event: query,  from: PAYING,            to: PAYING, emit: [query_due]}
  - {event: expire, from: PENDING,           to: CANCELLED}
  - {event: cancel, from: [PENDING, PAYING], to: CANCELLED}
  - {event: ship,   from: PAID,              to: SHIPPED, guard: {sql: IS_PAID AND total_cents <= @limit_cents}}
  - {event: paid,   from: [PENDING, PAYING], to: PAID, guard: {sql: total_cents = @cents}, set: {paid_cents: '@cents'}, emit: [parcel_paid]}
`

// storage is one way in which the table keeps a state, or a key.
type storage struct {
	name, yaml, isPaid string
	codes              bool
	// raw makes the constant by which raw SQL writes a state.
	raw map[string]string
}

var storages = []storage{
	{"text", "state", "state = 'PAID'", false, map[string]string{"PENDING": "'PENDING'", "PAYING": "'PAYING'", "PAID": "'PAID'", "SHIPPED": "'SHIPPED'"}},
	{"enum", "{column: state, enum: parcel_state}", "state = 'PAID'", false, map[string]string{"PENDING": "'PENDING'", "PAYING": "'PAYING'", "PAID": "'PAID'", "SHIPPED": "'SHIPPED'"}},
	{"codes", "{column: state, type: smallint}", "state = 30", true, map[string]string{"PENDING": "10", "PAYING": "20", "PAID": "30", "SHIPPED": "40"}},
}

const tenant = "00000000-0000-4000-8000-00000000000a"

// keyed is one shape of key: as written, its arguments, the same in SQL, and as
// the outbox has it.
type keyed struct {
	name, yaml     string
	args           args
	columns, where string
	values, text   string
}

var keys = []keyed{
	{"one", "{column: id, type: bigint}", args{"fsm_key": 7}, "id", "id = 7", "8", "7"},
	{"several", "[{column: tenant_id, type: uuid}, {column: id, type: bigint}]", args{"fsm_key_tenant_id": tenant, "fsm_key_id": 7},
		"tenant_id, id", "tenant_id = '" + tenant + "' AND id = 7", "'" + tenant + "', 8", `["` + tenant + `", 7]`},
}

func (s storage) definition(k keyed) string {
	version := "lock_version"
	if s.codes { // as Rails has both
		version = "{column: lock_version, type: integer}"
	}
	text := strings.NewReplacer("KEY", k.yaml, "STATUS", s.yaml, "VERSION", version, "IS_PAID", s.isPaid).Replace(parcel)
	for _, code := range []string{"10", "20", "30", "40", "50"} {
		with := ""
		if s.codes {
			with = ", code: " + code
		}
		text = strings.ReplaceAll(text, "CODE"+code, with)
	}
	return text
}

// everyStorage runs a test on each storage with each shape of key.
func everyStorage(t *testing.T, test func(t *testing.T, s storage, k keyed)) {
	for _, s := range storages {
		for _, k := range keys {
			t.Run(s.name+" "+k.name, func(t *testing.T) {
				t.Parallel()
				test(t, s, k)
			})
		}
	}
}

// What a call answers does not depend on how the table keeps the state.
func TestEveryStorageAnswersAlike(t *testing.T) {
	t.Parallel()
	everyStorage(t, func(t *testing.T, s storage, k keyed) {
		m := machineOf(t, s.definition(k))
		db, p := migrated(t, m), programOf(t, m, nil, k.args)
		paid := func(nr string, cents int) args { return args{"nr": nr, "cents": cents} }
		for _, step := range []struct {
			want, name string
			given      args
		}{
			{"not found", "Pay", nil},
			{"Applied PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 100}},
			{"Replayed PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 100}},
			{"Mismatched PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 101}},
			{"Rejected PENDING 1 - create >PENDING 1", "Ship", args{"limit_cents": 100}},
			{"Stale PENDING 1 - create >PENDING 1", "Pay", args{"fsm_version": 2}},
			{"Applied PAYING 2 - pay PENDING>PAYING 2", "Pay", args{"fsm_version": 1}},
			{"Replayed PAYING 2 - pay PENDING>PAYING 2", "Pay", nil},
			{"Ignored PAYING 2 - pay PENDING>PAYING 2", "Expire", nil},
			{"Compensated PAYING 2 - paid PAYING>PAYING 2", "Paid", paid("N1", 99)},
			{"Replayed PAYING 2 - paid PAYING>PAYING 2", "Paid", paid("N1", 99)},
			{"Mismatched PAYING 2 - paid PAYING>PAYING 2", "Paid", paid("N1", 100)},
			{"Applied PAID 3 - paid PAYING>PAID 3", "Paid", paid("N2", 100)},
			{"Replayed PAID 3 - paid PAYING>PAID 3", "Paid", paid("N2", 100)},
			{"Compensated PAID 3 - paid PAID>PAID 3", "Paid", paid("N3", 100)},
			{"GuardFailed PAID 3 - paid PAYING>PAID 3", "Ship", args{"limit_cents": 99}},
			{"Applied SHIPPED 4 - ship PAID>SHIPPED 4", "Ship", args{"limit_cents": 100}},
			{"Stale SHIPPED 4 -  > 0", "Correct", args{"fsm_to": "PENDING", "fsm_version": 3}},
			{"Applied PENDING 5 - correct SHIPPED>PENDING 5", "Correct", args{"fsm_to": "PENDING", "fsm_actor": "ann", "fsm_reason": "ticket"}},
			{"Ignored PENDING 5 -  > 0", "Correct", args{"fsm_to": "PENDING"}},
		} {
			p.says(t, db, step.want, step.name, step.given)
		}
		require.Equal(t, "create:>PENDING pay:PENDING>PAYING paid:PAYING>PAID ship:PAID>SHIPPED correct:SHIPPED>PENDING", p.history(t, db))
		require.Equal(t, "refund_due 2 PAYING>PAYING|parcel_paid 3 PAYING>PAID|refund_due 3 PAID>PAID", textIn(t, db,
			`SELECT string_agg(concat_ws(' ', topic, version, concat(payload ->> 'from', '>', payload ->> 'to')), '|' ORDER BY id) FROM fsm_outbox WHERE key = $1 AND payload ->> 'key' = key`, k.text))
		require.Equal(t, "SHIPPED>PENDING", textIn(t, db, `SELECT from_status || '>' || to_status FROM fsm_audit WHERE key = $1`, k.text))
		require.Equal(t, s.raw["PENDING"], textIn(t, db, `SELECT CASE WHEN pg_typeof(state) = 'smallint'::regtype THEN state::text ELSE quote_literal(state::text) END FROM parcels`))
		rows, err := p.rows(t.Context(), db, "Get", nil)
		require.NoError(t, err)
		require.Len(t, rows, 1)
		require.Equal(t, []any{"PENDING", int64(5), int64(100), int64(100)}, []any{rows[0]["state"], rows[0]["lock_version"], rows[0]["total_cents"], rows[0]["paid_cents"]})
		require.True(t, noon.Add(30*time.Minute).Equal(rows[0]["due_at"].(time.Time)))
	})
}

// Deadlines are swept by each storage, and a self-loop ends after its max.
func TestEveryStorageSweeps(t *testing.T) {
	t.Parallel()
	everyStorage(t, func(t *testing.T, s storage, k keyed) {
		m := machineOf(t, s.definition(k))
		db, p := migrated(t, m), programOf(t, m, nil, k.args)
		at := func(minutes int) args { return args{"fsm_now": noon.Add(time.Duration(minutes) * time.Minute)} }
		p.says(t, db, "Applied PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 100})
		require.Empty(t, p.swept(t, db, "SweepExpire", at(29)))
		require.Empty(t, p.swept(t, db, "SweepQuery", at(60)))
		p.says(t, db, "Applied PAYING 2 - pay PENDING>PAYING 2", "Pay", nil)
		require.Equal(t, k.text+" PAYING>PAYING 3", p.swept(t, db, "SweepQuery", at(15)))
		require.Equal(t, k.text+" PAYING>PAYING 4", p.swept(t, db, "SweepQuery", at(30)))
		require.Empty(t, p.swept(t, db, "SweepQuery", at(9999)), "max is 2")
		_, err := p.call("Correct", args{"fsm_to": "PENDING", "fsm_actor": "a", "fsm_reason": "r"})(t.Context(), db)
		require.NoError(t, err)
		require.Equal(t, k.text+" PENDING>CANCELLED 6", p.swept(t, db, "SweepExpire", at(30)))
		require.Equal(t, "create:>PENDING pay:PENDING>PAYING query:PAYING>PAYING query:PAYING>PAYING correct:PAYING>PENDING expire:PENDING>CANCELLED", p.history(t, db))
	})
}

// The database refuses to anybody what no edge allows.
func TestEveryStorageRefusesRawWrites(t *testing.T) {
	t.Parallel()
	everyStorage(t, func(t *testing.T, s storage, k keyed) {
		m := machineOf(t, s.definition(k))
		db, p := migrated(t, m), programOf(t, m, nil, k.args)
		p.says(t, db, "Applied PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 100})
		r := strings.NewReplacer(":pending", s.raw["PENDING"], ":paying", s.raw["PAYING"], ":paid", s.raw["PAID"], ":shipped", s.raw["SHIPPED"],
			":key", k.where, ":new", k.values, ":columns", k.columns)
		for _, tc := range []struct{ name, sql, constraint string }{
			{"no such edge", `UPDATE parcels SET state = :shipped, lock_version = 2 WHERE :key`, "parcel_edge"},
			{"the version not moved", `UPDATE parcels SET state = :paying WHERE :key`, "parcel_edge"},
			{"a version skipped", `UPDATE parcels SET state = :paying, lock_version = 3 WHERE :key`, "parcel_edge"},
			{"another key", `UPDATE parcels SET id = 9 WHERE :key`, "parcel_edge"},
			{"another key with an edge", `UPDATE parcels SET id = 9, state = :paying, lock_version = 2 WHERE :key`, "parcel_edge"},
			{"no version", `UPDATE parcels SET lock_version = 0 WHERE :key`, "parcels_version_check"},
			{"born elsewhere", `INSERT INTO parcels (:columns, state, lock_version, total_cents) VALUES (:new, :paid, 1, 1)`, "parcel_birth"},
			{"born old", `INSERT INTO parcels (:columns, state, lock_version, total_cents) VALUES (:new, :pending, 2, 1)`, "parcel_birth"},
		} {
			_, err := db.Exec(t.Context(), r.Replace(tc.sql))
			requireViolation(t, err, tc.constraint, tc.name)
		}
		if s.name != "enum" { // an enum refuses such a value itself
			_, err := db.Exec(t.Context(), r.Replace(`UPDATE parcels SET state = '99', lock_version = 2 WHERE :key`))
			requireViolation(t, err, "parcels_status_check", "unknown")
		}
		require.Equal(t, "create:>PENDING", p.history(t, db))
		_, err := db.Exec(t.Context(), r.Replace(`UPDATE parcels SET state = :paying, lock_version = 2 WHERE :key`))
		require.NoError(t, err, "an edge is one for everybody")
		_, err = db.Exec(t.Context(), r.Replace(`DELETE FROM parcels WHERE :key`))
		require.NoError(t, err)
		require.Empty(t, p.history(t, db), "history goes with its row")
	})
}

// A loser that waited for the winner's row is told what the winner made of it.
func TestEveryStorageTellsALoserTheTruth(t *testing.T) {
	t.Parallel()
	everyStorage(t, func(t *testing.T, s storage, k keyed) {
		m := machineOf(t, s.definition(k))
		p := programOf(t, m, nil, k.args)
		db := &shop{t, migrated(t, m)}
		p.says(t, db.pool, "Applied PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 100})
		got := db.race(p.call("Paid", args{"nr": "N1", "cents": 100}), p.call("Cancel", nil))
		require.NoError(t, got.err)
		require.Equal(t, "Rejected PAID 2 - paid PENDING>PAID 2", got.told)
		got = db.race(p.call("Ship", args{"limit_cents": 100}), p.call("Paid", args{"nr": "N2", "cents": 100}))
		require.NoError(t, got.err)
		require.Equal(t, "Compensated SHIPPED 3 - paid SHIPPED>SHIPPED 3", got.told)
		require.Equal(t, "create:>PENDING paid:PENDING>PAID ship:PAID>SHIPPED", p.history(t, db.pool))
		other := db.begin(pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
		require.NoError(t, other.QueryRow(t.Context(), `SELECT count(*) FROM parcels`).Scan(new(int)))
		p.says(t, db.pool, "Applied PENDING 4 - correct SHIPPED>PENDING 4", "Correct", args{"fsm_to": "PENDING", "fsm_actor": "a", "fsm_reason": "r"})
		p.says(t, other, "Replayed SHIPPED 3 - ship PAID>SHIPPED 3", "Ship", args{"limit_cents": 100})
	})
}
