package live

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// One row's life has its history with who, why and for how long, what was told of it
// without moving it, and where its messages are.
func TestLifeOfARow(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	b.create(second)
	_, err := order.Pay(t.Context(), b.pool, first, fsm.Actor("ann"), fsm.Reason("by card"))
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, b.pay(first, "stripe:p1", 100))
	require.Equal(t, fsm.Compensated, b.pay(first, "p2", 100))
	b.tell("stripe", "ev_1", "paid", "p1", "done", "duplicate")
	b.tell("alipay", "ev_2", "paid", first, "stale")
	b.tell("alipay", "ev_3", "paid", "another", "done")
	b.exec(`INSERT INTO fsm_outbox_sent SELECT id, machine, key, version, event, topic, payload, at, now() FROM fsm_outbox WHERE topic = 'order_paid'`)
	b.exec(`DELETE FROM fsm_outbox WHERE topic = 'order_paid'`)
	b.exec(`INSERT INTO fsm_attempt_keys VALUES ('refund', 'p2', $1)`, second)
	b.exec(`INSERT INTO fsm_attempts (id, kind, business_key, request, created_at, due) VALUES ($1, 'refund', 'p2', '{}', now(), now())`, second)

	life, err := b.open().Life(t.Context(), named(t, machines(t), "order"), []string{first})
	require.NoError(t, err)
	require.True(t, life.There)
	require.Equal(t, "PAID", life.State)
	require.EqualValues(t, 3, life.Version)
	require.Equal(t, first, life.KeyText)
	type step struct {
		version         int64
		event, from, to string
		actor, reason   string
	}
	var steps []step
	for _, e := range life.Entries {
		steps = append(steps, step{e.Version, e.Event, e.From, e.To, e.Actor, e.Reason})
	}
	require.Equal(t, []step{
		{1, "create", "", "PENDING", "ann", ""},
		{2, "pay", "PENDING", "PAYING", "ann", "by card"},
		{3, "payment_succeeded", "PAYING", "PAID", "", ""},
	}, steps)
	require.Equal(t, "req-1", life.Entries[0].Request)
	require.Equal(t, life.Entries[1].At.Sub(life.Entries[0].At), life.Entries[0].Stayed)
	require.Equal(t, life.Now.Sub(life.Entries[2].At), life.Entries[2].Stayed)

	facts := map[string]string{}
	for _, f := range life.Facts {
		facts[f.Identity] = f.Outcome
	}
	require.Equal(t, map[string]string{"stripe:p1": "Applied", "p2": "Compensated"}, facts)
	verdicts := map[string]int{}
	for _, d := range life.Deliveries {
		verdicts[d.Event.EventID+" "+d.Verdict]++
	}
	require.Equal(t, map[string]int{"ev_1 done": 1, "ev_1 duplicate": 1, "ev_2 stale": 1}, verdicts, "those of its payment, without the provider before it, and of its key")
	places := map[string]string{}
	for _, m := range life.Messages {
		places[m.Topic] = m.Where
	}
	require.Equal(t, map[string]string{"order_created": Waits, "order_paid": Sent, "refund_due": Waits}, places)
	require.Len(t, life.Attempts, 1)
	require.Equal(t, "p2", life.Attempts[0].BusinessKey)
	for _, v := range life.Values {
		if v.Column == "payment_no" {
			require.Equal(t, "stripe:p1", *v.Text)
		}
	}
}

// Of what is long the beginning is read, and a sign says that there is more.
func TestLifeOfLongTexts(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	b.exec(`UPDATE order_history SET actor = repeat('行', 3000000), reason = repeat('y', 501), request_id = repeat('z', 500)`)
	b.exec(`ALTER TABLE orders DISABLE TRIGGER USER`)
	b.exec(`UPDATE orders SET customer_id = repeat('c', 201), sku = repeat('s', 200)`)
	life, err := b.open().Life(t.Context(), named(t, machines(t), "order"), []string{first})
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("行", 500)+"…", life.Entries[0].Actor)
	require.Equal(t, strings.Repeat("y", 500)+"…", life.Entries[0].Reason)
	require.Equal(t, strings.Repeat("z", 500), life.Entries[0].Request)
	held := map[string]string{}
	for _, v := range life.Values {
		if v.Text != nil {
			held[v.Column] = *v.Text
		}
	}
	require.Equal(t, strings.Repeat("c", 200)+"…", held["customer_id"])
	require.Equal(t, strings.Repeat("s", 200), held["sku"])
}

