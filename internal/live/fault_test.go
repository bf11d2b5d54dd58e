package live

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/model"
)

// Times that no clock has shown, and a status that is NULL, neither end a figure nor count
// as news; what cannot be read at all is no reason to say that the database is away.
func TestOddValuesEndNoFigure(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	b.create(second)
	db, m := b.open(), named(t, machines(t), "order")
	b.exec("ALTER TABLE order_history DISABLE TRIGGER USER; ALTER TABLE orders DISABLE TRIGGER USER")
	b.exec(`INSERT INTO order_history (order_id, version, event, from_status, to_status, at) VALUES ($1, 98, 'ship', 'PAID', 'SHIPPED', 'infinity'), ($1, 99, 'ship', 'PAID', 'SHIPPED', now() + interval '1 day')`, first)
	moves, err := db.Moves(t.Context(), m)
	require.NoError(t, err)
	require.Len(t, moves.Moves, 1)
	require.EqualValues(t, 2, moves.Moves[0].N, "the two that were created")

	b.exec("ALTER TABLE orders ALTER status DROP NOT NULL")
	b.exec("UPDATE orders SET status = NULL, deadline_at = now() - interval '1 hour' WHERE order_id = $1", second)
	due, err := db.Deadlines(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, "NULL", due.Late[0].State)
	b.exec("UPDATE orders SET deadline_at = '-infinity' WHERE order_id = $1", first)
	due, err = db.Deadlines(t.Context(), m)
	require.NoError(t, err)
	require.EqualValues(t, 2, due.Overdue, "the sweep takes it too")
	require.Len(t, due.Late, 1)
	b.exec("UPDATE orders SET deadline_at = 'infinity' WHERE order_id = $1", first)
	due, err = db.Deadlines(t.Context(), m)
	require.NoError(t, err)
	require.EqualValues(t, 1, due.Overdue)

	b.tell("stripe", "ev_1", "paid", "p1", "done")
	b.tell("stripe", "ev_2", "paid", "p2", "done")
	for _, infinite := range []string{"-infinity", "infinity"} {
		b.exec("UPDATE fsm_inbox SET state = 'parked', ended_at = NULL, due_at = CASE event_id WHEN 'ev_1' THEN $1::timestamptz ELSE now() - interval '1 hour' END", infinite)
		lags, err := db.Lags(t.Context(), machines(t))
		require.NoError(t, err)
		require.Empty(t, lags.Failed)
		require.EqualValues(t, 2, lags.Inbox.Waiting)
		require.InDelta(t, time.Hour, lags.Inbox.Late, float64(time.Minute))
		require.Len(t, lags.Inbox.Events, 2)
	}
	b.exec(`INSERT INTO fsm_outbox_sent (id, machine, key, version, event, topic, payload, at, sent_at)
SELECT id + n * 1000, machine, key, version, event, topic, payload, at, CASE n WHEN 1 THEN timestamptz 'infinity' ELSE now() - interval '1 hour' END FROM fsm_outbox, generate_series(1, 2) AS n`)
	b.exec(`UPDATE fsm_outbox SET at = CASE WHEN id = (SELECT min(id) FROM fsm_outbox) THEN timestamptz 'infinity' ELSE now() - interval '2 hours' END`)
	b.exec(`INSERT INTO fsm_outbox_holds (machine, key, tries, error, since, next_at) VALUES ('order', 'k', 1, 'no', now(), 'infinity')`)
	outbox, err := db.Lags(t.Context(), machines(t))
	require.NoError(t, err)
	require.Empty(t, outbox.Failed)
	require.InDelta(t, 2*time.Hour, outbox.Outbox.Oldest, float64(time.Minute))
	require.InDelta(t, time.Hour, *outbox.Outbox.SentLast, float64(time.Minute))
	require.Len(t, outbox.Outbox.Holds, 1)
	require.Nil(t, outbox.Outbox.Holds[0].Next)
	b.exec("UPDATE fsm_inbox SET received_at = 'infinity' WHERE event_id = 'ev_1'")
	lags, err := db.Lags(t.Context(), machines(t))
	require.NoError(t, err)
	require.Len(t, lags.Failed, 1)
	require.Equal(t, "inbox", lags.Failed[0].Part)
	require.ErrorIs(t, lags.Failed[0].Err, ErrRead)
	require.NotEmpty(t, lags.Due, "the others are told")
}

