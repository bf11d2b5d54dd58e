package acceptance

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/testpgbouncer"
)

const (
	faultyOrders = 25 // of each caller
	faultEvery   = 40 // answers
)

// tally is what a payment's calls were told.
type tally struct{ applied, doubtful, certain, replayed int }

// faulty is a load that is told of orders, each until there is an answer, while faults
// come at every so many answers.
type faulty struct {
	*shop
	pool    *pgxpool.Pool
	c       *payments
	call    pooledCall
	answers atomic.Int64
	next    chan struct{} // has a token when a fault is due
	tallies []tally
}

// run has the callers tell of their orders, and the faults come in turn until they are
// done. It returns how many faults there were.
func (f *faulty) run(faults []func()) (done int) {
	f.t.Helper()
	var callers sync.WaitGroup
	f.tallies = make([]tally, poolerCallers*faultyOrders)
	for i := range poolerCallers {
		callers.Go(func() {
			for n := i * faultyOrders; n < (i+1)*faultyOrders; n++ {
				f.tell(n, fsm.Applied)
				f.tell(n, fsm.Replayed)
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		callers.Wait()
		close(ended)
	}()
	for {
		select {
		case <-f.next:
			faults[done%len(faults)]()
			done++
		case <-ended:
			return done
		}
	}
}

// tell makes the call until it has an answer, which may be Replayed where an earlier
// one has left doubt.
func (f *faulty) tell(n int, want fsm.Outcome) {
	y := &f.tallies[n]
	for f.t.Context().Err() == nil {
		got, err := f.call.tell(f.t.Context(), f.pool, f.c, paying(keyOf(n+1), fmt.Sprint("P", n+1), due))
		switch {
		case errors.Is(err, fsm.ErrNothingDone) && !errors.Is(err, fsm.ErrUnknown):
			y.certain++
			continue
		case err != nil:
			y.doubtful++
			continue
		case got == fsm.Applied:
			y.applied++
		case got == fsm.Replayed:
			y.replayed++
		default:
			f.t.Errorf("order %d: %s", n+1, got)
		}
		if want == fsm.Applied && got == fsm.Replayed && y.doubtful == 0 {
			f.t.Errorf("order %d was paid by a call of which nothing was done: %+v", n+1, *y)
		}
		if f.answers.Add(1)%faultEvery == 0 {
			select {
			case f.next <- struct{}{}:
			default: // one is due already
			}
		}
		return
	}
}

// requireOnce requires each order paid, by one call as its callers were told, with one
// of everything that belongs to it.
func (f *faulty) requireOnce() {
	f.t.Helper()
	doubtful := 0
	for n, y := range f.tallies {
		doubtful += y.doubtful
		require.True(f.t, y.applied == 1 || y.applied == 0 && y.doubtful > 0, "order %d: %+v", n+1, y)
	}
	all := len(f.tallies)
	require.Equal(f.t, fmt.Sprintf("%d %d %d %d", all, all, all, all), f.text(`SELECT concat_ws(' ',
		(SELECT count(*) FROM orders WHERE status = 'PAID' AND version = 2 AND paid_cents = 100),
		(SELECT count(*) FROM order_facts WHERE outcome = 'Applied'), (SELECT count(*) FROM order_history), (SELECT count(*) FROM fsm_outbox))`))
	require.NotZero(f.t, doubtful, "the faults met no call")
}

// Connections to the server are cut, and the pooler is killed and started again, while
// payments come through it. Each is told true and done once, and where a call says that
// nothing was done, nothing was.
func TestFaultsOfAPooler(t *testing.T) {
	t.Parallel()
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeExec, pgx.QueryExecModeCacheDescribe} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			s := open(t)
			pooler := testpgbouncer.New(t, s.pool.Config().ConnString(), poolerServer, unknown)
			cut := 0
			faults := []func(){
				func() {
					n, err := strconv.Atoi(s.text(`SELECT count(pg_terminate_backend(pid))::text FROM pg_stat_activity
						WHERE datname = current_database() AND application_name = 'pooled'`))
					require.NoError(t, err)
					cut += n
				},
				func() { pooler.Kill(); pooler.Start() },
			}
			pool := s.pooled(pooler.URL+"&application_name=pooled", mode)
			for _, call := range pooledCalls() {
				s.exec("TRUNCATE orders, order_history, order_facts, fsm_outbox")
				s.insertOrders(1, poolerCallers*faultyOrders)
				f := &faulty{shop: s, pool: pool, c: s.coalescer(pool, fsm.Coalescing{Workers: poolerServer}), call: call, next: make(chan struct{}, 1)}
				require.GreaterOrEqual(t, f.run(faults), 2*len(faults), call.name)
				f.requireOnce()
			}
			require.NotZero(t, cut)
		})
	}
}

// A pooler that has no connection left lets a call wait, and then turns it away. It has
// not reached the server; the pooler ends the session over it, so nobody can tell.
func TestAPoolerWithoutConnections(t *testing.T) {
	t.Parallel()
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeExec, pgx.QueryExecModeCacheDescribe} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			s := open(t)
			s.insertOrders(1, 1)
			pool := s.pooled(testpgbouncer.Start(t, s.pool.Config().ConnString(), 1, testpgbouncer.Setting{Name: "query_wait_timeout", Value: "1"}), mode)
			require.NoError(t, pool.Ping(t.Context()))
			tx, err := pool.Begin(t.Context()) // has the one connection
			require.NoError(t, err)
			for _, then := range [][]fsm.Option{nil, {order.Then(func(context.Context, pgx.Tx, order.Result) error { return nil })}} {
				_, err = paid(keyOf(1), "P", due, then...)(t.Context(), pool)
				require.ErrorContains(t, err, "query_wait_timeout")
				require.False(t, fsm.Retryable(err))
				if then == nil {
					require.ErrorIs(t, err, fsm.ErrUnknown)
				} else { // BEGIN never was
					require.ErrorIs(t, err, fsm.ErrNothingDone)
				}
			}
			require.NoError(t, tx.Rollback(t.Context()))
			got, err := paid(keyOf(1), "P", due)(t.Context(), pool)
			require.NoError(t, err)
			require.Equal(t, "Applied PAID 2", got)
		})
	}
}
