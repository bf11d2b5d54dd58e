package shop_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/fault"
)

// What r-1 is in the end when the provider gave the money, once.
const (
	givenBack = "r-1 SUCCEEDED | 4000 | r-1 -4000 | refund_succeeded Applied | 0 cases"
	notGiven  = "r-1 CLOSED | 0 | nothing booked | refund_failed Compensated | 0 cases"
)

// A promise, its refund and its attempt are there together, once.
func TestRefundHasItsAttemptWithThePromise(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	b := promised(t, p)
	require.Equal(t, "r-1 SENT 1", b.value("SELECT concat_ws(' ', refund_no, status, attempts) FROM refunds"))
	require.Equal(t, "r-1 STARTED", b.attempts())
	require.JSONEq(t, `{"refund_no":"r-1","order_id":"`+orderA+`","payment_no":"p-1","amount_cents":4000}`, b.value("SELECT request FROM fsm_attempts"))
	require.Equal(t, "0 []", p.did(), "nothing is sent before the commit")
	before := b.contents()
	b.is(http.StatusOK, b.do("POST", "/orders/"+orderA+"/refunds", refundBody("r-1", 4000)))
	b.is(http.StatusConflict, b.do("POST", "/orders/"+orderA+"/refunds", refundBody("r-2", 9000)))
	require.Equal(t, before, b.contents())
	counted := b.service.Counters().Outcomes
	require.Contains(t, counted, shop.OutcomeCount{Machine: "refund", Event: "send", Outcome: "Applied", Count: 1})
}

// The transaction of the promise falls: no attempt is left that would be sent.
func TestPromiseThatFallsLeavesNoAttempt(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	b := withRefunds(t, p)
	b.paid(orderA, "p-1")
	_, err := b.pool.Exec(t.Context(), "ALTER TABLE fsm_attempts ADD CONSTRAINT none CHECK (false)")
	require.NoError(t, err)
	before := b.contents()
	b.is(http.StatusInternalServerError, b.do("POST", "/orders/"+orderA+"/refunds", refundBody("r-1", 4000)))
	require.Equal(t, before, b.contents())
	require.Zero(t, b.round())
	require.Equal(t, "0 []", p.did())
}

// Whatever the provider does, the money goes back once or not at all, and order,
// refund and ledger say so once.
func TestProviderIsAskedUntilItIsKnown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script []mode
		rounds int
		did    string
		want   string
		state  string
	}{
		{nil, 1, "1 [POST]", givenBack, "r-1 SUCCEEDED completed"},
		{[]mode{does500}, 2, "1 [POST GET]", givenBack, "r-1 SUCCEEDED completed"},
		{[]mode{fails, does500}, 3, "1 [POST GET POST GET]", givenBack, "r-1 SUCCEEDED completed"},
		{[]mode{hangs}, 2, "1 [POST GET]", givenBack, "r-1 SUCCEEDED completed"},
		{[]mode{pends}, 4, "1 [POST GET GET GET]", givenBack, "r-1 SUCCEEDED completed"},
		{[]mode{refuses}, 1, "0 [POST]", notGiven, "r-1 REFUSED account_closed completed"},
		{[]mode{fails, refuses}, 2, "0 [POST GET POST]", notGiven, "r-1 REFUSED account_closed completed"},
	} {
		t.Run(fmt.Sprint(c.script), func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, c.script...)
			b := promised(t, p, func(config *shop.Config) {
				for _, m := range c.script {
					if m == hangs {
						config.RefundPolicy.CallTimeout = 2 * time.Second
					}
				}
			})
			for i := range c.rounds {
				require.Equal(t, "nothing booked", b.value("SELECT coalesce((SELECT number FROM shop_ledger WHERE kind = 'refund'), 'nothing booked')"))
				completed := b.round()
				require.Equal(t, i == c.rounds-1, completed == 1, "round %d", i+1)
			}
			require.Zero(t, b.round())
			require.Equal(t, c.did, p.did())
			require.Equal(t, c.want, b.gave())
			require.Equal(t, c.state, b.attempts())
			require.NotContains(t, b.log.String(), providerToken)
		})
	}
}

func TestRefusedRefundIsWorkForSomeoneOnce(t *testing.T) {
	t.Parallel()
	b := promised(t, newProvider(t, refuses))
	require.Equal(t, 1, b.round())
	// The callback of the same failure is no news, and opens the refund no more.
	b.told("Replayed", noticeOf("refund.failed", orderA, "", "r-1", 0))
	require.Equal(t, notGiven, b.gave())
	require.Equal(t, "order refund_failed", b.value("SELECT string_agg(machine || ' ' || event, ', ') FROM fsm_outbox WHERE topic = 'refund_stuck'"))
	counted := b.service.Counters()
	require.Contains(t, counted.Outcomes, shop.OutcomeCount{Machine: "order", Event: "refund_failed", Outcome: "Compensated", Count: 1})
	require.Contains(t, counted.Outcomes, shop.OutcomeCount{Machine: "refund", Event: "close", Outcome: "Applied", Count: 1})
	require.Equal(t, []shop.CallCount{{What: "completed", Count: 1}, {What: "refused", Count: 1}, {What: "sent", Count: 1}}, counted.Calls)
}