func TestLifeOfNothing(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	m := named(t, machines(t), "order")
	db := b.open()
	for _, key := range [][]string{{first}, {"no uuid"}, {}, {first, first}, {"\x00"}, {""}} {
		life, err := db.Life(t.Context(), m, key)
		require.NoError(t, err, key)
		require.False(t, life.There, key)
		require.Empty(t, life.Entries, key)
	}
	// A row that was deleted takes its history along; a history that was left is shown.
	b.exec(`INSERT INTO order_history (order_id, version, event, to_status, at) VALUES ($1, 1, 'create', 'PENDING', now())`, first)
	life, err := db.Life(t.Context(), m, []string{first})
	require.NoError(t, err)
	require.False(t, life.There)
	require.Len(t, life.Entries, 1)
}

// A row is found by all that it is known by, and each once.
func TestFind(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	require.Equal(t, fsm.Applied, b.pay(first, "p1", 100))
	b.exec(`INSERT INTO refunds (refund_no, status, version, order_id, payment_no, amount_cents) VALUES ('r1', 'REQUESTED', 1, $1, 'p1', 5)`, first)
	b.tell("stripe", "ev_1", "paid", "p1", "done")
	db := b.open()
	all := machines(t)
	for text, want := range map[string][]Found{
		first:        {{Machine: "order", Key: []string{first}, State: "PAID", By: ByKey}, {Machine: "refund", Key: []string{"r1"}, State: "REQUESTED", By: ByColumn, Name: "order_id"}},
		"p1":         {{Machine: "order", Key: []string{first}, State: "PAID", By: ByIdentity, Name: "payment_succeeded"}},
		" ev_1 ":     {{Machine: "order", Key: []string{first}, State: "PAID", By: ByInbox, Name: "stripe"}},
		"r1":         {{Machine: "refund", Key: []string{"r1"}, State: "REQUESTED", By: ByKey}},
		"nothing":    nil,
		"":           nil,
		"'; --":      nil,
		"a\x00b":     nil,
		"a\xffb":     nil,
		"[\"p1\",1]": nil,
	} {
		found, errs := db.Find(t.Context(), all, text)
		require.Empty(t, errs, text)
		require.ElementsMatch(t, want, found, text)
	}
}

// Rows of all kinds of moves are counted by minute.
func TestMovesAndCounts(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	b.create(second)
	require.Equal(t, fsm.Applied, b.pay(first, "p1", 100))
	require.Equal(t, fsm.Compensated, b.pay(second, "p2", 99))
	b.exec(`UPDATE order_history SET at = now() - interval '10 minutes' WHERE event = 'create'`)
	b.exec(`UPDATE orders SET deadline_at = now() - interval '1 hour' WHERE order_id = $1`, second)
	_, err := order.Correct(t.Context(), b.pool, first, order.StateShipped, fsm.Correction{Actor: "bob", Reason: "the parcel is out"})
	require.NoError(t, err)
	db, m := b.open(), named(t, machines(t), "order")

	moves, err := db.Moves(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, Window, moves.Back)
	n := map[string]int64{}
	for _, v := range moves.Moves {
		require.Contains(t, []int{0, 1, 10, 11}, v.Minute)
		require.Equal(t, v.Event == "correct", v.Forced)
		n[v.Event+" "+v.From+" "+v.To] += v.N
	}
	require.Equal(t, map[string]int64{"create  PENDING": 2, "payment_succeeded PENDING PAID": 1, "correct PAID SHIPPED": 1}, n)
	require.InDelta(t, 0.2, moves.PerMinute("PENDING", "PAID", "payment_succeeded"), 1e-9)
	require.Zero(t, moves.PerMinute("PENDING", "PAID", "pay"), "another event of the arrow")
	require.Zero(t, moves.PerMinute("", "PENDING", "create"), "ten minutes ago")
	require.InDelta(t, 0.4, moves.Rate(), 1e-9)
	require.Len(t, moves.Latest, 1)
	require.Equal(t, []string{second}, moves.Latest[0].Key)
	require.Equal(t, "p2", moves.Latest[0].Identity)

	for _, read := range []func() (Counts, error){
		func() (Counts, error) { return db.Estimate(t.Context(), m) }, func() (Counts, error) { return db.Count(t.Context(), m) },
	} {
		counts, err := read()
		require.NoError(t, err)
		require.True(t, counts.Exact, "a small table is counted")
		require.EqualValues(t, 2, counts.Total)
		require.EqualValues(t, 1, counts.Of("SHIPPED"))
		require.EqualValues(t, 1, counts.Of("PENDING"))
		require.Len(t, counts.States, len(m.States))
	}
	due, err := db.Deadlines(t.Context(), m)
	require.NoError(t, err)
	require.True(t, due.Indexed)
	require.EqualValues(t, 1, due.Overdue)
	require.EqualValues(t, 1, due.Of("PENDING"))
	require.Equal(t, []string{second}, due.Late[0].Key)
	require.InDelta(t, -time.Hour.Seconds(), due.Late[0].In.Seconds(), 600)
	counts, err := db.Count(t.Context(), m)
	require.NoError(t, err)
	oldest, err := db.Oldest(t.Context(), m, counts)
	require.NoError(t, err)
	require.Len(t, oldest, 2)
	require.Equal(t, "PENDING", oldest[0].State)
	require.Equal(t, []string{second}, oldest[0].Key)
	require.True(t, oldest[0].Whole)
	require.InDelta(t, (10 * time.Minute).Seconds(), oldest[0].For.Seconds(), 120)
}

