package attempt_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/gen/refund"
)

// The example's refund, with the machine itself: whatever the provider does, the
// money goes back once and the machine hears of it once.
func TestRefundMachine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		script []mode
		state  refund.State
		left   int
	}{
		{"does it", nil, refund.StateSucceeded, 1},
		{"cuts the connection after it", []mode{cuts}, refund.StateSucceeded, 1},
		{"answers 500 before it", []mode{fails500}, refund.StateSucceeded, 1},
		{"is not done for a while", []mode{pends}, refund.StateSucceeded, 1},
		{"refuses", []mode{refuses}, refund.StateClosed, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tc.script...)
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			b.kind = refunds(client, b.provider.url)
			key := refund.Key("r-1")
			_, err := refund.Create(t.Context(), b.pool, refund.CreateParams{
				Key: key, OrderID: "0a000000-0000-4000-8000-00000000000a", PaymentNo: "p-1", AmountCents: 500,
			})
			require.NoError(t, err)
			for range 2 { // a double click
				require.NoError(t, sendRefund(t.Context(), b.pool, b.kind, key))
			}
			require.Equal(t, 1, b.count(`SELECT count(*) FROM fsm_attempts`))
			a, err := attempt.Find(t.Context(), b.pool, "refund", "r-1")
			require.NoError(t, err)
			require.Equal(t, `{"amount_cents":500,"payment_no":"p-1"}`, string(a.Request))
			a = b.driven(a.ID)

			row, err := refund.Get(t.Context(), b.pool, key)
			require.NoError(t, err)
			require.Equal(t, tc.state, row.Status)
			require.Equal(t, tc.left, b.provider.left())
			require.Equal(t, 3, b.count(`SELECT count(*) FROM refund_history`), "create, send, and the end")
			if tc.state != refund.StateSucceeded {
				return
			}
			// The provider's callback comes too, and is no news.
			told, err := refund.Succeed(t.Context(), b.pool, key, refund.SucceedParams{ProviderRef: a.Result.Ref, AmountCents: 500})
			require.NoError(t, err)
			require.Equal(t, fsm.Replayed, told.Outcome)
		})
	}
}

// The callback comes before the answer is recorded: the attempt is completed all
// the same, and the machine is told twice of one fact.
func TestCallbackComesFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t, cuts)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	b.kind = refunds(client, b.provider.url)
	key := refund.Key("r-1")
	_, err := refund.Create(t.Context(), b.pool, refund.CreateParams{
		Key: key, OrderID: "0a000000-0000-4000-8000-00000000000a", PaymentNo: "p-1", AmountCents: 500,
	})
	require.NoError(t, err)
	require.NoError(t, sendRefund(t.Context(), b.pool, b.kind, key))
	a, err := attempt.Find(t.Context(), b.pool, "refund", "r-1")
	require.NoError(t, err)
	_, err = b.drive(a.ID)
	require.ErrorIs(t, err, attempt.ErrUnfinished)
	told, err := refund.Succeed(t.Context(), b.pool, key, refund.SucceedParams{ProviderRef: "re_" + a.ID, AmountCents: 500})
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, told.Outcome)
	require.True(t, b.driven(a.ID).Completed())
	require.Equal(t, 1, b.provider.left())
	require.Equal(t, 1, b.count(`SELECT count(*) FROM refund_facts`))
}

// The refund's own transaction rolls back: no attempt is left that would be sent.
func TestRefundThatIsNotSent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.kind = refunds(&http.Client{}, b.provider.url)
	require.ErrorIs(t, sendRefund(t.Context(), b.pool, b.kind, "nobody"), fsm.ErrNotFound)
	_, err := attempt.Find(t.Context(), b.pool, "refund", "nobody")
	require.ErrorIs(t, err, attempt.ErrNotFound)
}

// An attempt that waits for a person is an ABNORMAL refund; its retry resumes the
// attempt, under the key that it had.
func TestStuckRefund(t *testing.T) {
	t.Parallel()
	b := newBench(t, cuts)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	b.kind = refunds(client, b.provider.url)
	b.kind.Policy.MaxRounds = 1
	key := refund.Key("r-1")
	_, err := refund.Create(t.Context(), b.pool, refund.CreateParams{
		Key: key, OrderID: "0a000000-0000-4000-8000-00000000000a", PaymentNo: "p-1", AmountCents: 500,
	})
	require.NoError(t, err)
	require.NoError(t, sendRefund(t.Context(), b.pool, b.kind, key))
	a, err := attempt.Find(t.Context(), b.pool, "refund", "r-1")
	require.NoError(t, err)
	_, err = b.drive(a.ID)
	require.ErrorIs(t, err, attempt.ErrStuck)

	stuck, err := refund.Stick(t.Context(), b.pool, key)
	require.NoError(t, err)
	require.Equal(t, refund.StateAbnormal, stuck.State)
	retried, err := refund.Retry(t.Context(), b.pool, key, refund.Then(func(ctx context.Context, tx pgx.Tx, _ refund.Result) error {
		return attempt.Resume(ctx, tx, a.ID, fsm.Correction{Actor: "ann", Reason: "the provider is back"})
	}))
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, retried.Outcome)
	require.True(t, b.driven(a.ID).Completed())
	row, err := refund.Get(t.Context(), b.pool, key)
	require.NoError(t, err)
	require.Equal(t, refund.StateSucceeded, row.Status)
	require.Equal(t, 1, b.provider.left())
	require.Equal(t, "sends 1 queries 1", b.provider.seen())
}