// The failure is told before the call's own answer: both end in a closed refund.
func TestRefusalAfterItsCallback(t *testing.T) {
	t.Parallel()
	b := promised(t, newProvider(t, fails, refuses))
	require.Zero(t, b.round())
	b.told("Compensated", noticeOf("refund.failed", orderA, "", "r-1", 0))
	require.Equal(t, "ABNORMAL", b.value("SELECT status FROM refunds"))
	require.Zero(t, b.round(), "nothing is sent while a person looks at it")
	require.Equal(t, "r-1 UNKNOWN", b.attempts())
}

func TestCallbackAfterTheAnswer(t *testing.T) {
	t.Parallel()
	b := promised(t, newProvider(t))
	require.Equal(t, 1, b.round())
	b.told("Replayed", noticeOf("refund.succeeded", orderA, "p-1", "r-1", 4000))
	require.Equal(t, givenBack, b.gave())
	counted := b.service.Counters().Outcomes
	require.Contains(t, counted, shop.OutcomeCount{Machine: "refund", Event: "succeed", Outcome: "Applied", Count: 1})
	require.Contains(t, counted, shop.OutcomeCount{Machine: "order", Event: "refund_succeeded", Outcome: "Applied", Count: 1})
}

// The callback is there while the provider still holds the answer to the call.
func TestCallbackDuringTheCall(t *testing.T) {
	t.Parallel()
	p := newProvider(t, holds)
	b := promised(t, p)
	completed := make(chan int, 1)
	go func() { completed <- b.round() }()
	<-p.held
	b.told("Applied", noticeOf("refund.succeeded", orderA, "p-1", "r-1", 4000))
	require.Equal(t, "r-1 SENT", b.attempts())
	p.goOn <- struct{}{}
	require.Equal(t, 1, <-completed)
	require.Equal(t, givenBack, b.gave())
	require.Equal(t, "1 [POST]", p.did())
}

// The callback is there while the outcome of the call is not known.
func TestCallbackBeforeTheLookUp(t *testing.T) {
	t.Parallel()
	p := newProvider(t, does500)
	b := promised(t, p)
	require.Zero(t, b.round())
	b.told("Applied", noticeOf("refund.succeeded", orderA, "p-1", "r-1", 4000))
	require.Equal(t, 1, b.round())
	require.Equal(t, givenBack, b.gave())
	require.Equal(t, "1 [POST GET]", p.did())
}

// The provider gave the money before we asked: it is not asked, for it would give
// it again under a key that it does not know.
func TestCallbackBeforeTheCall(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{true, false} {
		t.Run(fmt.Sprintf("first send %v", first), func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, fails)
			b := promised(t, p)
			did := "0 []"
			if !first {
				require.Zero(t, b.round())
				did = "0 [POST GET]"
			}
			b.told("Applied", noticeOf("refund.succeeded", orderA, "p-1", "r-1", 4000))
			require.Equal(t, 1, b.round())
			require.Equal(t, givenBack, b.gave())
			require.Equal(t, "r-1 REFUSED settled before it was sent completed", b.attempts())
			require.Equal(t, did, p.did())
		})
	}
}

// Completion and callback come to the order's row at the same time, in either
// order: the first moves all, the second nothing.
func TestCompletionAndCallbackAtOnce(t *testing.T) {
	t.Parallel()
	for _, callbackFirst := range []bool{true, false} {
		t.Run(fmt.Sprintf("callback first %v", callbackFirst), func(t *testing.T) {
			t.Parallel()
			b := promised(t, newProvider(t))
			gate, err := b.pool.Begin(t.Context())
			require.NoError(t, err)
			defer func() { _ = gate.Rollback(context.WithoutCancel(t.Context())) }()
			_, err = gate.Exec(t.Context(), "SELECT 1 FROM orders FOR UPDATE")
			require.NoError(t, err)
			completed, told := make(chan int, 1), make(chan reply, 1)
			complete := func() { completed <- b.round() }
			callback := func() { told <- b.deliver(noticeOf("refund.succeeded", orderA, "p-1", "r-1", 4000)) }
			works, want := []func(){complete, callback}, "Replayed"
			if callbackFirst {
				works, want = []func(){callback, complete}, "Applied"
			}
			for i, work := range works {
				go work()
				b.waiting(i + 1)
			}
			require.NoError(t, gate.Rollback(t.Context()))
			require.Equal(t, 1, <-completed)
			require.Equal(t, map[string]any{"outcome": want}, (<-told).body)
			require.Equal(t, givenBack, b.gave())
		})
	}
}