// A delivery of which nobody has said what came of it counts as one that was interrupted.
func TestDeliveriesWithoutAVerdict(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.exec(`INSERT INTO fsm_deliveries (provider, message_id, digest, events) VALUES ('stripe', 'm1', '', '{1,2}'), ('stripe', 'm2', '', '{}')`)
	told, err := b.open().Deliveries(t.Context())
	require.NoError(t, err)
	require.Equal(t, []Verdict{{Minute: 0, Verdict: "interrupted", N: 3}}, told.Verdicts)
}

// A server that takes connections and says nothing is waited for once.
func TestFindGivesUpOnce(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = silent.Close() }()
	db, err := Open("postgres://nobody@" + silent.Addr().String() + "/x?sslmode=disable")
	require.NoError(t, err)
	defer db.Close()
	found, errs := db.Find(t.Context(), machines(t), "anything")
	require.Empty(t, found)
	require.Len(t, errs, 1)
	require.ErrorIs(t, errs[0], ErrAway)
}

// Of each state the few rows that have stood there longest are told, the oldest first,
// and the rest not.
func TestOldestRowsOfAState(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	var want [][]string
	for i := range oldestRows + 2 {
		key := fmt.Sprintf("00000000-0000-4000-8000-0000000000%02d", 50+i)
		b.create(key)
		b.exec(`UPDATE order_history SET at = now() - $1 * interval '1 minute' WHERE order_id = $2`, 100-i, key)
		if i < oldestRows {
			want = append(want, []string{key})
		}
	}
	db, m := b.open(), named(t, machines(t), "order")
	for _, exact := range []bool{true, false} { // all rows, and a sample of pages, which has all of a small table
		oldest, err := db.Oldest(t.Context(), m, Counts{Exact: exact, States: []StateCount{{State: "PENDING", Declared: true, Rows: 7}}})
		require.NoError(t, err)
		var keys [][]string
		for _, o := range oldest {
			require.Equal(t, "PENDING", o.State)
			require.Equal(t, exact, o.Whole)
			require.EqualValues(t, oldestRows+2, o.Of, "that were looked at")
			keys = append(keys, o.Key)
		}
		require.Equal(t, want, keys)
	}
}

// A sample is of some pages also where the table has no statistics yet.
func TestASampleOfATableWithoutStatistics(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.exec(`ALTER TABLE orders SET (autovacuum_enabled = off)`)
	b.exec(`INSERT INTO orders (order_id, status, version, customer_id, sku, quantity, total_cents)
SELECT md5(i::text)::uuid, 'PENDING', 1, 'ann', 'tea', 1, 100 FROM generate_series(1, 60000) AS i`)
	db, record := b.recording()
	m := named(t, machines(t), "order")
	_, err := db.Oldest(t.Context(), m, Counts{States: []StateCount{{State: "PENDING", Declared: true, Rows: 60_000}}})
	require.NoError(t, err)
	percent := 100.0
	for _, q := range record.taken() {
		if _, clause, sampled := strings.Cut(q.sql, "TABLESAMPLE SYSTEM ("); sampled {
			_, err := fmt.Sscan(strings.SplitN(clause, ")", 2)[0], &percent)
			require.NoError(t, err)
		}
	}
	require.InDelta(t, 100*samplePages/float64(b.count("SELECT pg_relation_size('orders') / current_setting('block_size')::bigint")), percent, 1)
	require.Less(t, percent, 50.0)
}
