package inbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/webhook"
)

// Receipt is what came of a delivery.
type Receipt struct {
	// Delivery is its number in the inbox, 0 when it was not stored.
	Delivery int64
	// Told has the delivery's events, in the order of the body.
	Told []Told
	// Answer is what the provider is to be told. It is set with an error, too.
	Answer Answer
}

// Receive takes one delivery through the three transactions. [Inbox.Handler] does
// so for net/http; this is for other servers. body is as received.
//
// An accepted delivery has a nil error, whatever became of its events: they are
// stored, and so they are ours. The errors: ErrProvider; ErrRefused and
// ErrUnreadable; and those of the database, after which the provider has to come
// again, which is safe.
func (i *Inbox) Receive(ctx context.Context, provider string, header http.Header, body []byte) (Receipt, error) {
	p := i.providers[provider]
	if p == nil {
		return Receipt{Answer: plainly(http.StatusNotFound, "no such provider")}, ErrProvider
	}
	if int64(len(body)) > p.MaxBody {
		return i.refuse(ctx, p, http.StatusRequestEntityTooLarge, "too_large", errTooLarge)
	}
	end := time.Now().Add(p.Limit - p.Margin/4) // of all that the answer waits for
	ctx, cancel := context.WithTimeout(ctx, p.Limit-p.Margin)
	defer cancel()
	signed, err := verify(ctx, p.Verifier, header, body, i.Clock())
	if err != nil {
		return i.refuse(ctx, p, statusOf(err), kindOf(err), err)
	}
	var events []Event
	if err = checkText("message ID", signed.ID, 0, maxHeader); err != nil {
		signed.ID = "" // a verifier of the user's own
	} else {
		events, err = p.events(signed, body)
	}
	switch {
	case errors.Is(err, ErrUnknownType):
		events = nil
	case err != nil:
		return i.unreadable(ctx, p, signed, header, body, err)
	}
	r, claims, err := i.store(ctx, p, delivery{signed, header, body}, events)
	if err == nil {
		err = fault.At(ctx, PointReceived)
	}
	if err != nil {
		return Receipt{Answer: p.comeAgain()}, err
	}
	return i.complete(ctx, end, p, r, claims)
}

// complete processes what this delivery claimed, and records what came of all, until
// the end.
func (i *Inbox) complete(ctx context.Context, end time.Time, p *Provider, r Receipt, claims []claim) (Receipt, error) {
	var failures []failure
	for _, c := range claims {
		told, failed := i.process(ctx, p, c)
		r.Told[c.position] = told
		if failed != nil {
			failures = append(failures, *failed)
		}
	}
	err := fault.At(ctx, PointProcessed)
	if err == nil {
		err = i.record(ctx, end, &r, failures)
	}
	if err == nil {
		err = fault.At(ctx, PointRecorded)
	}
	if err != nil {
		// What was processed stays so, and what was not is taken over when its
		// lease ends. The provider may as well come again.
		r.Answer = p.comeAgain()
		return r, err
	}
	i.observe(r.Told...)
	r.Answer = p.Answers.Accepted
	return r, nil
}

func (p *Provider) comeAgain() Answer {
	return p.Answers.Failed(http.StatusServiceUnavailable, "come again")
}

// unreadable stores a genuine delivery that Parse cannot read.
func (i *Inbox) unreadable(ctx context.Context, p *Provider, signed webhook.Delivery, header http.Header, body []byte, cause error) (Receipt, error) {
	id, err := i.storeUnreadable(ctx, p, delivery{signed, header, body})
	if err != nil {
		return Receipt{Answer: p.comeAgain()}, err
	}
	told := Told{Provider: p.Name, Verdict: VerdictUnreadable, Reason: reasonOf(cause)}
	i.observe(told)
	return Receipt{
		Delivery: id, Told: []Told{told}, Answer: p.Answers.Failed(http.StatusUnprocessableEntity, "not understood"),
	}, fmt.Errorf("%w: %w", ErrUnreadable, cause)
}

// verify asks with the context where the verifier may have to fetch a key.
func verify(ctx context.Context, v webhook.Verifier, header http.Header, body []byte, now time.Time) (webhook.Delivery, error) {
	if v, ok := v.(interface {
		VerifyContext(context.Context, http.Header, []byte, time.Time) (webhook.Delivery, error)
	}); ok {
		return v.VerifyContext(ctx, header, body, now)
	}
	return v.Verify(header, body, now)
}
