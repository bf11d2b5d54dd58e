package consume

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// burySQL gives a claim up and stores its message, in one statement: the owner's
// claim, one that has used up its tries and that nobody holds, or one that is dead
// and whose letter is gone. Of two deliveries at once one stores its message.
const burySQL = `
WITH dead AS (
  UPDATE fsm_consumed AS c
  SET state = 'dead', changed_at = clock_timestamp()
  WHERE c.consumer = $1 AND c.key = $2
    AND (c.state = 'claimed' AND c.owner = $3
      OR c.tries >= $4 AND (c.state = 'failed' OR c.state = 'claimed' AND c.lease_until <= clock_timestamp())
      OR c.state = 'dead' AND NOT EXISTS (
        SELECT FROM fsm_dead_letters AS d WHERE d.consumer = c.consumer AND d.key = c.key AND d.settled = ''
      ))
  RETURNING c.consumer, c.key, c.tries
)
INSERT INTO fsm_dead_letters (consumer, key, topic, message_id, payload, metadata, tries, error, at)
SELECT dead.consumer, dead.key, $5, $6, $7, $8::json, dead.tries, $9, clock_timestamp()
FROM dead
ON CONFLICT (consumer, key) WHERE settled = '' AND key <> '' DO NOTHING`

// errOrphaned is what a letter says that was stored since the one before was deleted.
var errOrphaned = errors.New("the dead letter with this key was deleted, which does not free the key")

// refuseSQL stores a message whose key is none; no row of fsm_consumed holds it.
const refuseSQL = `
INSERT INTO fsm_dead_letters (consumer, key, topic, message_id, payload, metadata, tries, error, at)
VALUES ($1, '', $2, $3, $4, $5::json, 0, $6, clock_timestamp())`

// Greatest sizes of what people read of a dead letter, in bytes.
const (
	maxLabel = 1024
	maxError = 4096
)

// stored is a message in the form in which it is stored, which the database takes
// whatever the message holds.
type stored struct {
	topic, id string
	payload   []byte
	metadata  string
}

func storedForm(m Message) stored {
	metadata := m.Metadata
	if metadata == nil {
		metadata = map[string]string{}
	}
	text, _ := json.Marshal(metadata) // texts alone, which cannot fail; keys are sorted
	s := stored{clean(m.Topic, maxLabel), clean(m.ID, maxLabel), m.Payload, string(text)}
	if s.payload == nil {
		s.payload = []byte{}
	}
	return s
}

// bury stores the job's message as a dead letter and gives its claim up, and reports
// whether there was a claim to give up.
func (c *Consumer) bury(ctx context.Context, j *job, owner string) (bool, error) {
	why := "the tries ended without an answer"
	if j.Err != nil {
		why = j.Err.Error()
	}
	s := storedForm(j.Message)
	tag, err := c.DB.Exec(ctx, burySQL, c.Name, j.Key, owner, c.Tries, s.topic, s.id, s.payload, s.metadata, clean(why, maxError))
	return tag.RowsAffected() > 0, told("store dead letter", err)
}

// giveUp is the result of a job whose tries were used up before: by processes that
// died, or when more tries were allowed.
func (c *Consumer) giveUp(ctx context.Context, j *job) Result {
	buried, err := c.bury(ctx, j, "")
	switch {
	case err != nil:
		return Result{Failed, err}
	case !buried: // another delivery was faster
		return Result{InProgress, ErrInProgress}
	}
	return Result{Dead, ErrDead}
}

// refuse is the result of a message whose key is none. It can never be handled, so
// it is stored at once and does not come again. The letter's error has the key's
// beginning, for whoever looks for where it comes from.
func (c *Consumer) refuse(ctx context.Context, item Item, why error) Result {
	s, text := storedForm(item.Message), why.Error()
	if item.Key != "" {
		text += ": " + beginning(item.Key)
	}
	_, err := c.DB.Exec(ctx, refuseSQL, c.Name, s.topic, s.id, s.payload, s.metadata, text)
	if err != nil {
		return Result{Failed, told("store dead letter", err)}
	}
	return Result{Dead, fmt.Errorf("%w: %w", ErrDead, why)}
}

// beginning is the first characters of a text, in ASCII: what is none, and what
// controls a terminal, is escaped as in Go.
func beginning(text string) string {
	const most = 64
	more := ""
	if len(text) > most {
		text, more = text[:most], "..."
	}
	quoted := strconv.QuoteToASCII(text)
	return quoted[1:len(quoted)-1] + more
}
