package runbook_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/gen/order"
)

// shopLetter makes a letter of the shop's own: the mail of a paid order, which could
// not be booked. It returns its number, and what delivers the shop's outbox.
func (d *desk) shopLetter() (letter string, deliver func()) {
	d.t.Helper()
	ctx := d.t.Context()
	d.order()
	_, err := order.PaymentSucceeded(ctx, d.pool, orderA, order.PaymentSucceededParams{PaymentNo: "p-1", PaidCents: 100})
	require.NoError(d.t, err)
	s, err := shop.New(shop.Config{Pool: d.pool})
	require.NoError(d.t, err)
	r := s.Relay()
	r.Backoff = func(int) time.Duration { return time.Nanosecond }
	deliver = func() {
		d.t.Helper()
		for range 6 {
			_, err := r.Once(ctx)
			require.NoError(d.t, err)
		}
	}
	_, err = d.pool.Exec(ctx, "ALTER TABLE shop_mails ADD CONSTRAINT none CHECK (false)")
	require.NoError(d.t, err)
	deliver()
	_, err = d.pool.Exec(ctx, "ALTER TABLE shop_mails DROP CONSTRAINT none")
	require.NoError(d.t, err)
	require.Equal(d.t, "0 1", d.value("SELECT concat_ws(' ', (SELECT count(*) FROM fsm_outbox), (SELECT count(*) FROM fsm_dead_letters WHERE settled = ''))"))
	return d.value("SELECT max(id) FROM fsm_dead_letters"), deliver
}

func (d *desk) mails() string {
	return d.value("SELECT count(*) FROM shop_mails WHERE order_id = $1 AND kind = 'order_paid'", orderA)
}

// The relay was done with the message when it became a letter: releasing the letter
// brings it back, and its work is done, once.
func TestReleasedLetterIsDone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	letter, deliver := d.shopLetter()
	// What was sent long ago is forgotten; the letter has the message itself.
	_, err := d.pool.Exec(t.Context(), "DELETE FROM fsm_outbox_sent")
	require.NoError(t, err)
	d.says(`key "order_paid/`+orderA+`" is free, and the outbox has its message again`, "release", "-actor", "ann", "-reason", "mended", "letter", letter)
	require.Error(t, d.does("release", "letter", letter))
	require.Equal(t, "0", d.mails())
	deliver()
	require.Equal(t, "1", d.mails())
	require.Equal(t, "0", d.value("SELECT count(*) FROM fsm_dead_letters WHERE settled = ''"))
	require.Equal(t, "0", d.value("SELECT count(*) FROM fsm_outbox"))
}

// A letter that is discarded stays so.
func TestDiscardedLetterIsNotDone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	letter, deliver := d.shopLetter()
	require.NoError(t, d.does("complete", "letter", letter))
	deliver()
	require.Equal(t, "0", d.mails())
}

// No letter is settled without its audit row.
func TestLetterWithoutAuditStaysOpen(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"release", "complete"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			letter := d.letter()
			_, err := d.pool.Exec(t.Context(), "ALTER TABLE fsm_audit ADD CONSTRAINT none CHECK (false)")
			require.NoError(t, err)
			require.Error(t, d.does(verb, "letter", letter))
			require.Equal(t, "dead", d.value("SELECT state FROM fsm_consumed"))
			_, err = d.pool.Exec(t.Context(), "ALTER TABLE fsm_audit DROP CONSTRAINT none")
			require.NoError(t, err)
			require.NoError(t, d.does(verb, "letter", letter))
			require.Equal(t, "1", d.value("SELECT count(*) FROM fsm_audit"))
		})
	}
}

// The shop's relay tries for ever: a message that fails for an hour is shown.
func TestInspectStuckListsWhatFailsForLong(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.order()
	r := &relay.Relay{DB: d.pool, Publisher: relay.PublisherFunc(func(context.Context, relay.Message) error {
		return errors.New("the topic is gone")
	})}
	_, err := r.Once(t.Context())
	require.NoError(t, err)
	const title = "== outbox, failing for an hour"
	listed := func() string {
		text, err := d.run("inspect", "stuck")
		require.NoError(t, err)
		_, text, found := strings.Cut(text, title)
		require.True(t, found)
		text, _, _ = strings.Cut(text, "\n== ")
		return text
	}
	require.NotContains(t, listed(), orderA)
	_, err = d.pool.Exec(t.Context(), "UPDATE fsm_outbox_holds SET since = since - interval '1 hour'")
	require.NoError(t, err)
	require.Regexp(t, `order +`+orderA+` +1 +the topic is gone`, listed())
}
