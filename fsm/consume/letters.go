package consume

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// Letter is a message that was given up and waits for a person.
type Letter struct {
	// ID counts up, and is what a person names the letter by.
	ID int64
	// Key is empty where the message had none that could be one.
	Key     string
	Message Message
	// Tries is how often it was tried, and Error what the last try said.
	Tries int
	Error string
	At    time.Time
}

const lettersSQL = `
SELECT d.id, d.key, d.topic, d.message_id, d.payload, d.metadata, d.tries, d.error, d.at
FROM fsm_dead_letters AS d
WHERE d.consumer = $1 AND d.settled = '' AND d.id > $2
ORDER BY d.id
LIMIT $3`

// maxLetters bounds a page of Letters.
const maxLetters = 1000

// Letters returns the consumer's open dead letters, oldest first: those after the
// one with the number after, 0 for the first page, and at most limit, where 0 or
// more than 1,000 means 1,000. It returns none, and no error, where there are none.
func (c *Consumer) Letters(ctx context.Context, after int64, limit int) ([]Letter, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if limit <= 0 || limit > maxLetters {
		limit = maxLetters
	}
	rows, _ := c.DB.Query(ctx, lettersSQL, c.Name, after, limit)
	letters, err := pgx.CollectRows(rows, scanLetter)
	return letters, told("read dead letters", err)
}

const letterSQL = `
SELECT d.id, d.key, d.topic, d.message_id, d.payload, d.metadata, d.tries, d.error, d.at
FROM fsm_dead_letters AS d
WHERE d.consumer = $1 AND d.id = $2 AND d.settled = ''`

// Letter returns one open dead letter, or ErrNoLetter.
func (c *Consumer) Letter(ctx context.Context, id int64) (Letter, error) {
	if err := c.check(); err != nil {
		return Letter{}, err
	}
	rows, _ := c.DB.Query(ctx, letterSQL, c.Name, id)
	return oneLetter(rows)
}

func oneLetter(rows pgx.Rows) (Letter, error) {
	letter, err := pgx.CollectExactlyOneRow(rows, scanLetter)
	if errors.Is(err, pgx.ErrNoRows) {
		return Letter{}, ErrNoLetter
	}
	return letter, told("read dead letter", err)
}

func scanLetter(r pgx.CollectableRow) (Letter, error) {
	var l Letter
	var metadata []byte
	err := r.Scan(&l.ID, &l.Key, &l.Message.Topic, &l.Message.ID, &l.Message.Payload, &metadata, &l.Tries, &l.Error, &l.At)
	if err != nil {
		return l, err
	}
	return l, json.Unmarshal(metadata, &l.Message.Metadata)
}

// settleSQL settles one open letter of the consumer; of two people at once one does.
const settleSQL = `
UPDATE fsm_dead_letters AS d
SET settled = $3, settled_by = $4, settled_why = $5, settled_at = clock_timestamp()
WHERE d.consumer = $1 AND d.id = $2 AND d.settled = ''
RETURNING d.id, d.key, d.topic, d.message_id, d.payload, d.metadata, d.tries, d.error, d.at`

// freeSQL frees the key of a letter that is requeued: its message is new again.
const freeSQL = `
DELETE FROM fsm_consumed AS c
WHERE c.consumer = $1 AND c.key = $2 AND c.state = 'dead'`

// closeSQL closes the key of a letter that is discarded: its message is done with,
// and the key is swept as those are.
const closeSQL = `
UPDATE fsm_consumed AS c
SET state = 'done', owner = '', changed_at = clock_timestamp()
WHERE c.consumer = $1 AND c.key = $2 AND c.state = 'dead'`

// Requeue frees the key of a dead letter and gives its message to publish, in one
// transaction: publish may write it to an outbox there, or publish it to the broker at
// once. A delivery that comes before the COMMIT waits for it. Where publish or the
// COMMIT fails, the letter stays as it is, and a message that was published is Dead.
// Without publish the key is free, and whoever called may hand the letter's message to
// Consume, or wait for the sender to send it again.
//
// The letter stays in its table as settled, with who requeued it and why, both of
// which are required. It returns the letter, ErrNoLetter, fsm.ErrArgument, publish's
// error, or one of fsm.RunTx.
func (c *Consumer) Requeue(ctx context.Context, id int64, who fsm.Correction, publish func(context.Context, pgx.Tx, Message) error) (Letter, error) {
	return c.close(ctx, id, who, "requeued", freeSQL, publish)
}

// Discard settles a dead letter for good: its key counts as done, so a message that
// comes again with it is a Duplicate. Arguments and errors are those of Requeue.
func (c *Consumer) Discard(ctx context.Context, id int64, who fsm.Correction) (Letter, error) {
	return c.close(ctx, id, who, "discarded", closeSQL, nil)
}

// close settles a letter, changes its key's row, and publishes.
func (c *Consumer) close(ctx context.Context, id int64, who fsm.Correction, how, keySQL string, publish func(context.Context, pgx.Tx, Message) error) (Letter, error) {
	if err := c.check(); err != nil {
		return Letter{}, err
	}
	if strings.TrimSpace(who.Actor) == "" || strings.TrimSpace(who.Reason) == "" {
		return Letter{}, fmt.Errorf("%w: who settles a dead letter, and why, is missing", fsm.ErrArgument)
	}
	var letter Letter
	err := fsm.RunTx(ctx, c.DB, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, settleSQL, c.Name, id, how, clean(who.Actor, maxLabel), clean(who.Reason, maxError))
		var err error
		if letter, err = oneLetter(rows); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, keySQL, c.Name, letter.Key); err != nil {
			return told(how, err)
		}
		if publish == nil {
			return nil
		}
		return publish(ctx, tx, letter.Message)
	})
	return letter, err
}
