package relay_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/relay"
)

// accepting takes everything, after a while.
type accepting struct{ after time.Duration }

func (a accepting) Publish(context.Context, relay.Message) error {
	if a.after > 0 {
		time.Sleep(a.after) // the broker's part of the time
	}
	return nil
}

// fill puts rows of so many keys into the outbox, in turn.
func fill(b *testing.B, pool *pgxpool.Pool, rows, keys int) {
	b.Helper()
	_, err := pool.Exec(b.Context(), `INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
		SELECT 'order', 'key ' || i % $2, i / $2 + 1, 'pay', 'order_paid',
		       jsonb_build_object('machine', 'order', 'key', 'key ' || i % $2, 'params', jsonb_build_object('payment_no', i::text, 'paid_cents', 100)), now()
		FROM generate_series(0, $1::bigint - 1) AS i`, rows, keys)
	require.NoError(b, err)
}

// BenchmarkRelay is messages a second, by how many relays there are, how many keys
// the rows are of, and how long the broker takes.
func BenchmarkRelay(b *testing.B) {
	for _, c := range []struct {
		relays, keys int
		after        time.Duration
	}{{1, 1000, 0}, {2, 1000, 0}, {1, 1, 0}, {2, 1, 0}, {1, 1000, time.Millisecond}, {4, 1000, time.Millisecond}} {
		b.Run(fmt.Sprintf("relays=%d/keys=%d/broker=%s", c.relays, c.keys, c.after), func(b *testing.B) {
			pool := open(b)
			fill(b, pool, b.N, c.keys)
			b.ResetTimer()
			parallel(c.relays, func() {
				r := &relay.Relay{DB: pool, Publisher: accepting{c.after}}
				for n, err := 1, error(nil); n > 0; {
					n, err = r.Once(b.Context())
					require.NoError(b, err)
				}
			})
			report(b, pool)
		})
	}
}

// leased is the other way to keep others off: the claim is committed with a
// lease, and the marks are a transaction of their own. Each row is written once
// more.
const leased = `WITH page AS MATERIALIZED (
  SELECT o.id, o.machine, o.key FROM fsm_outbox AS o
  WHERE o.id > $1 AND (o.until IS NULL OR o.until < now()) ORDER BY o.id LIMIT $2
), head AS MATERIALIZED (
  SELECT o.id, o.machine, o.key
  FROM (SELECT min(p.id) AS id FROM page AS p GROUP BY p.machine, p.key) AS f JOIN fsm_outbox AS o ON o.id = f.id
  WHERE NOT EXISTS (SELECT FROM fsm_outbox AS e WHERE e.machine = o.machine AND e.key = o.key AND e.id < o.id)
  FOR UPDATE OF o SKIP LOCKED
), claimed AS (
  UPDATE fsm_outbox AS o SET until = now() + interval '20 seconds'
  FROM page AS p JOIN head AS h ON h.machine = p.machine AND h.key = p.key
  WHERE o.id = p.id RETURNING o.id, o.machine, o.key, o.version, o.payload
) SELECT c.id, c.key, c.payload::text FROM claimed AS c ORDER BY c.id`

// BenchmarkLeased is BenchmarkRelay with leases. It does without all that a
// finished one would need besides, so it is a bound.
func BenchmarkLeased(b *testing.B) {
	for _, after := range []time.Duration{0, time.Millisecond} {
		b.Run(fmt.Sprintf("relays=1/keys=1000/broker=%s", after), func(b *testing.B) {
			pool := open(b)
			execute(b, pool, `ALTER TABLE fsm_outbox ADD COLUMN until timestamptz`)
			fill(b, pool, b.N, 1000)
			b.ResetTimer()
			for n := 1; n > 0; {
				rows, err := pool.Query(b.Context(), leased, 0, 100)
				require.NoError(b, err)
				var ids []int64
				var id int64
				var key, payload string
				_, err = pgx.ForEachRow(rows, []any{&id, &key, &payload}, func() error { ids = append(ids, id); return nil })
				require.NoError(b, err)
				var next atomic.Int64
				parallel(8, func() {
					for int(next.Add(1)) <= len(ids) {
						_ = accepting{after}.Publish(b.Context(), relay.Message{})
					}
				})
				n = len(ids)
				_, err = pool.Exec(b.Context(), `WITH gone AS (DELETE FROM fsm_outbox AS o WHERE o.id = ANY ($1::bigint[])
					RETURNING o.id, o.machine, o.key, o.version, o.event, o.topic, o.payload, o.at)
					INSERT INTO fsm_outbox_sent SELECT g.*, clock_timestamp() FROM gone AS g`, ids)
				require.NoError(b, err)
			}
			report(b, pool)
		})
	}
}

// BenchmarkNotify is commits a second of eight writers, with the wake-up off and
// on. It tells something only on a server that waits for its disk.
func BenchmarkNotify(b *testing.B) {
	for _, state := range []string{"DISABLE", "ENABLE"} {
		b.Run(state, func(b *testing.B) {
			pool := open(b)
			execute(b, pool, "ALTER TABLE fsm_outbox "+state+" TRIGGER fsm_outbox_notify")
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ResetTimer()
			parallel(8, func() {
				for i := left.Add(-1); i >= 0; i = left.Add(-1) {
					emit(b, pool, fmt.Sprint(i), 1)
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
		})
	}
}

func parallel(n int, do func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(do)
	}
	wg.Wait()
}

func report(b *testing.B, pool *pgxpool.Pool) {
	b.Helper()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
	require.Equal(b, b.N, count(b, pool, "fsm_outbox_sent"))
}
