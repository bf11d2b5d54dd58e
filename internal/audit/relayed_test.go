package audit_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/relay"
)

// What a relay delivered is gone from the outbox, and nothing to find; what it
// holds up, or a person has set aside, is told or not as any row that waits.
func TestARelayLeavesNothingToFind(t *testing.T) {
	t.Parallel()
	d := fixture(t)
	d.exec(`UPDATE fsm_outbox SET at = '2020-02-29 12:00:00+00'`)
	stale, _ := d.audit(definitions(t)...)
	require.Len(t, stale, 6, "four creations, a payment and one too many")

	pool, err := pgxpool.New(t.Context(), d.url)
	require.NoError(t, err)
	defer pool.Close()
	r := &relay.Relay{DB: pool, Tries: 1, Publisher: relay.PublisherFunc(func(_ context.Context, m relay.Message) error {
		if m.Topic == "refund_due" {
			return errors.New("refused by the test")
		}
		return nil
	})}
	n, err := r.Once(t.Context())
	require.NoError(t, err)
	require.Equal(t, 5, n)
	held, _ := d.audit(definitions(t)...)
	require.Equal(t, []string{`order 00000000-0000-4000-8000-000000000002 version 3: outbox-stale: nobody has taken "refund_due" of "payment_succeeded" from the outbox since 2020-02-29 12:00:00+00`}, held)

	holds, err := relay.Holds(t.Context(), pool, 0)
	require.NoError(t, err)
	require.Len(t, holds, 1)
	require.NoError(t, relay.SetAside(t.Context(), pool, "order", string(paid), holds[0].Row, relay.Decision{Actor: "ann", Reason: "paid back by hand"}))
	lines, report := d.audit(definitions(t)...)
	require.Empty(t, lines)
	require.Empty(t, report.Notes)
}
