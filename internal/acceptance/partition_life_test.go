package acceptance

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// dated is one call at one time.
type dated struct {
	at    time.Time
	name  string
	given args
}

// threeYears is a parcel's over three years, with everything told again.
var threeYears = []dated{
	{date(2021, 1, 31), "Create", args{"total_cents": 100}},
	{date(2021, 2, 1), "Create", args{"total_cents": 100}},
	{date(2021, 2, 1), "Create", args{"total_cents": 101}},
	{date(2021, 3, 2), "Pay", nil},
	{date(2021, 4, 2), "Pay", nil},
	{date(2021, 4, 3), "Paid", args{"nr": "N1", "cents": 99}},
	{date(2021, 5, 3), "Paid", args{"nr": "N2", "cents": 100}},
	{date(2021, 6, 3), "Paid", args{"nr": "N2", "cents": 100}},
	{date(2021, 6, 4), "Paid", args{"nr": "N1", "cents": 100}},
	{date(2021, 6, 5), "Expire", nil},
	{date(2021, 6, 6), "Pay", nil},
	{date(2021, 6, 7), "Ship", args{"limit_cents": 99}},
	{date(2021, 6, 8), "Ship", args{"limit_cents": 100, "fsm_version": 1}},
	{date(2021, 3, 1), "Ship", args{"limit_cents": 100}}, // by a clock that is late: its entry is in an earlier partition
	{date(2023, 7, 1), "Ship", args{"limit_cents": 100}},
	{date(2023, 8, 1), "Correct", args{"fsm_to": "PENDING", "fsm_actor": "ann", "fsm_reason": "ticket"}},
	{date(2023, 8, 2), "Paid", args{"nr": "N3", "cents": 100}},
	{date(2023, 8, 3), "Paid", args{"nr": "N3", "cents": 100}},
}

// lived makes the calls, keeping the history between them, and returns what each was told.
func lived(t testing.TB, db *pgxpool.Pool, p program, partitioned bool) []string {
	t.Helper()
	var answers []string
	for _, s := range threeYears {
		given := args{"fsm_now": s.at}
		for name, value := range s.given {
			given[name] = value
		}
		if partitioned {
			kept(t, db, s.at)
		}
		told, err := p.call(s.name, given)(t.Context(), db)
		require.NoError(t, err)
		answers = append(answers, told)
	}
	return answers
}

// A life that crosses partitions is told as one in a whole history is, entry by
// entry.
func TestALifeOverPartitionsIsToldAsAnyOther(t *testing.T) {
	t.Parallel()
	everyStorage(t, func(t *testing.T, s storage, k keyed) {
		whole := machineOf(t, s.definition(k))
		parts := machineOf(t, cutBy(s.definition(k), "{partition: month}"))
		db, p := migrated(t, whole), programOf(t, whole, nil, k.args)
		dbParts, pParts := migrated(t, parts), programOf(t, parts, nil, k.args)
		want := lived(t, db, p, false)
		require.Equal(t, want, lived(t, dbParts, pParts, true))
		require.Equal(t, "Replayed SHIPPED 4 - ship PAID>SHIPPED 4", want[14])
		require.Equal(t, p.history(t, db), pParts.history(t, dbParts))
		var tables int
		require.NoError(t, dbParts.QueryRow(t.Context(), "SELECT count(DISTINCT tableoid) FROM parcel_history").Scan(&tables))
		require.Equal(t, 4, tables, "January, March, May, and August two years later")
	})
}

