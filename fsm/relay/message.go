package relay

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"
	"time"
)

// Message is one row of the outbox.
type Message struct {
	// ID is a UUID that stays the same over deliveries, dumps and restores, and
	// by which a receiver knows what it has seen. See [Message.Identify].
	ID string
	// Row is the id in fsm_outbox: it counts up, with gaps.
	Row int64
	// Machine, Key and Version are the row of business and the version that the
	// transition made of it; for a fact that moved nothing, the version it has.
	Machine, Key string
	Version      int64
	// Event is what happened, Topic the word of emit.
	Event, Topic string
	// Payload is the JSON object as it was stored.
	Payload []byte
	// At is when it happened.
	At time.Time
}

// Publisher hands a message over. Publish returns nil when the message was
// accepted for good, and an error when it was not, or when nobody knows: it will
// be sent again. ctx ends after [Relay.Timeout]. It is called by several
// goroutines at once, but for one key by one at a time.
type Publisher interface {
	Publish(ctx context.Context, m Message) error
}

// PublisherFunc is a function as a [Publisher].
type PublisherFunc func(ctx context.Context, m Message) error

// Publish calls the function.
func (f PublisherFunc) Publish(ctx context.Context, m Message) error { return f(ctx, m) }

// Identify is the message's id: a UUID of version 8 (RFC 9562), made of the
// SHA-256 of all that the row has but the payload, each part with its length
// before it.
//
// The row's id alone would not do: it is drawn again for another message when a
// database goes back to an older backup. All the rest without it would not do
// either: two facts that moved nothing may agree in key, version, event, topic
// and time.
func (m Message) Identify() string {
	h := sha256.New()
	for _, part := range []string{
		strconv.FormatInt(m.Row, 10), m.Machine, m.Key, strconv.FormatInt(m.Version, 10), m.Event, m.Topic,
		strconv.FormatInt(m.At.UnixMicro(), 10),
	} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part) // a hash takes everything
	}
	b := h.Sum(nil)[:16]
	b[6] = b[6]&0x0f | 0x80
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
