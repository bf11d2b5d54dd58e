package runbook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/gen/order"
)

// action does one thing for a person, and says what was done.
type action func(ctx context.Context, pool *pgxpool.Pool, who fsm.Correction) (string, error)

// actOf returns what verb, kind, key and the rest ask for.
func actOf(verb string, args []string, open OpenInbox) (action, error) {
	if len(args) < 2 {
		return nil, fmt.Errorf("%w: %s which record? KIND and KEY are missing", ErrUsage, verb)
	}
	key := args[1]
	if kind := args[0]; kind == "order" || kind == "attempt" {
		if err := uuid(kind, key); err != nil {
			return nil, err
		}
	}
	switch fmt.Sprintf("%s %s %d", verb, args[0], len(args)-2) {
	case "release outbox 0":
		return retryOutbox(key)
	case "complete outbox 1":
		return setAside(key, args[2])
	case "release letter 0":
		return requeue(key)
	case "complete letter 0":
		return discard(key)
	case "release attempt 0":
		return resumeAttempt(key), nil
	case "release refund 0":
		return releaseRefund(key), nil
	case "release refund 1":
		return tryAgain(key, args[2])
	case "complete refund 1":
		return completeRefund(key, args[2])
	case "complete attempt 2":
		return settleAttempt(key, args[2], args[3])
	case "release event 0":
		return replay(key, open)
	case "complete event 0":
		return endEvent(key)
	case "complete case 0":
		return closeCase(key)
	case "complete delivery 0":
		return endDelivery(key)
	case "complete order 1":
		return correctOrder(key, order.State(args[2]))
	}
	return nil, fmt.Errorf("%w: %q is none of these", ErrUsage, verb+" "+strings.Join(args, " "))
}

// audit is what fsm_audit is told of an action whose package tells it nothing.
type audit struct {
	machine, key     string
	version          int64
	action, from, to string
}

const auditSQL = `INSERT INTO fsm_audit (machine, key, version, action, from_status, to_status, actor, reason, at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp())`

func (a audit) write(ctx context.Context, db fsm.DB, who fsm.Correction) error {
	_, err := db.Exec(ctx, auditSQL, a.machine, a.key, a.version, a.action, a.from, a.to, who.Actor, who.Reason)
	return err
}

// retryOutbox has the first message of a held key tried again.
func retryOutbox(text string) (action, error) {
	machine, key, err := rowKey(text)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, pool *pgxpool.Pool, who fsm.Correction) (string, error) {
		return "the message is tried again", fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
			if err := relay.Retry(ctx, tx, machine, key); err != nil {
				return err
			}
			return audit{"fsm_outbox", text, 0, "retry", "held", "waiting"}.write(ctx, tx, who)
		})
	}, nil
}

// setAside takes the message in that row out of the way of those behind it.
func setAside(text, rowText string) (action, error) {
	machine, key, err := rowKey(text)
	if err != nil {
		return nil, err
	}
	row, err := number(rowText)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, pool *pgxpool.Pool, who fsm.Correction) (string, error) {
		return "the message is set aside", fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
			if err := relay.SetAside(ctx, tx, machine, key, row, relay.Decision{Actor: who.Actor, Reason: who.Reason}); err != nil {
				return err
			}
			return audit{"fsm_outbox", text, row, "set aside", "held", "aside"}.write(ctx, tx, who)
		})
	}, nil
}

// consumerOf is a consumer by the name that a letter has. It never consumes, so
// that its bounds are of no account.
func consumerOf(ctx context.Context, pool *pgxpool.Pool, letter int64) (*consume.Consumer, error) {
	c := &consume.Consumer{DB: pool, Lease: time.Minute, Tries: 1}
	err := pool.QueryRow(ctx, "SELECT l.consumer FROM fsm_dead_letters AS l WHERE l.id = $1", letter).Scan(&c.Name)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("letter: %w", fsm.ErrNotFound)
	}
	return c, err
}

// joined is a transaction as a consumer's database: what the consumer does is a part
// of it, and commits with the rest.
type joined struct{ pgx.Tx }

