package shop_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/fsm/fault"
)

// keyed sends a request of ann's with an Idempotency-Key.
func (b *bench) keyed(key, path, body string) reply {
	b.t.Helper()
	return b.do("POST", path, body, "Idempotency-Key", key, "X-Actor", "ann", "Content-Type", "application/json")
}

func refundPath(id string) string { return "/orders/" + id + "/refunds" }

// refunds is how many there are, what they come to, and how many records of
// commands have a reply.
func (b *bench) refunds() string {
	b.t.Helper()
	return b.value(`SELECT concat_ws(' ', count(*), coalesce(sum(amount_cents), 0), (SELECT count(*) FROM fsm_command WHERE done_at IS NOT NULL)) FROM refunds`)
}

func TestFiftyEqualRequestsAreOneRefund(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	replies := make([]reply, 50)
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() { replies[i] = b.keyed("k-1", refundPath(orderA), refundBody("r-1", 4000)) })
	}
	wg.Wait()
	first := 0
	for _, r := range replies {
		if r.status == http.StatusConflict { // it waited for as long as it may
			require.NotEmpty(t, r.header.Get("Retry-After"))
			continue
		}
		b.is(http.StatusAccepted, r)
		require.Equal(t, "Applied", r.body["outcome"], "the reply of the first, and not that of a repetition")
		if r.header.Get("Idempotency-Replayed") == "" {
			first++
		}
	}
	require.Equal(t, 1, first)
	require.Equal(t, "1 4000 1", b.refunds())
	require.Contains(t, fmt.Sprint(b.service.Counters().Outcomes), "{order refund Applied 1}")
	require.NotContains(t, fmt.Sprint(b.service.Counters().Outcomes), "{order refund Replayed")
}

// Two refunds of 40 out of 100 are both possible, but not under one key.
func TestOneKeyForTwoRequestsAtOnceIsOneRefund(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	statuses := make([]int, 50)
	var wg sync.WaitGroup
	for i := range statuses {
		wg.Go(func() {
			statuses[i] = b.keyed("k-1", refundPath(orderA), refundBody(fmt.Sprintf("r-%d", i%2), 4000)).status
		})
	}
	wg.Wait()
	won := statuses[0] == http.StatusUnprocessableEntity // r-1 was first
	for i, status := range statuses {
		if (i%2 == 1) == won {
			require.Contains(t, []int{http.StatusAccepted, http.StatusConflict}, status)
		} else {
			require.Equal(t, http.StatusUnprocessableEntity, status)
		}
	}
	require.Equal(t, "1 4000 1", b.refunds())

	b.is(http.StatusAccepted, b.do("POST", refundPath(orderA), refundBody("r-2", 4000)))
	require.Equal(t, "2 8000 1", b.refunds(), "without a key the number alone tells a repetition")
}

func TestOrderIsCreatedOnceUnderAKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.is(http.StatusCreated, b.keyed("k-1", "/orders", createBody(orderA)))
	second := b.is(http.StatusCreated, b.keyed(`"k-1"`, "/orders", " "+createBody(orderA)))
	require.Equal(t, first.body, second.body)
	for _, name := range []string{"Location", "ETag", "Content-Type", "Cache-Control"} {
		require.Equal(t, first.header.Get(name), second.header.Get(name))
	}
	require.Equal(t, "/orders/"+orderA, second.header.Get("Location"))
	require.Equal(t, "true", second.header.Get("Idempotency-Replayed"))
	b.is(http.StatusUnprocessableEntity, b.keyed("k-1", "/orders", createBody(orderB)))
	require.Equal(t, "1", b.value("SELECT count(*) FROM orders"))

	bob := b.do("POST", "/orders", createBody(orderB), "Idempotency-Key", "k-1", "X-Actor", "bob")
	b.is(http.StatusCreated, bob)
	require.Empty(t, bob.header.Get("Idempotency-Replayed"), "another caller's key is another key")
}

func TestKeysThatCannotBe(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before := b.contents()
	for _, key := range []string{"", `""`, "a,b", "a\tb", strings.Repeat("k", 10_000)} {
		b.is(http.StatusBadRequest, b.keyed(key, "/orders", createBody(orderA)))
	}
	b.is(http.StatusUnauthorized, b.do("POST", "/orders", createBody(orderA), "Idempotency-Key", "k-1"))
	b.is(http.StatusRequestEntityTooLarge, b.keyed("k-1", "/orders", strings.Repeat(" ", 65<<10)+createBody(orderA)))
	require.Equal(t, before, b.contents())
}

// A refusal is the reply of its key, and stays that when things have changed.
func TestRefusalUnderAKeyIsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.order(orderA)
	first := b.is(http.StatusConflict, b.keyed("k-1", refundPath(orderA), refundBody("r-1", 100)))
	require.Equal(t, "Rejected", first.body["outcome"])
	b.stock(10)
	b.pay(orderA, "p-1")
	b.told("Applied", paymentOf(orderA, "p-1", 10050))
	second := b.is(http.StatusConflict, b.keyed("k-1", refundPath(orderA), refundBody("r-1", 100)))
	require.Equal(t, first.body, second.body)
	require.Equal(t, "true", second.header.Get("Idempotency-Replayed"))
	require.Equal(t, "0 0 1", b.refunds())
	require.Contains(t, fmt.Sprint(b.service.Counters().Outcomes), "{order refund Rejected 1}")
	b.is(http.StatusAccepted, b.keyed("k-2", refundPath(orderA), refundBody("r-1", 100)))
}

