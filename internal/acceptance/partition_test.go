package acceptance

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
)

// inParts is the parcel with its history in partitions, as history says.
func inParts(history string) string { return cutBy(storages[0].definition(keys[0]), history) }

// cutBy is a definition with its history in partitions.
func cutBy(definition, history string) string {
	return strings.Replace(definition, "  columns:", "  history: "+history+"\n  columns:", 1)
}

// kept calls the upkeep as of a time and tells what it did, past the partitions
// that the migration makes for today.
func kept(t testing.TB, db fsm.DB, asOf time.Time) string {
	t.Helper()
	told, err := keep(asOf)(t.Context(), db)
	require.NoError(t, err)
	return told
}

func keep(asOf time.Time) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		parts, err := fsm.KeepHistory(ctx, db, "parcel", "parcel_history_keep", asOf)
		var told []string
		for _, p := range parts {
			told = append(told, fmt.Sprintf("%s %s %d", strings.TrimPrefix(p.Partition, "parcel_history_"), p.Did, p.Entries))
		}
		return strings.Join(told, ", "), err
	}
}

// places tells in which partitions the entries of the row are, by version.
func places(t testing.TB, db *pgxpool.Pool) string {
	t.Helper()
	var text string
	require.NoError(t, db.QueryRow(t.Context(), `SELECT COALESCE(string_agg(replace(tableoid::regclass::text, 'parcel_history_', '') || ' ' || version, ', ' ORDER BY version), '')
		FROM parcel_history WHERE id = 7`).Scan(&text))
	return text
}

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 12, 0, 0, 0, time.UTC)
}

// Partitions come ahead of a clock that is given, each with the entries of its
// time that were there before it, and go when all of them are old.
func TestPartitionsComeAndGo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ history, first, again, later, gone string }{
		{
			"{partition: month, keep: 60d}",
			"20230101 created 1, 20230201 created 1, 20230301 created 0, 20230401 created 0", "",
			"20230501 created 0, 20230601 created 0",
			"20230701 created 0, 20230801 created 0, 20230901 created 0, 20231001 created 0, 20230101 dropped 0, 20230201 dropped 0, 20230301 dropped 0, 20230401 dropped 0",
		}, {
			"{partition: week, keep: 60d}",
			"20230109 created 1, 20230116 created 0, 20230123 created 0, 20230130 created 0", "20230206 created 0, 20230213 created 1",
			"20230320 created 0, 20230327 created 0, 20230403 created 0, 20230410 created 0, 20230109 dropped 0",
			"20230710 created 0, 20230717 created 0, 20230724 created 0, 20230731 created 0, 20230116 dropped 0, 20230123 dropped 0, 20230130 dropped 0, 20230206 dropped 0, 20230213 dropped 0, 20230320 dropped 0, 20230327 dropped 0, 20230403 dropped 0, 20230410 dropped 0",
		}, {
			"{partition: day}",
			"20230115 created 1, 20230116 created 0, 20230117 created 0, 20230118 created 0", "",
			"20230217 created 1, 20230320 created 0, 20230321 created 0, 20230322 created 0, 20230323 created 0",
			"20230715 created 0, 20230716 created 0, 20230717 created 0, 20230718 created 0",
		},
	} {
		t.Run(c.history, func(t *testing.T) {
			t.Parallel()
			m := machineOf(t, inParts(c.history))
			db, p := migrated(t, m), programOf(t, m, nil, keys[0].args)
			p.says(t, db, "Applied PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 100, "fsm_now": date(2023, 1, 15)})
			p.says(t, db, "Applied PAYING 2 - pay PENDING>PAYING 2", "Pay", args{"fsm_now": date(2023, 2, 17)})
			require.Equal(t, "rest 1, rest 2", places(t, db), "an entry is not refused for its time")
			require.Equal(t, c.first, kept(t, db, date(2023, 1, 15)))
			require.Empty(t, kept(t, db, date(2023, 1, 15)))
			if c.again != "" {
				require.Equal(t, c.again, kept(t, db, date(2023, 1, 29)))
			}
			require.Equal(t, c.later, kept(t, db, date(2023, 3, 20)))
			require.Equal(t, c.gone, kept(t, db, date(2023, 7, 15)))
			require.Empty(t, kept(t, db, date(2023, 7, 15)))
		})
	}
}