// BeginTx begins a savepoint, which has the options of its transaction.
func (j joined) BeginTx(ctx context.Context, _ pgx.TxOptions) (pgx.Tx, error) { return j.Begin(ctx) }

// putBackSQL writes a letter's message into the outbox that it came from. That row
// was acknowledged when the letter was written, and the letter has all of it.
const putBackSQL = `
INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
SELECT p.payload->>'machine', p.payload->>'key', (p.payload->>'version')::bigint, p.payload->>'event', $2, p.payload, clock_timestamp()
FROM (SELECT convert_from($1::bytea, 'UTF8')::jsonb AS payload) AS p`

// putBack has the relay deliver the message of a letter again, and reports whether
// it is one of the outbox.
func putBack(ctx context.Context, tx pgx.Tx, m consume.Message) (bool, error) {
	var told struct {
		Machine, Key, Event string
		Version             int64
	}
	// encoding/json would let bytes pass that PostgreSQL cannot have written.
	if !utf8.Valid(m.Payload) || json.Unmarshal(m.Payload, &told) != nil || told.Machine == "" || told.Key == "" || told.Event == "" || told.Version < 1 {
		return false, nil
	}
	_, err := tx.Exec(ctx, putBackSQL, m.Payload, m.Topic)
	return true, err
}

// requeue frees the key of a letter and has its message delivered again. Who
// publishes a message that is not of the outbox is not known here.
func requeue(text string) (action, error) {
	id, err := number(text)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, pool *pgxpool.Pool, who fsm.Correction) (string, error) {
		c, err := consumerOf(ctx, pool, id)
		if err != nil {
			return "", err
		}
		again := false
		letter, err := c.Requeue(ctx, id, who, func(ctx context.Context, tx pgx.Tx, m consume.Message) error {
			var err error
			if again, err = putBack(ctx, tx, m); err != nil {
				return err
			}
			return audit{"fsm_dead_letters", text, 0, "requeue", "dead", "requeued"}.write(ctx, tx, who)
		})
		if again {
			return fmt.Sprintf("key %q is free, and the outbox has its message again", letter.Key), err
		}
		return fmt.Sprintf("key %q is free: have topic %q deliver message %q again", letter.Key, letter.Message.Topic, letter.Message.ID), err
	}, nil
}

// discard settles a letter for good.
func discard(text string) (action, error) {
	id, err := number(text)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, pool *pgxpool.Pool, who fsm.Correction) (done string, err error) {
		c, err := consumerOf(ctx, pool, id)
		if err != nil {
			return "", err
		}
		err = fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
			c.DB = joined{tx}
			letter, err := c.Discard(ctx, id, who)
			if err != nil {
				return err
			}
			done = fmt.Sprintf("key %q counts as done", letter.Key)
			return audit{"fsm_dead_letters", text, int64(letter.Tries), "discard", "dead", "discarded"}.write(ctx, tx, who)
		})
		return done, err
	}, nil
}

// settleAttempt records what the provider was asked by other means.
func settleAttempt(id, answer, detail string) (action, error) {
	state, result, code := attempt.Succeeded, attempt.Result{Ref: detail}, ""
	switch answer {
	case "succeeded":
	case "refused":
		state, result, code = attempt.Refused, attempt.Result{}, detail
	default:
		return nil, fmt.Errorf("%w: want succeeded REF or refused CODE", ErrUsage)
	}
	return func(ctx context.Context, pool *pgxpool.Pool, who fsm.Correction) (string, error) {
		return "the answer is recorded; the next round completes it", attempt.Settle(ctx, pool, id, state, result, code, who)
	}, nil
}

// correctOrder forces an order into a state.
func correctOrder(id string, to order.State) (action, error) {
	if !to.Valid() {
		return nil, fmt.Errorf("%w: want one of the states %v", ErrUsage, order.States())
	}
	return func(ctx context.Context, pool *pgxpool.Pool, who fsm.Correction) (string, error) {
		result, err := order.Correct(ctx, pool, order.Key(id), to, who)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s: the order is %s, version %d", result.Outcome, result.State, result.Version), result.Err()
	}, nil
}
