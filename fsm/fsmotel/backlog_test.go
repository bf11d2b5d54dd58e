package fsmotel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fsmotel"
)

var machines = []fsmotel.Deadline{{Machine: "order", Table: "orders"}, {Machine: "payment", Table: "public.payments", Column: "deadline_at"}}

// waiting puts something into every backlog: three messages, one key held and one
// parked, two events that wait and one dead, and two orders that are overdue.
func (s *stand) waiting() {
	s.t.Helper()
	for _, sql := range []string{
		`INSERT INTO fsm_outbox_holds (machine, key, tries, error, since, next_at) VALUES ('order', 'b', 1, '', now(), now()), ('order', 'c', 1, '', now(), NULL)`,
		`INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
		 SELECT 'order', k, 1, 'pay', 'order_paid', '{}', now() - interval '2 hours' FROM unnest(ARRAY['a', 'b', 'c']) AS k`,
		`INSERT INTO fsm_deliveries (provider, message_id, digest) VALUES ('stripe', 'm', '')`,
		`INSERT INTO fsm_inbox (provider, event_id, type, object, status, fingerprint, delivery_id, state, due_at, gives_up_at, ended_at)
		 SELECT 'stripe', e.id, '', '', '', '', d.id, e.state, e.due, now(), CASE WHEN e.state = 'dead' THEN now() END
		 FROM fsm_deliveries AS d, (VALUES ('1', 'parked', now() - interval '3 hours'), ('2', 'received', now() + interval '1 minute'), ('3', 'dead', NULL)) AS e (id, state, due)`,
		`UPDATE orders SET deadline_at = now() - interval '1 hour' WHERE order_id <> '` + string(orderC) + `'`,
	} {
		_, err := s.pool.Exec(s.t.Context(), sql)
		require.NoError(s.t, err)
	}
}

// selecting is a pool whose role may do nothing but SELECT from what is watched.
func (s *stand) selecting() *pgxpool.Pool {
	s.t.Helper()
	role := "pawl_reader_" + strings.ReplaceAll(s.pool.Config().ConnConfig.Database, "-", "_")
	for _, sql := range []string{
		"CREATE ROLE " + role,
		"GRANT SELECT ON fsm_outbox, fsm_outbox_holds, fsm_inbox, orders, payments TO " + role,
	} {
		_, err := s.pool.Exec(s.t.Context(), sql)
		require.NoError(s.t, err)
	}
	config := s.pool.Config()
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SET ROLE "+role)
		return err
	}
	pool, err := pgxpool.NewWithConfig(s.t.Context(), config)
	require.NoError(s.t, err)
	s.t.Cleanup(func() {
		pool.Close()
		for _, sql := range []string{"DROP OWNED BY " + role, "DROP ROLE " + role} {
			_, err := s.pool.Exec(context.Background(), sql)
			require.NoError(s.t, err)
		}
	})
	return pool
}

func TestWhatWaitsIsAskedByAReader(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.orders(orderA, orderB, orderC)
	s.waiting()
	_, err := s.Watch(fsmotel.Backlog{DB: s.selecting(), Outbox: true, Inbox: true, Deadlines: machines})
	require.NoError(t, err)
	// Whoever writes, and whoever keeps others from writing, is in nobody's way.
	held, err := s.pool.Begin(t.Context())
	require.NoError(t, err)
	for _, table := range []string{"fsm_outbox", "fsm_outbox_holds", "fsm_inbox", "orders", "payments"} {
		_, err := held.Exec(t.Context(), "LOCK TABLE "+table+" IN EXCLUSIVE MODE")
		require.NoError(t, err)
	}
	points := s.read()
	require.NoError(t, held.Rollback(t.Context()))
	for name, hours := range map[string]float64{"pawl.outbox.lag": 2, "pawl.inbox.lag": 3, "pawl.deadline.lag pawl.machine=order": 1} {
		require.InDelta(t, hours*3600, points[name], 60, name)
		delete(points, name)
	}
	require.Equal(t, map[string]float64{
		"pawl.outbox.waiting":                            3,
		"pawl.outbox.holds pawl.parked=false":            1,
		"pawl.outbox.holds pawl.parked=true":             1,
		"pawl.inbox.waiting":                             2,
		"pawl.inbox.dead":                                1,
		"pawl.deadline.overdue pawl.machine=order":       2,
		"pawl.deadline.overdue pawl.machine=payment":     0,
		"pawl.deadline.lag pawl.machine=payment":         0,
		"pawl.backlog.up pawl.part=outbox":               1,
		"pawl.backlog.up pawl.part=inbox":                1,
		"pawl.backlog.up pawl.part=deadlines of order":   1,
		"pawl.backlog.up pawl.part=deadlines of payment": 1,
	}, points)
}