// A crash before the COMMIT leaves nothing, one after it the reply.
func TestCommandThatBreaksOffIsSentAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at       fault.Point
		left     string
		replayed string
	}{
		{command.PointClaimed, "0 0 0", ""},
		{command.PointDone, "0 0 0", ""},
		{command.PointCommitted, "1 4000 1", "true"},
	} {
		t.Run(string(c.at), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.paid(orderA, "p-1")
			send := b.handler
			b.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				send.ServeHTTP(w, r.WithContext(fault.With(r.Context(), c.at, fault.Nth(1, fault.Fail))))
			})
			r := b.keyed("k-1", refundPath(orderA), refundBody("r-1", 4000))
			require.GreaterOrEqual(t, r.status, 500)
			require.Equal(t, c.left, b.refunds())
			b.handler = send
			r = b.is(http.StatusAccepted, b.keyed("k-1", refundPath(orderA), refundBody("r-1", 4000)))
			require.Equal(t, c.replayed, r.header.Get("Idempotency-Replayed"))
			require.Equal(t, "1 4000 1", b.refunds())
		})
	}
}

func TestStatusOfACommand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	ask := func(actor string) reply { return b.do("GET", "/commands/order.refund/k-1", "", "X-Actor", actor) }
	b.is(http.StatusNotFound, ask("ann"))
	b.is(http.StatusUnauthorized, ask(""))
	b.is(http.StatusNotFound, b.do("GET", "/commands/order.ship/k-1", "", "X-Actor", "ann"))

	claimed, goOn, done := make(chan struct{}), make(chan struct{}), make(chan reply, 1)
	held := b.handler
	b.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			r = r.WithContext(fault.With(r.Context(), command.PointClaimed, func(context.Context) error {
				close(claimed)
				<-goOn
				return nil
			}))
		}
		held.ServeHTTP(w, r)
	})
	go func() { done <- b.keyed("k-1", refundPath(orderA), refundBody("r-1", 4000)) }()
	<-claimed
	working := b.is(http.StatusAccepted, ask("ann"))
	require.Equal(t, "Working", working.body["progress"])
	require.Equal(t, "1", working.header.Get("Retry-After"))
	b.is(http.StatusNotFound, ask("bob"))
	close(goOn)
	told := b.is(http.StatusAccepted, <-done)
	finished := b.is(http.StatusOK, ask("ann"))
	require.Equal(t, "Finished", finished.body["progress"])
	require.InDelta(t, http.StatusAccepted, finished.body["status"], 0)
	require.Equal(t, told.body, finished.body["reply"])
}

// aged makes records of commands old enough for the sweep.
const aged = `UPDATE fsm_command SET created_at = now() - interval '73 h', claimed_at = now() - interval '73 h', done_at = now() - interval '73 h'`

func TestSweepOfCommandsFreesTheirKeys(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.is(http.StatusCreated, b.keyed("k-1", "/orders", createBody(orderA)))
	moved, err := b.service.SweepCommands(t.Context())
	require.NoError(t, err)
	require.Zero(t, moved)
	_, err = b.pool.Exec(t.Context(), aged)
	require.NoError(t, err)
	moved, err = b.service.SweepCommands(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, moved)
	require.Equal(t, "order.create k-1 201", b.value("SELECT concat_ws(' ', command, key, status) FROM fsm_command_archive"))
	r := b.is(http.StatusOK, b.keyed("k-1", "/orders", createBody(orderA)))
	require.Empty(t, r.header.Get("Idempotency-Replayed"), "the order's own key is what is left")
}

// The sweep, again and again beside the duplicates of one refund.
func TestSweepBesideDuplicates(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	sweeping, stop := context.WithCancel(t.Context())
	swept := make(chan error, 1)
	go func() {
		for sweeping.Err() == nil {
			if _, err := b.service.SweepCommands(t.Context()); err != nil {
				swept <- err
				return
			}
		}
		swept <- nil
	}()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10 {
				r := b.keyed("k-1", refundPath(orderA), refundBody("r-1", 4000))
				if r.status != http.StatusAccepted || r.body["outcome"] != "Applied" {
					t.Errorf("%d %v", r.status, r.body)
				}
			}
		})
	}
	wg.Wait()
	stop()
	require.NoError(t, <-swept)
	require.Equal(t, "1 4000 1", b.refunds())
}

// Serve sweeps old commands by itself.
func TestServeSweepsCommands(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.is(http.StatusCreated, b.keyed("k-1", "/orders", createBody(orderA)))
	_, err := b.pool.Exec(t.Context(), aged)
	require.NoError(t, err)
	require.Equal(t, "k-1", b.notified("fsm_command_archive", "key"))
}
