// Package relaywatermill has a relay publish by a Publisher of Watermill: to
// Kafka, NATS, RabbitMQ, SQL, Redis streams, and whatever else there is one for.
package relaywatermill

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/pawl-go/pawl/fsm/relay"
)

// Keys of a message's metadata.
const (
	Machine = "machine"
	Key     = "key"
	// Version is a decimal number.
	Version = "version"
	Event   = "event"
	// Topic is the word of emit, whatever topic it was mapped to.
	Topic = "topic"
	// At is the time as in RFC 3339, in UTC, with microseconds.
	At = "at"
)

// ErrNoPublisher says that there is nothing to publish by.
var ErrNoPublisher = errors.New("relaywatermill: Publisher is nil")

// ErrNoTopic says that the topic of a message was mapped to nothing.
var ErrNoTopic = errors.New("relaywatermill: no topic")

// Publisher publishes by a Publisher of Watermill, which must answer only when
// the broker has accepted: most do, and some have a setting for it. It is as
// safe for concurrent use as that one, which Watermill demands.
type Publisher struct {
	Publisher message.Publisher
	// Topic maps a message to its topic; nil means the word of emit.
	Topic func(relay.Message) string
	// Prepare may change the message before it is sent, say its metadata; nil for
	// none. Its error is that of the try.
	Prepare func(relay.Message, *message.Message) error
}

var _ relay.Publisher = (*Publisher)(nil)

// Publish sends one message: its UUID is the relay's id, the same over all
// deliveries, by which a broker or a receiver may tell duplicates.
//
// Watermill gives a publisher the context in the message, and not all look at it.
// So Publish gives up when ctx ends, with ctx's error, and the call may go on
// behind: the message may still arrive, once more than by the try that follows.
func (p *Publisher) Publish(ctx context.Context, m relay.Message) error {
	if p.Publisher == nil {
		return ErrNoPublisher
	}
	topic := m.Topic
	if p.Topic != nil {
		topic = p.Topic(m)
	}
	if topic == "" {
		return ErrNoTopic
	}
	msg := Message(m)
	msg.SetContext(ctx)
	if p.Prepare != nil {
		if err := p.Prepare(m, msg); err != nil {
			return err
		}
	}
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("relaywatermill: the publisher panicked: %v", r)
			}
		}()
		done <- p.Publisher.Publish(topic, msg)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Message is a message as Watermill has it: the payload as it was stored, and all
// else in the metadata.
func Message(m relay.Message) *message.Message {
	msg := message.NewMessage(m.ID, m.Payload)
	msg.Metadata = message.Metadata{
		Machine: m.Machine,
		Key:     m.Key,
		Version: strconv.FormatInt(m.Version, 10),
		Event:   m.Event,
		Topic:   m.Topic,
		At:      m.At.UTC().Format("2006-01-02T15:04:05.000000Z07:00"),
	}
	return msg
}

// Parse is Message in reverse, for receivers. Row is not sent, and stays 0. The
// error says which part is missing or malformed.
func Parse(msg *message.Message) (relay.Message, error) {
	m := relay.Message{
		ID: msg.UUID, Machine: msg.Metadata[Machine], Key: msg.Metadata[Key],
		Event: msg.Metadata[Event], Topic: msg.Metadata[Topic], Payload: msg.Payload,
	}
	var err error
	if m.Version, err = strconv.ParseInt(msg.Metadata[Version], 10, 64); err != nil {
		return relay.Message{}, fmt.Errorf("relaywatermill: metadata %s is no number", Version)
	}
	if m.At, err = time.Parse(time.RFC3339Nano, msg.Metadata[At]); err != nil {
		return relay.Message{}, fmt.Errorf("relaywatermill: metadata %s is no time", At)
	}
	return m, nil
}
