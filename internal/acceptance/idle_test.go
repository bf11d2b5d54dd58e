package acceptance

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/pawl-go/pawl/gen/order"
)

// newPool is a second pool on the database.
func newPool(t testing.TB, config *pgxpool.Config) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// TestDuplicatesWriteNothing: 10,000 times told again, the row was neither
// written nor locked, and nothing else was added.
func TestDuplicatesWriteNothing(t *testing.T) {
	t.Parallel()
	const (
		told    = 10_000
		workers = 4
	)
	s := open(t, key1, key2)
	s.must(paid(key1, "P1", due), paid(key1, "P2", due), event(order.Ship, key1), event(order.Cancel, key2))
	duplicates := []struct {
		told string
		call act
	}{
		{"Replayed SHIPPED 3", paid(key1, "P1", due)}, // applied
		{"Replayed SHIPPED 3", paid(key1, "P2", due)}, // compensated
		{"Replayed SHIPPED 3", event(order.Ship, key1)},
		{"Replayed CANCELLED 2", event(order.Cancel, key2)},
		{"Mismatched CANCELLED 2", paid(key2, "P1", due)},
	}
	everything := func() []string {
		return []string{
			s.tuple(key1), s.tuple(key2),
			s.text(`SELECT string_agg(format('%s %s %s %s', xmin, xmax, ctid, h), '|' ORDER BY order_id, version) FROM order_history AS h`),
			s.text(`SELECT string_agg(format('%s %s %s %s', xmin, xmax, ctid, f), '|' ORDER BY event, identity) FROM order_facts AS f`),
			s.text(`SELECT string_agg(format('%s %s %s %s', xmin, xmax, ctid, o), '|' ORDER BY id) FROM fsm_outbox AS o`),
		}
	}
	before := everything()
	var g errgroup.Group
	for range workers {
		conn := s.conn()
		g.Go(func() error {
			for i := range told / workers {
				d := duplicates[i%len(duplicates)]
				got, err := d.call(t.Context(), conn)
				if err != nil {
					return err
				}
				if got != d.told {
					return errTold(got)
				}
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	require.Equal(t, before, everything())

	// A transaction that writes or locks anything is given an id by the server.
	tx := s.begin(pgx.TxOptions{})
	const id = `SELECT COALESCE(pg_current_xact_id_if_assigned()::text, 'none')`
	const counts = `SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::text FROM pg_stat_xact_user_tables`
	for _, d := range duplicates {
		got, err := d.call(t.Context(), tx)
		require.NoError(t, err)
		require.Equal(t, d.told, got)
	}
	require.Equal(t, "none", textIn(t, tx, id))
	require.Equal(t, "0", textIn(t, tx, counts))
	got, err := paid(key1, "P3", due)(t.Context(), tx)
	require.NoError(t, err)
	require.Equal(t, "Compensated SHIPPED 3", got)
	require.NotEqual(t, "none", textIn(t, tx, id), "or the id shows nothing")
	require.Equal(t, "2", textIn(t, tx, counts), "a fact and an outbox row")
}

// errTold is what a call was told and should not have been.
type errTold string

func (e errTold) Error() string { return "told " + string(e) }

// Locking first and judging later gives the same answers, and writes each time.
func TestNaiveDuplicatesWriteALock(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	s.must(paid(key1, "P1", due))
	before := s.tuple(key1)
	s.says("Replayed PAID", statement(`SELECT format('Replayed %s', status) FROM orders WHERE order_id = $1 FOR NO KEY UPDATE`, string(key1)))
	require.NotEqual(t, before, s.tuple(key1))
}