func TestNothingWaits(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	_, err := s.Watch(fsmotel.Backlog{DB: s.pool, Outbox: true, Inbox: true, Deadlines: machines})
	require.NoError(t, err)
	for name, v := range s.read() {
		if !strings.HasPrefix(name, "pawl.backlog.up ") {
			require.Zero(t, v, name)
		}
	}
}

func TestACountIsBounded(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.orders(orderA, orderB)
	s.waiting()
	_, err := s.Watch(fsmotel.Backlog{DB: s.pool, Outbox: true, Inbox: true, Deadlines: machines[:1], Most: 1})
	require.NoError(t, err)
	points := s.read()
	for _, name := range []string{"pawl.outbox.waiting", "pawl.inbox.waiting", "pawl.inbox.dead", "pawl.deadline.overdue pawl.machine=order"} {
		require.InDelta(t, 1, points[name], 0, name)
	}
	require.InDelta(t, 1, points["pawl.outbox.holds pawl.parked=false"]+points["pawl.outbox.holds pawl.parked=true"], 0)
}

// What cannot be asked says so, and keeps nothing else from being asked.
func TestWhatCannotBeAsked(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.orders(orderA)
	_, err := s.Watch(fsmotel.Backlog{DB: s.pool, Outbox: true, Inbox: true, Deadlines: machines, Timeout: 6 * time.Second})
	require.NoError(t, err)
	_, err = s.pool.Exec(t.Context(), "ALTER TABLE payments RENAME TO gone")
	require.NoError(t, err)
	held, err := s.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), "LOCK TABLE fsm_outbox IN ACCESS EXCLUSIVE MODE") // the first to be asked
	require.NoError(t, err)
	points, err := s.collect()
	require.ErrorContains(t, err, "backlog of outbox: ")
	require.ErrorContains(t, err, "backlog of deadlines of payment: ")
	require.NoError(t, held.Rollback(t.Context()))
	require.Equal(t, map[string]float64{
		"pawl.part=outbox": 0, "pawl.part=inbox": 1, "pawl.part=deadlines of order": 1, "pawl.part=deadlines of payment": 0,
	}, some(points, "pawl.backlog.up"))
	require.NotContains(t, points, "pawl.outbox.waiting", "no figure is better than an old one")
	require.Contains(t, points, "pawl.inbox.waiting")
}

// A project without a relay has an outbox and no table of what a relay holds up.
func TestAnOutboxWithoutARelay(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.orders(orderA)
	s.waiting()
	_, err := s.pool.Exec(t.Context(), "DROP TABLE fsm_outbox_holds CASCADE")
	require.NoError(t, err)
	_, err = s.Watch(fsmotel.Backlog{DB: s.pool, Outbox: true})
	require.NoError(t, err)
	points := s.read()
	require.InDelta(t, 1, points["pawl.backlog.up pawl.part=outbox"], 0)
	require.InDelta(t, 3, points["pawl.outbox.waiting"], 0)
	require.Empty(t, some(points, "pawl.outbox.holds"))
}

// frozen is a database that answers nothing, as one under SIGSTOP.
type frozen struct{ fsm.DB }

func (frozen) QueryRow(ctx context.Context, _ string, _ ...any) pgx.Row { return noAnswer{ctx} }

type noAnswer struct{ ctx context.Context }

func (r noAnswer) Scan(...any) error {
	<-r.ctx.Done()
	return r.ctx.Err()
}