// What is written without the shared way: whoever learns that money went back looks
// whether the refund still waits, and adds it up. At once, both count it.
func TestNaiveCompletionCountsTwice(t *testing.T) {
	t.Parallel()
	b := promised(t, newProvider(t))
	b.is(http.StatusAccepted, b.do("POST", "/orders/"+orderA+"/refunds", refundBody("r-2", 6050)))
	var learnt [2]pgx.Tx // by the answer, and by the callback
	for i := range learnt {
		tx, err := b.pool.Begin(t.Context())
		require.NoError(t, err)
		defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
		var status string
		require.NoError(t, tx.QueryRow(t.Context(), "SELECT status FROM refunds WHERE refund_no = 'r-1'").Scan(&status))
		require.Equal(t, "SENT", status)
		learnt[i] = tx
	}
	for _, tx := range learnt {
		_, err := tx.Exec(t.Context(), "UPDATE orders SET refunded_cents = refunded_cents + 4000")
		require.NoError(t, err)
		require.NoError(t, tx.Commit(t.Context()))
	}
	require.Equal(t, "8000", b.value("SELECT refunded_cents FROM orders"))
}

// waiting returns when n sessions of this database wait for a lock.
func (b *bench) waiting(n int) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		var waiting int
		err := b.pool.QueryRow(b.t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting)
		return err == nil && waiting == n
	}, time.Minute, 5*time.Millisecond)
}

// Wherever a round breaks off, the next one ends it, once.
func TestRoundThatBreaksOff(t *testing.T) {
	t.Parallel()
	for _, at := range []fault.Point{
		attempt.PointStarted, attempt.PointSent, attempt.PointAnswered, attempt.PointRecorded, attempt.PointCompleting, attempt.PointCompleted,
	} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			b := promised(t, p)
			_, _ = b.service.RefundCompleter().Once(fault.With(t.Context(), at, fault.Nth(1, fault.Fail))) // its error is the fault's
			b.round()
			require.Equal(t, givenBack, b.gave())
			require.Equal(t, "r-1 SUCCEEDED completed", b.attempts())
			require.Equal(t, "1", p.did()[:1])
			require.Contains(t, b.service.Counters().Outcomes, shop.OutcomeCount{Machine: "order", Event: "refund_succeeded", Outcome: "Applied", Count: 1})
		})
	}
}

// The ledger has the number, though the machine holds it to be new: a person looks,
// and the attempt does not come again for ever.
func TestLedgerStandsBehindTheCompletion(t *testing.T) {
	t.Parallel()
	b := promised(t, newProvider(t))
	_, err := b.pool.Exec(t.Context(), `INSERT INTO shop_ledger (kind, number, order_id, cents, outcome) VALUES ('refund', 'r-1', $1, -4000, 'Applied')`, orderA)
	require.NoError(t, err)
	require.Equal(t, 1, b.round())
	require.Equal(t, "r-1 SENT | 0 | r-1 -4000 | 1 cases", b.gave())
	require.Equal(t, "refunds refund_succeeded Mismatched", b.value("SELECT concat_ws(' ', provider, event, outcome) FROM shop_cases WHERE detail LIKE 'the ledger has this number already%'"))
}

// With a key, the promise, its attempt and the kept reply are one.
func TestKeyedRefundHasOneAttempt(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	b := withRefunds(t, p)
	b.paid(orderA, "p-1")
	for range 2 {
		b.is(http.StatusAccepted, b.do("POST", "/orders/"+orderA+"/refunds", refundBody("r-1", 4000), "X-Actor", "ann", "Idempotency-Key", "k-1"))
	}
	require.Equal(t, 1, b.round())
	require.Equal(t, givenBack, b.gave())
	require.Equal(t, "1 [POST]", p.did())
}

func TestNoProviderNoAttempts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.Nil(t, b.service.RefundCompleter())
	require.Empty(t, b.service.Counters().Calls)
	_, err := shop.New(shop.Config{Pool: b.pool, Refunds: newProvider(t).api, RefundPolicy: attempt.Policy{Lease: -1}})
	require.Error(t, err)
}

// Serve drives attempts, and puts those that were completed long ago away.
func TestServeDrivesAndArchives(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	b := promised(t, p, func(c *shop.Config) {
		c.RefundPolicy.Keep = time.Nanosecond
		c.SweepEvery = 10 * time.Millisecond
	})
	require.Equal(t, "r-1", b.notified("shop_ledger", "number"))
	require.Equal(t, givenBack, b.gave())
	_, err := b.pool.Exec(t.Context(), "DROP FUNCTION written CASCADE")
	require.NoError(t, err)
	require.Equal(t, "r-1", b.notified("fsm_attempts_archive", "business_key"))
	require.Equal(t, "1 [POST]", p.did())
}