// A server that takes long for many statements is slow, and not away.
func TestManySlowStatementsAreSlow(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	db := b.open()
	// The server has all the time it needs to end what it is asked to, on a busy machine, too.
	config := db.pool.Config()
	config.ConnConfig.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: time.Minute}
	}
	patient, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	defer patient.Close()
	db = &Database{pool: patient, role: db.role, quick: db.quick, long: db.long}
	asked := 0
	err = db.read(t.Context(), Quick, "", func(ctx context.Context, tx pgx.Tx) error {
		for {
			if _, err := tx.Exec(ctx, "SELECT pg_sleep(0.03)"); err != nil {
				return err
			}
			asked++
		}
	})
	require.ErrorIs(t, err, ErrSlow)
	require.NotErrorIs(t, err, ErrAway)
	require.NotZero(t, asked)
}

// A role that may read the columns that are shown, and not others such as payloads, is
// shown a row and what waits.
func TestColumnsThatAreShownAreEnough(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	require.Equal(t, fsm.Applied, b.pay(first, "p1", 100))
	role := b.role()
	b.exec("GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + role)
	b.exec("ALTER TABLE order_facts ADD COLUMN secret text; ALTER TABLE fsm_outbox_holds ADD COLUMN secret text")
	for table, columns := range map[string]string{
		"fsm_outbox_aside": "id, machine, key, version, event, topic, at, aside_at",
		"fsm_outbox_sent":  "id, machine, key, version, event, topic, at, sent_at",
		"fsm_outbox_holds": "id, machine, key, tries, error, since, next_at",
		"order_facts":      "order_id, event, identity, fingerprint, outcome, from_status, to_status, version, at",
	} {
		b.exec("REVOKE SELECT ON " + table + " FROM " + role + "; GRANT SELECT (" + columns + ") ON " + table + " TO " + role)
	}
	db, all := b.as(role), machines(t)
	life, err := db.Life(t.Context(), named(t, all, "order"), []string{first})
	require.NoError(t, err)
	require.Empty(t, life.Unread)
	lags, err := db.Lags(t.Context(), all)
	require.NoError(t, err)
	require.Empty(t, lags.Failed)
	found, errs := db.Find(t.Context(), all, "p1")
	require.Empty(t, errs)
	require.Len(t, found, 1)
}

// An index by which a question cannot go is none: of other rows, or in another order.
func TestIndexesThatDoNotHelp(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	b.exec(`CREATE INDEX ON order_history (at) WHERE forced`)
	b.exec(`CREATE INDEX ON orders (sku COLLATE "C")`)
	b.exec(`CREATE INDEX ON orders (customer_id) WHERE customer_id IS NOT NULL`)
	b.exec(`DROP INDEX orders_deadline_idx`)
	b.exec(`CREATE INDEX ON orders (deadline_at) WHERE status = 'PAYING'`)
	db, m := b.open(), named(t, machines(t), "order")
	look := func() (orders, history *relation) {
		require.NoError(t, db.read(t.Context(), Quick, "", func(ctx context.Context, tx pgx.Tx) error {
			found, err := lookUp(ctx, tx, "orders", "order_history")
			orders, history = found["orders"], found["order_history"]
			return err
		}))
		return orders, history
	}
	orders, history := look()
	require.False(t, history.ordered("at", "btree", "brin"))
	require.False(t, orders.lead("sku"))
	require.False(t, orders.lead("customer_id"))
	require.False(t, orders.ordered("deadline_at", "btree"))
	moves, err := db.Moves(t.Context(), m)
	require.NoError(t, err)
	require.False(t, moves.Indexed)
	require.Len(t, moves.Moves, 1)

	b.exec(`CREATE INDEX ON order_history USING brin (at)`)
	b.exec(`CREATE INDEX ON orders (sku, quantity)`)
	b.exec(`CREATE INDEX ON orders (deadline_at) WHERE deadline_at IS NOT NULL`)
	orders, history = look()
	require.True(t, history.ordered("at", "btree", "brin"))
	require.True(t, orders.lead("sku"))
	require.True(t, orders.ordered("deadline_at", "btree"))
}

// A consumer with more dead letters than are counted hides no other.
func TestEachConsumerHasItsLetters(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.exec(`INSERT INTO fsm_dead_letters (consumer, key, topic, message_id, payload, metadata, tries, error, at)
SELECT c.name, i::text, 't', 'm' || i, '', '{}', 1, '', now() FROM (VALUES ('a', $1::int + 5), ('b', 3)) AS c(name, n), generate_series(1, c.n) AS i`, Most)
	b.exec(`INSERT INTO fsm_dead_letters (consumer, key, topic, message_id, payload, metadata, tries, error, at, settled, settled_by, settled_why, settled_at)
VALUES ('c', 'k', 't', 'm', '', '{}', 1, '', now(), 'discarded', 'x', 'x', now())`)
	lags, err := b.open().Lags(t.Context(), nil)
	require.NoError(t, err)
	open := map[string]int64{}
	for _, c := range lags.Letters.Consumers {
		open[c.Name] = c.Open
	}
	require.Equal(t, map[string]int64{"a": Most, "b": 3}, open)
}

// What leads from a state to itself does not make a row's stay there shorter.
func TestALoopIsNoArrival(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	_, err := order.Pay(t.Context(), b.pool, first)
	require.NoError(t, err)
	_, err = order.QueryPayment(t.Context(), b.pool, first)
	require.NoError(t, err)
	require.EqualValues(t, 1, b.count("SELECT count(*) FROM order_history WHERE event = 'query_payment' AND from_status = to_status"))
	b.exec("UPDATE order_history SET at = now() - interval '2 hours' WHERE event = 'create'")
	b.exec("UPDATE order_history SET at = now() - interval '1 hour' WHERE event = 'pay'")
	oldest, err := b.open().Oldest(t.Context(), named(t, machines(t), "order"), Counts{Exact: true, States: []StateCount{{State: "PAYING", Declared: true, Rows: 1}}})
	require.NoError(t, err)
	require.Len(t, oldest, 1)
	require.InDelta(t, time.Hour.Seconds(), oldest[0].For.Seconds(), 300)
	require.True(t, oldest[0].Whole)
}

// A table in partitions is estimated by what is known of each, and by how it has grown.
func TestEstimateOfPartitions(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.exec(`CREATE TABLE split (id int, note text) PARTITION BY RANGE (id);
CREATE TABLE split_a PARTITION OF split FOR VALUES FROM (0) TO (10000); CREATE TABLE split_b PARTITION OF split FOR VALUES FROM (10000) TO (100000);
INSERT INTO split SELECT i, 'x' FROM generate_series(1, 20000) AS i`)
	b.exec("ANALYZE split_a")
	b.exec("ANALYZE split_b")
	b.exec("INSERT INTO split SELECT i, 'x' FROM generate_series(20001, 40000) AS i")
	db := b.open()
	require.NoError(t, db.read(t.Context(), Quick, "", func(ctx context.Context, tx pgx.Tx) error {
		found, err := lookUp(ctx, tx, "split")
		require.NoError(t, err)
		size, err := extentOf(ctx, tx, found["split"])
		require.NoError(t, err)
		require.InEpsilon(t, 40_000, size.rows(), 0.1)
		return nil
	}))
}

// A definition that changes takes its figures along: those of another table are not shown
// for its own.
func TestFiguresGoWithTheirDefinition(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	all := machines(t)
	elsewhere := define(t, "machine: order\ntable: {name: nowhere, key: {column: id, type: text}}\nstates: {A: {initial: true}, B: {final: true}}\nevents: {go: {}}\ntransitions: [{event: go, from: A, to: B}]\n")
	swap := make(chan struct{})
	w := NewWatch(b.open(), func() []*model.Machine {
		select {
		case <-swap:
			return []*model.Machine{elsewhere}
		default:
			return all
		}
	}, time.Now)
	t.Cleanup(w.Close)
	defer w.Look(Of("order"))()
	hear(t, w, Of("order"), func() bool { return w.Machine("order").Counts.Known() && w.Machine("order").Moves.Known() })
	close(swap)
	hear(t, w, Of("order"), func() bool { return w.Machine("order").Counts.Err != nil })
	v := w.Machine("order")
	require.ErrorIs(t, v.Counts.Err, ErrMissing)
	require.False(t, v.Counts.Known())
	require.False(t, v.Moves.Known())
}
