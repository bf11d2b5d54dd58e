package acceptance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/relay"
)

// A process that died in the handler leaves its claim, and until the lease ends the
// relay has every delivery given back: it goes on by itself with the page's relay, and
// parks the key for a person where the relay's tries are few.
func TestThePageRelaysToAConsumer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		tries  int
		parked bool
	}{{0, false}, {2, true}} {
		s := open(t)
		s.exec(`INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
			VALUES ('order', '17', 2, 'payment_succeeded', 'order_paid', '{}', now()), ('order', '18', 1, 'create', 'order_created', '{}', now())`)
		consumer := &consume.Consumer{DB: s.pool, Name: "shipping", Lease: time.Minute, Tries: 10}
		shipped := 0
		r := pageRelayed(s.pool, consumer, func(context.Context, pgx.Tx, consume.Message) error { shipped++; return nil })
		r.Tries = tc.tries
		r.Backoff = func(int) time.Duration { return 0 }
		var failure error
		r.Failed = func(err error) { failure = err }
		var first string
		r.Delivered = func(sent []relay.Message) {
			for _, m := range sent {
				first += m.Topic + " "
			}
		}
		claimAll(t, s)
		_, err := r.Once(t.Context())
		require.NoError(t, err)
		require.Equal(t, "order_created ", first, "nobody waits for it")
		var refused *relay.PublishError
		require.ErrorAs(t, failure, &refused)
		require.ErrorIs(t, failure, consume.ErrInProgress)
		require.Equal(t, tc.parked, refused.Parked)
		require.Zero(t, shipped)

		s.exec(`UPDATE fsm_consumed SET lease_until = clock_timestamp() - interval '1 second'`)
		_, err = r.Once(t.Context())
		require.NoError(t, err)
		if tc.parked {
			require.Zero(t, shipped, "it waits for a person, although nothing is wrong")
			require.NoError(t, relay.Retry(t.Context(), s.pool, "order", "17"))
			_, err = r.Once(t.Context())
			require.NoError(t, err)
		}
		require.Equal(t, 1, shipped)
		require.Equal(t, "order_created order_paid ", first)
	}
}

// claimAll claims the keys of what is in the outbox, as a process that died in its
// first try of them.
func claimAll(t *testing.T, s *shop) {
	t.Helper()
	dead := errors.New("the process died")
	var ids []string
	look := &relay.Relay{DB: s.pool, Publisher: relay.PublisherFunc(func(_ context.Context, m relay.Message) error {
		ids = append(ids, m.ID)
		return dead
	}), Parallel: 1, Backoff: func(int) time.Duration { return time.Hour }}
	_, err := look.Once(t.Context())
	require.NoError(t, err)
	for _, id := range ids {
		s.exec(`INSERT INTO fsm_consumed (consumer, key, state, owner, tries, lease_until, changed_at)
			VALUES ('shipping', '` + id + `', 'claimed', 'dead', 1, clock_timestamp() + interval '1 minute', clock_timestamp())`)
	}
	s.exec(`UPDATE fsm_outbox_holds SET next_at = clock_timestamp()`)
}