// What was dropped of a history no longer says who made the row so. Nothing
// else changes: what was told is Replayed or Mismatched by its fact, whose
// identity is unique however old it is.
func TestAnswersOutliveTheHistory(t *testing.T) {
	t.Parallel()
	m := machineOf(t, inParts("{partition: month, keep: 60d}"))
	db, p := migrated(t, m), programOf(t, m, nil, keys[0].args)
	at := func(year int, given args) args {
		given["fsm_now"] = date(year, 1, 15)
		return given
	}
	kept(t, db, date(2021, 1, 15))
	p.says(t, db, "Applied PENDING 1 - create >PENDING 1", "Create", at(2021, args{"total_cents": 100}))
	p.says(t, db, "Applied PAYING 2 - pay PENDING>PAYING 2", "Pay", at(2021, args{}))
	p.says(t, db, "Compensated PAYING 2 - paid PAYING>PAYING 2", "Paid", at(2021, args{"nr": "N1", "cents": 99}))
	p.says(t, db, "Replayed PAYING 2 - pay PENDING>PAYING 2", "Pay", at(2021, args{}))
	require.Contains(t, kept(t, db, date(2023, 1, 15)), "20210101 dropped")
	require.Empty(t, places(t, db))

	p.says(t, db, "Replayed PAYING 2 -  > 0", "Pay", at(2023, args{}))
	p.says(t, db, "Ignored PAYING 2 -  > 0", "Expire", at(2023, args{}))
	p.says(t, db, "Replayed PAYING 2 - create >PENDING 1", "Create", at(2023, args{"total_cents": 100}))
	p.says(t, db, "Replayed PAYING 2 - paid PAYING>PAYING 2", "Paid", at(2023, args{"nr": "N1", "cents": 99}))
	p.says(t, db, "Mismatched PAYING 2 - paid PAYING>PAYING 2", "Paid", at(2023, args{"nr": "N1", "cents": 100}))
	p.says(t, db, "Applied PAID 3 - paid PAYING>PAID 3", "Paid", at(2023, args{"nr": "N2", "cents": 100}))
	p.says(t, db, "Replayed PAID 3 - paid PAYING>PAID 3", "Paid", at(2023, args{"nr": "N2", "cents": 100}))
	require.Equal(t, "20230101 3", places(t, db))
	require.Contains(t, kept(t, db, date(2025, 1, 15)), "20230101 dropped")
	p.says(t, db, "Replayed PAID 3 - paid PAYING>PAID 3", "Paid", at(2025, args{"nr": "N2", "cents": 100}))
	var facts int
	require.NoError(t, db.QueryRow(t.Context(), "SELECT count(*) FROM parcel_facts").Scan(&facts))
	require.Equal(t, 2, facts, "each counted once")
}

// A deleted row takes its history along from every partition, and its key
// begins anew.
func TestADeletedRowLeavesNoPartitionAnything(t *testing.T) {
	t.Parallel()
	m := machineOf(t, inParts("{partition: month}"))
	db, p := migrated(t, m), programOf(t, m, nil, keys[0].args)
	lived(t, db, p, true)
	require.NotEmpty(t, places(t, db))
	_, err := db.Exec(t.Context(), "DELETE FROM parcels WHERE id = 7")
	require.NoError(t, err)
	require.Empty(t, places(t, db))
	p.says(t, db, "Applied PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 100})
}

// Partitions cost nothing where a call writes or its fact is known: the history
// is asked by a function, which then is not called.
func TestTheHistoryIsAskedOnlyWhereItSaysSomething(t *testing.T) {
	t.Parallel()
	m := machineOf(t, inParts("{partition: month}"))
	db, p := migrated(t, m), programOf(t, m, nil, keys[0].args)
	_, err := db.Exec(t.Context(), `CREATE OR REPLACE FUNCTION parcel_history_last(bigint, text) RETURNS SETOF parcel_history LANGUAGE plpgsql STABLE STRICT AS $$
		BEGIN RAISE 'the history is asked'; END $$`)
	require.NoError(t, err)
	paid := args{"nr": "N1", "cents": 100}
	p.says(t, db, "Applied PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 100})
	p.says(t, db, "Applied PAYING 2 - pay PENDING>PAYING 2", "Pay", nil)
	p.says(t, db, "Applied PAID 3 - paid PAYING>PAID 3", "Paid", paid)
	p.says(t, db, "Replayed PAID 3 - paid PAYING>PAID 3", "Paid", paid)
	p.says(t, db, "Compensated PAID 3 - paid PAID>PAID 3", "Paid", args{"nr": "N2", "cents": 100})
	_, err = p.call("Pay", nil)(t.Context(), db)
	require.ErrorContains(t, err, "the history is asked")
}