// Old entries that no partition has are deleted, and no clock of a caller makes
// entries old that the server's clock does not.
func TestWhatIsDroppedIsOldByTheServersClockToo(t *testing.T) {
	t.Parallel()
	m := machineOf(t, inParts("{partition: month, keep: 30d}"))
	db, p := migrated(t, m), programOf(t, m, nil, keys[0].args)
	p.says(t, db, "Applied PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 100, "fsm_now": date(2020, 1, 15)})
	p.says(t, db, "Applied PAYING 2 - pay PENDING>PAYING 2", "Pay", args{"fsm_now": time.Now()})
	require.Regexp(t, `^rest 1, \d{8} 2$`, places(t, db))
	require.Regexp(t, `^99990101 created 0, 99990201 created 0, 99990301 created 0, 99990401 created 0, rest deleted 1$`, kept(t, db, date(9999, 1, 1)))
	require.Regexp(t, `^\d{8} 2$`, places(t, db), "what was written today is there")

	for _, asOf := range []string{"NULL", "'infinity'", "'-infinity'"} {
		_, err := db.Exec(t.Context(), "SELECT parcel_history_keep("+asOf+")")
		require.ErrorContains(t, err, "as_of must be a time (SQLSTATE 22023)")
	}
	_, err := keep(time.Time{})(t.Context(), db)
	require.ErrorIs(t, err, fsm.ErrArgument)
	_, err = fsm.KeepHistory(t.Context(), nil, "parcel", "parcel_history_keep", date(2023, 1, 1))
	require.ErrorIs(t, err, fsm.ErrArgument)
	_, err = fsm.KeepHistory(t.Context(), db, "parcel", "no_such_function", date(2023, 1, 1))
	require.ErrorIs(t, err, fsm.ErrNothingDone)
}

// Calls that come at once take turns: each waits before it has read anything, so
// that none of them can be the victim of a deadlock.
func TestManyKeepTheHistoryAtOnce(t *testing.T) {
	t.Parallel()
	m := machineOf(t, inParts("{partition: month, keep: 60d}"))
	db, p := migrated(t, m), programOf(t, m, nil, keys[0].args)
	held, err := db.Begin(t.Context()) // so that all of them have come before one can go on
	require.NoError(t, err)
	defer func() { _ = held.Rollback(context.WithoutCancel(t.Context())) }()
	p.says(t, held, "Applied PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 100, "fsm_now": date(2031, 1, 15)})
	var calls []<-chan answer
	for range 3 {
		conn, err := db.Acquire(t.Context())
		require.NoError(t, err)
		defer conn.Release()
		_, err = conn.Exec(t.Context(), "SET lock_timeout = '60s'")
		require.NoError(t, err)
		done := start(t.Context(), conn, keep(date(2031, 1, 15)))
		waitUntilBlocked(t, db, pidOf(conn.Conn()), done)
		calls = append(calls, done)
	}
	require.NoError(t, held.Commit(t.Context()))
	first := finish(t, calls[0])
	require.NoError(t, first.err)
	require.Equal(t, "20310101 created 1, 20310201 created 0, 20310301 created 0, 20310401 created 0", first.told)
	for _, done := range calls[1:] {
		require.Equal(t, answer{}, finish(t, done))
	}
}

// Of two that keep the history at once, the second waits, and finds it done.
func TestTwoKeepTheHistoryAtOnce(t *testing.T) {
	t.Parallel()
	m := machineOf(t, inParts("{partition: month, keep: 60d}"))
	db, p := migrated(t, m), programOf(t, m, nil, keys[0].args)
	p.says(t, db, "Applied PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 100, "fsm_now": date(2023, 1, 15)})

	first, err := db.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = first.Rollback(context.WithoutCancel(t.Context())) }()
	require.Contains(t, kept(t, first, date(2023, 1, 15)), "20230101 created 1")
	second, err := db.Acquire(t.Context())
	require.NoError(t, err)
	defer second.Release()
	_, err = second.Exec(t.Context(), "SET lock_timeout = '60s'") // the caller's, so that the function has none of its own
	require.NoError(t, err)
	done := start(t.Context(), second, keep(date(2023, 1, 15)))
	waitUntilBlocked(t, db, pidOf(second.Conn()), done)
	require.NoError(t, first.Commit(t.Context()))
	require.Equal(t, answer{}, finish(t, done))
	require.Equal(t, "20230101 1", places(t, db))
	var patience string
	require.NoError(t, second.QueryRow(t.Context(), "SHOW lock_timeout").Scan(&patience))
	require.Equal(t, "1min", patience)
}

// A history that somebody holds is left alone after a while, whatever the
// caller says of locks, and the next call does the work.
func TestKeepingGivesUpRatherThanHoldEverybodyUp(t *testing.T) {
	t.Parallel()
	m := machineOf(t, inParts("{partition: month}"))
	db, p := migrated(t, m), programOf(t, m, nil, keys[0].args)
	held, err := db.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = held.Rollback(context.WithoutCancel(t.Context())) }()
	p.says(t, held, "Applied PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 100, "fsm_now": date(2023, 1, 15)})
	conn, err := db.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	for _, patience := range []string{"1ms", "0"} {
		_, err = conn.Exec(t.Context(), "SET lock_timeout = '"+patience+"'")
		require.NoError(t, err)
		err := finish(t, start(t.Context(), conn, keep(date(2023, 1, 15)))).err
		require.ErrorIs(t, err, fsm.ErrNothingDone)
		require.True(t, fsm.Retryable(err), "%v", err)
	}
	require.NoError(t, held.Commit(t.Context()))
	require.Contains(t, kept(t, conn, date(2023, 1, 15)), "20230101 created 1")
}

// A role that could not do the work is told so on days without any, too.
func TestKeepingIsForTheOwner(t *testing.T) {
	t.Parallel()
	db := migrated(t, machineOf(t, inParts("{partition: month}")))
	require.Empty(t, kept(t, db, time.Now()), "there is nothing to do")
	conn, err := db.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	role := func(sql string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	for _, c := range []struct{ grants, want string }{
		{"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO pg_monitor; GRANT CREATE ON SCHEMA public TO pg_monitor", "the role pg_monitor must own the table parcel_history"},
		{"REVOKE CREATE ON SCHEMA public FROM PUBLIC, pg_monitor; ALTER TABLE parcel_history OWNER TO pg_monitor", "may create tables in its schema"},
	} {
		role(c.grants)
		role("SET ROLE pg_monitor")
		_, err := keep(time.Now())(t.Context(), conn)
		require.ErrorIs(t, err, fsm.ErrNothingDone)
		require.False(t, fsm.Retryable(err))
		require.ErrorContains(t, err, c.want)
		role("RESET ROLE")
	}
	role("GRANT CREATE ON SCHEMA public TO pg_monitor; ALTER TABLE parcel_history_rest OWNER TO pg_monitor; SET ROLE pg_monitor")
	require.Empty(t, kept(t, conn, time.Now()))
	role("RESET ROLE")
}

// An entry that is written while partitions are made waits, and is in its own.
func TestAnEntryWaitsForItsPartition(t *testing.T) {
	t.Parallel()
	m := machineOf(t, inParts("{partition: month}"))
	db, p := migrated(t, m), programOf(t, m, nil, keys[0].args)
	p.says(t, db, "Applied PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 100, "fsm_now": date(2023, 1, 15)})
	maker, err := db.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = maker.Rollback(context.WithoutCancel(t.Context())) }()
	kept(t, maker, date(2023, 1, 15))
	conn, err := db.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	done := start(t.Context(), conn, p.call("Pay", args{"fsm_now": date(2023, 2, 17)}))
	waitUntilBlocked(t, db, pidOf(conn.Conn()), done)
	require.NoError(t, maker.Commit(t.Context()))
	require.Equal(t, answer{told: "Applied PAYING 2 - pay PENDING>PAYING 2"}, finish(t, done))
	require.Equal(t, "20230101 1, 20230201 2", places(t, db))
}

// The database may be set to any level: an entry that comes while the upkeep
// waits is there when it goes on.
func TestKeepingIsReadCommittedWhateverTheDefault(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"repeatable read", "serializable"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			m := machineOf(t, inParts("{partition: month, keep: 60d}"))
			db, p := migrated(t, m), programOf(t, m, nil, keys[0].args)
			held, err := db.Begin(t.Context())
			require.NoError(t, err)
			defer func() { _ = held.Rollback(context.WithoutCancel(t.Context())) }()
			p.says(t, held, "Applied PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 100, "fsm_now": date(2031, 1, 15)})
			conn, err := db.Acquire(t.Context())
			require.NoError(t, err)
			defer conn.Release()
			_, err = conn.Exec(t.Context(), "SET lock_timeout = '60s'; SET default_transaction_isolation = '"+level+"'")
			require.NoError(t, err)
			done := start(t.Context(), conn, keep(date(2031, 1, 15)))
			waitUntilBlocked(t, db, pidOf(conn.Conn()), done)
			require.NoError(t, held.Commit(t.Context()))
			require.Equal(t, answer{told: "20310101 created 1, 20310201 created 0, 20310301 created 0, 20310401 created 0"}, finish(t, done))
		})
	}
}

// On a connection on which somebody has said BEGIN, the end is theirs to say.
func TestKeepingLeavesATransactionThatWasBegunByHand(t *testing.T) {
	t.Parallel()
	m := machineOf(t, inParts("{partition: month}"))
	db := migrated(t, m)
	conn, err := db.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	_, err = conn.Exec(t.Context(), "BEGIN")
	require.NoError(t, err)
	made := kept(t, conn, date(2031, 1, 15))
	require.Contains(t, made, "20310101 created 0")
	_, err = conn.Exec(t.Context(), "ROLLBACK")
	require.NoError(t, err)
	require.Equal(t, made, kept(t, db, date(2031, 1, 15)), "nothing of it was committed")
}

// An old partition that a view reads stays, and says why each time; all others
// are made and dropped beside it.
func TestAPartitionThatCannotBeDropped(t *testing.T) {
	t.Parallel()
	m := machineOf(t, inParts("{partition: month, keep: 60d}"))
	db := migrated(t, m)
	require.Contains(t, kept(t, db, date(2020, 1, 1)), "20200101 created 0")
	_, err := db.Exec(t.Context(), "CREATE VIEW reader AS SELECT * FROM parcel_history_20200101")
	require.NoError(t, err)
	told := kept(t, db, date(2023, 1, 15))
	require.Equal(t, "20230101 created 0, 20230201 created 0, 20230301 created 0, 20230401 created 0, "+
		"20200101 not dropped 0, 20200201 dropped 0, 20200301 dropped 0, 20200401 dropped 0", told)
	parts, err := fsm.KeepHistory(t.Context(), db, "parcel", "parcel_history_keep", date(2023, 1, 15))
	require.NoError(t, err)
	require.Equal(t, []fsm.HistoryPart{{
		Partition: "parcel_history_20200101", Did: "not dropped",
		Why: "cannot drop table parcel_history_20200101 because other objects depend on it",
	}}, parts)
	var attached int
	require.NoError(t, db.QueryRow(t.Context(), "SELECT count(*) FROM pg_inherits WHERE inhrelid = 'parcel_history_20200101'::regclass").Scan(&attached))
	require.Equal(t, 1, attached, "it is attached as before")
	_, err = db.Exec(t.Context(), "DROP VIEW reader")
	require.NoError(t, err)
	require.Equal(t, "20200101 dropped 0", kept(t, db, date(2023, 1, 15)))
}
