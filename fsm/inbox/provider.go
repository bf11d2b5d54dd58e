package inbox

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/webhook"
)

// Event is one thing that a provider told.
type Event struct {
	// Provider is the provider's name; the inbox sets it.
	Provider string
	// ID is the provider's name for the event, 1 to 512 bytes. The same ID from
	// the same provider is the same event.
	ID string
	// Type is the provider's word for the kind of event.
	Type string
	// Object and Status are what the event says of what: a payment's number and
	// its status. Events with other IDs that say the same are the same. Both are
	// empty where a repeated word may be news.
	Object, Status string
	// Fingerprint is what equal events must agree on, the amount above all. An
	// event of equal object and status with another one is another event.
	Fingerprint string
	// Data is what Parse made of the body, for the Handler.
	Data any
	// Attempt counts the tries to process the event, from 1; the inbox sets it.
	Attempt int
}

// Identity is a number of the provider's with its provider, for the identity of a
// machine's fact: two providers may use one number.
func (e Event) Identity(number string) string { return e.Provider + ":" + number }

// check refuses what cannot be stored.
func (e Event) check() error {
	for _, f := range []struct {
		name, text  string
		least, most int
	}{
		{"event ID", e.ID, 1, 512}, {"event type", e.Type, 0, 256}, {"event object", e.Object, 0, 512},
		{"event status", e.Status, 0, 128}, {"event fingerprint", e.Fingerprint, 0, 512},
	} {
		if err := checkText(f.name, f.text, f.least, f.most); err != nil {
			return err
		}
	}
	if (e.Object == "") != (e.Status == "") {
		return fmt.Errorf("%w: an event has object and status, or neither", fsm.ErrArgument)
	}
	return nil
}

// Handler makes an event take effect: it calls the machine in tx, and returns the
// machine's outcome, or "" when no machine was asked. It must do nothing outside
// tx, and neither commit nor roll back: it may be run again.
//
// What the inbox makes of it:
//
//   - Applied, Replayed, Compensated: done. Ignored and Rejected: done and stale.
//   - Mismatched, GuardFailed: committed, and dead, for a person.
//   - Stale, and the errors fsm.ErrNotFound, ErrTooEarly and all others: rolled
//     back and parked.
//   - ErrUnknownType: rolled back and ignored.
//   - fsm.ErrUnknownWord, fsm.ErrArgument: rolled back and dead.
//   - the context's end: rolled back, and tried again by [Retry].
type Handler func(ctx context.Context, tx pgx.Tx, e Event) (fsm.Outcome, error)

// Parse reads the events out of a genuine body: at most 100, none when there is
// nothing for us in it. It must be a function of its arguments alone, since it
// reads a stored body again for a retry. Its error makes the delivery unreadable,
// but for ErrUnknownType.
type Parse func(d webhook.Delivery, body []byte) ([]Event, error)

// Provider is one endpoint: who may tell something, and what is done with it.
// [Stripe] and the others begin one; its user sets Handle.
type Provider struct {
	// Name is part of every identity: lower-case letters, digits, - and _.
	Name     string
	Verifier webhook.Verifier
	Parse    Parse
	// Change, when set, tells object, status and fingerprint of an event in place
	// of what Parse says of them.
	Change  func(e Event) (object, status, fingerprint string)
	Handle  Handler
	Answers Answers
	// Limit is the time in which the provider wants its answer; Margin, a fifth
	// of it when 0, is kept for recording, three quarters of it, and answering.
	Limit, Margin time.Duration
	// Repeats is how long the provider repeats what was not accepted.
	Repeats time.Duration
	// MaxBody is the greatest body, in bytes; 0 means 256 KiB.
	MaxBody int64
	// ContentType is the media type of a delivery's body. One whose header says
	// clearly another, or another charset than UTF-8, is refused.
	ContentType string
	// Headers are those that are stored with a delivery.
	Headers []string
}

const (
	defaultMaxBody  = 256 << 10
	maxEvents       = 100
	maxProviderName = 64
)

// secretHeaders are never stored.
var secretHeaders = []string{"Authorization", "Cookie", "Proxy-Authorization", "Set-Cookie"}

// prepared returns the provider with its defaults, or ErrConfig.
func (p Provider) prepared() (*Provider, error) {
	if p.MaxBody == 0 {
		p.MaxBody = defaultMaxBody
	}
	if p.Margin == 0 {
		p.Margin = p.Limit / 5
	}
	wrong := ""
	switch {
	case p.Name == "" || len(p.Name) > maxProviderName || strings.Trim(p.Name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "":
		wrong = "its name is not of lower-case letters, digits, - and _"
	case p.Verifier == nil:
		wrong = "it has no verifier"
	case p.Parse == nil || p.Handle == nil:
		wrong = "it has no Parse or no Handle"
	case p.Limit <= 0 || p.Margin < 0 || p.Margin >= p.Limit:
		wrong = "its limit leaves no time"
	case p.Repeats <= 0 || p.MaxBody < 0:
		wrong = "how long it repeats, and how much, is positive"
	case p.ContentType == "":
		wrong = "it has no content type"
	case p.Answers.Accepted.Status/100 != 2 || p.Answers.Failed == nil:
		wrong = "it has no answers"
	case slices.ContainsFunc(p.Headers, func(h string) bool { return slices.Contains(secretHeaders, http.CanonicalHeaderKey(h)) }):
		wrong = "a header to be stored is a secret"
	}
	if wrong != "" {
		return nil, fmt.Errorf("%w: provider %q: %s", ErrConfig, p.Name, wrong)
	}
	return &p, nil
}

// events parses a genuine body, with the checks and what the inbox adds.
func (p *Provider) events(d webhook.Delivery, body []byte) (events []Event, err error) {
	defer func() {
		if recover() != nil { // what was thrown may hold the body
			events, err = nil, fmt.Errorf("%w: Parse panicked", ErrUnreadable)
		}
	}()
	events, err = p.Parse(d, body)
	if err != nil {
		return nil, err
	}
	if len(events) > maxEvents {
		return nil, fmt.Errorf("%w: over %d events in one delivery", ErrUnreadable, maxEvents)
	}
	events = slices.Clone(events)
	for i := range events {
		e := &events[i]
		e.Provider = p.Name
		if p.Change != nil {
			e.Object, e.Status, e.Fingerprint = p.Change(*e)
		}
		if err := e.check(); err != nil {
			return nil, err
		}
	}
	return events, nil
}
