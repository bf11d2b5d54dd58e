package inbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm/webhook"
)

var errTooLarge = errors.New("the body is too large")

// refusals counts what was not believed. A flood of it costs at most one small
// write a second, provider and reason, and leaves one row a day of each.
type refusals struct {
	mu      sync.Mutex
	pending map[refusal]int64
	written map[refusal]time.Time
}

type refusal struct{ provider, reason string }

// flushEvery is how often one count is written at most.
const flushEvery = time.Second

// refuse counts a delivery that is not believed; nothing of it is kept.
func (i *Inbox) refuse(ctx context.Context, p *Provider, status int, reason string, cause error) (Receipt, error) {
	told := Told{Provider: p.Name, Verdict: VerdictRefused, Reason: reason}
	key := refusal{p.Name, reason}
	if n := i.refusals.add(key, i.Clock()); n > 0 {
		i.writeRefusals(ctx, key, n)
	}
	i.observe(told)
	return Receipt{Told: []Told{told}, Answer: p.Answers.Failed(status, p.refusal(status))}, fmt.Errorf("%w: %w", ErrRefused, cause)
}

// refusal is what a sender is told: why, where that is for anybody to know, and no
// more than that where a forger would like to.
func (p *Provider) refusal(status int) string {
	switch status {
	case http.StatusServiceUnavailable:
		return "come again"
	case http.StatusRequestEntityTooLarge:
		return fmt.Sprintf("body too large: at most %d bytes", p.MaxBody)
	case http.StatusUnsupportedMediaType:
		return "Content-Type must be " + p.ContentType
	}
	return "refused"
}

// add counts one, and returns how many are to be written now: 0 for none.
func (r *refusals) add(key refusal, now time.Time) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending == nil {
		r.pending, r.written = map[refusal]int64{}, map[refusal]time.Time{}
	}
	r.pending[key]++
	if last, ok := r.written[key]; ok && now.Sub(last).Abs() < flushEvery {
		return 0
	}
	n := r.pending[key]
	r.written[key] = now
	delete(r.pending, key)
	return n
}

// giveBack counts again what could not be written.
func (r *refusals) giveBack(key refusal, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending[key] += n
}

// take returns and forgets what is to be written of one count.
func (r *refusals) take(key refusal) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.pending[key]
	delete(r.pending, key)
	return n
}

const countRefusals = `INSERT INTO fsm_refused_deliveries AS r (provider, reason, day, count, last_at)
VALUES ($1, $2, (now() AT TIME ZONE 'UTC')::date, $3, now())
ON CONFLICT (provider, reason, day) DO UPDATE SET count = r.count + excluded.count, last_at = excluded.last_at`

// writeRefusals writes a count. A failure is no reason to answer otherwise: it
// keeps the count for the next time.
func (i *Inbox) writeRefusals(ctx context.Context, key refusal, n int64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	err := i.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, countRefusals, key.provider, key.reason, n)
		return err
	})
	if err != nil {
		i.refusals.giveBack(key, n)
	}
}

// reasons are those that a refusal may have, in order.
var reasons = []string{"too_large", "content_type", "key", "key_source", "recipient", "future", "stale", "signature", "header", "form", "other"}

// flushRefusals writes all counts that wait. [Retry] does so.
func (i *Inbox) flushRefusals(ctx context.Context) {
	for _, name := range i.names {
		for _, reason := range reasons {
			key := refusal{name, reason}
			if n := i.refusals.take(key); n > 0 {
				i.writeRefusals(ctx, key, n)
			}
		}
	}
}

// kindOf is the reason under which a refusal is counted.
func kindOf(err error) string {
	var (
		stale  *webhook.StaleError
		header *webhook.HeaderError
	)
	switch {
	case errors.Is(err, webhook.ErrUnknownKey):
		return "key"
	case errors.Is(err, webhook.ErrKeySource):
		return "key_source"
	case errors.Is(err, webhook.ErrRecipient):
		return "recipient"
	case errors.As(err, &stale) && stale.Future():
		return "future"
	case errors.As(err, &stale):
		return "stale"
	case errors.Is(err, webhook.ErrSignature):
		return "signature"
	case errors.As(err, &header):
		return "header"
	case errors.Is(err, webhook.ErrMalformed):
		return "form"
	}
	return "other"
}

// statusOf is the HTTP status of a refusal: 401, but 503 where nothing is known
// of the delivery, so that it comes again.
func statusOf(err error) int {
	if errors.Is(err, webhook.ErrKeySource) || errors.Is(err, webhook.ErrNoSecret) {
		return http.StatusServiceUnavailable
	}
	return http.StatusUnauthorized
}