// However many questions there are: whoever collects waits for the one limit.
func TestAFrozenDatabaseKeepsNoMetricsFromAnybody(t *testing.T) {
	t.Parallel()
	for limit, want := range map[time.Duration]time.Duration{0: 2 * time.Second, 3 * time.Second: 3 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := &stand{t: t, reader: metric.NewManualReader()}
			var err error
			s.Telemetry, err = fsmotel.New(fsmotel.Config{Meters: metric.NewMeterProvider(metric.WithReader(s.reader))})
			require.NoError(t, err)
			_, err = s.Watch(fsmotel.Backlog{DB: frozen{}, Outbox: true, Inbox: true, Deadlines: machines, Timeout: limit})
			require.NoError(t, err)
			begun := time.Now()
			points, err := s.collect()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, want, time.Since(begun))
			require.Equal(t, map[string]float64{
				"pawl.part=outbox": 0, "pawl.part=inbox": 0, "pawl.part=deadlines of order": 0, "pawl.part=deadlines of payment": 0,
			}, some(points, "pawl.backlog.up"))
		})
	}
}

func TestABacklogThatCannotBe(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	for _, b := range []fsmotel.Backlog{{}, {DB: (*pgxpool.Pool)(nil)}, {DB: s.pool, Most: -1}, {DB: s.pool, Timeout: -1}} {
		_, err := s.Watch(b)
		require.ErrorIs(t, err, fsm.ErrArgument)
	}
}

// The statements say which indexes serve them, and these do: no entry is read that is
// not counted, however many there are, but of the first entries those of infinite times.
func TestIndexesServeTheQuestions(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	tx, err := s.pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	_, err = tx.Exec(t.Context(), "SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off")
	require.NoError(t, err)
	for _, q := range fsmotel.Questions(machines[0]) {
		rows, err := tx.Query(t.Context(), "EXPLAIN "+q.SQL, 10)
		require.NoError(t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		plan := strings.Join(lines, "\n")
		require.NotContains(t, plan, "Seq Scan")
		require.NotContains(t, plan, "Sort")
		require.NotContains(t, plan, "LockRows")
		require.NotContains(t, strings.ReplaceAll(plan, "Filter: isfinite(f.at)", ""), "Filter")
		require.NotEmpty(t, q.Indexes)
		for _, index := range q.Indexes {
			require.Contains(t, plan, " using "+index+" on ", fmt.Sprint(q.Indexes))
		}
	}
}

// A time that is infinite ends no figure: what is due since ever is counted, and of the
// others it is told for how long.
func TestAnInfiniteTimeEndsNoFigure(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.orders(orderA, orderB, orderC)
	s.waiting()
	_, err := s.Watch(fsmotel.Backlog{DB: s.pool, Outbox: true, Inbox: true, Deadlines: machines})
	require.NoError(t, err)
	set := func(at string) map[string]float64 {
		t.Helper()
		_, err := s.pool.Exec(t.Context(), `UPDATE orders SET deadline_at = `+at+` WHERE order_id = '`+string(orderC)+`'`)
		require.NoError(t, err)
		_, err = s.pool.Exec(t.Context(), `UPDATE fsm_inbox SET due_at = `+at+` WHERE event_id = '2'`)
		require.NoError(t, err)
		_, err = s.pool.Exec(t.Context(), `UPDATE fsm_outbox SET at = CASE WHEN id = (SELECT min(id) FROM fsm_outbox) THEN timestamptz `+at+` ELSE now() - interval '2 hours' END`)
		require.NoError(t, err)
		return s.read()
	}
	for _, infinite := range []string{"'-infinity'", "'infinity'"} {
		points := set(infinite)
		require.EqualValues(t, map[string]int{"'-infinity'": 3, "'infinity'": 2}[infinite], points["pawl.deadline.overdue pawl.machine=order"])
		require.EqualValues(t, 2, points["pawl.inbox.waiting"])
		require.InDelta(t, 3600, points["pawl.deadline.lag pawl.machine=order"], 60)
		require.InDelta(t, 3*3600, points["pawl.inbox.lag"], 60)
		require.InDelta(t, 2*3600, points["pawl.outbox.lag"], 60)
	}
	_, err = s.pool.Exec(t.Context(), `UPDATE orders SET deadline_at = '-infinity'; UPDATE fsm_inbox SET due_at = 'infinity' WHERE due_at IS NOT NULL`)
	require.NoError(t, err)
	points := s.read()
	require.EqualValues(t, 3, points["pawl.deadline.overdue pawl.machine=order"])
	require.Contains(t, points, "pawl.inbox.lag")
	require.Zero(t, points["pawl.deadline.lag pawl.machine=order"])
	require.Zero(t, points["pawl.inbox.lag"])
}
