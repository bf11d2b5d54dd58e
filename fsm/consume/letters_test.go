package consume_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/consume"
)

var who = fsm.Correction{Actor: "ada", Reason: "the bug is fixed"}

// killLetter has the message of a key fail its tries, and returns its letter.
func killLetter(t *testing.T, c *consume.Consumer, key string) consume.Letter {
	t.Helper()
	for try := 1; try <= c.Tries; try++ {
		out, err := c.Consume(t.Context(), key, message(key), failing)
		require.ErrorIs(t, err, errBoom)
		want := consume.Failed
		if try == c.Tries {
			want = consume.Dead
			require.ErrorIs(t, err, consume.ErrDead)
		}
		require.Equal(t, want, out, "try %d", try)
	}
	letters, err := c.Letters(t.Context(), 0, 0)
	require.NoError(t, err)
	require.NotEmpty(t, letters)
	return letters[len(letters)-1]
}

// The report: a task that was archived still holds its unique id, and cannot be
// enqueued again. Here the key is held while the letter is open, which the outcome
// says, and requeueing frees it.
func TestDeadLetterHoldsItsKey(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	letter := killLetter(t, c, "k")
	require.Equal(t, message("k"), letter.Message)
	require.Equal(t, 3, letter.Tries)
	require.Equal(t, "boom", letter.Error)
	require.Equal(t, 0, effects(t, db, ""))
	out, err := c.Consume(t.Context(), "k", message("k"), never(t))
	require.ErrorIs(t, err, consume.ErrDead)
	require.Equal(t, consume.Dead, out, "sent again while the letter is open")

	same, err := c.Letter(t.Context(), letter.ID)
	require.NoError(t, err)
	require.Equal(t, letter, same)

	var published []consume.Message
	_, err = c.Requeue(t.Context(), letter.ID, who, func(_ context.Context, _ pgx.Tx, m consume.Message) error {
		return errBoom
	})
	require.Equal(t, errBoom, err)
	out, _ = c.Consume(t.Context(), "k", message("k"), never(t))
	require.Equal(t, consume.Dead, out, "a publication that failed leaves the letter")

	_, err = c.Requeue(t.Context(), letter.ID, who, func(_ context.Context, _ pgx.Tx, m consume.Message) error {
		published = append(published, m)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []consume.Message{message("k")}, published)
	_, err = c.Requeue(t.Context(), letter.ID, who, nil)
	require.ErrorIs(t, err, consume.ErrNoLetter, "requeued once")
	out, err = c.Consume(t.Context(), "k", published[0], effect)
	require.NoError(t, err)
	require.Equal(t, consume.Done, out)
	require.Equal(t, 1, effects(t, db, "k"))

	var by, why string
	require.NoError(t, db.QueryRow(t.Context(),
		`SELECT settled_by, settled_why FROM fsm_dead_letters WHERE settled = 'requeued'`).Scan(&by, &why))
	require.Equal(t, []string{"ada", "the bug is fixed"}, []string{by, why})
}

// A letter that was deleted by hand, and not settled, still held its key: messages with
// it were acknowledged for good and kept nowhere. The next one is a letter again, which
// frees the key as any does; of several at once one is.
func TestDeletedLetter(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	killLetter(t, c, "k")
	_, err := db.Exec(t.Context(), `DELETE FROM fsm_dead_letters`)
	require.NoError(t, err)
	outcomes := make(chan consume.Outcome, 5)
	for range cap(outcomes) {
		go func() {
			out, _ := c.Consume(t.Context(), "k", message("k"), never(t))
			outcomes <- out
		}()
	}
	for range cap(outcomes) {
		require.Contains(t, []consume.Outcome{consume.Dead, consume.InProgress}, <-outcomes)
	}
	letters, err := c.Letters(t.Context(), 0, 0)
	require.NoError(t, err)
	require.Len(t, letters, 1)
	require.Equal(t, message("k"), letters[0].Message)
	require.Contains(t, letters[0].Error, "was deleted")
	out, err := c.Consume(t.Context(), "k", message("k"), never(t))
	require.ErrorIs(t, err, consume.ErrDead)
	require.Equal(t, consume.Dead, out)
	_, err = c.Requeue(t.Context(), letters[0].ID, who, nil)
	require.NoError(t, err)
	out, err = c.Consume(t.Context(), "k", message("k"), effect)
	require.NoError(t, err)
	require.Equal(t, consume.Done, out)
	require.Equal(t, 1, effects(t, db, "k"))
}

// A requeued message has all its tries again, and may die again.
func TestRequeuedMayDieAgain(t *testing.T) {
	t.Parallel()
	c, _ := newConsumer(t)
	first := killLetter(t, c, "k")
	_, err := c.Requeue(t.Context(), first.ID, who, nil)
	require.NoError(t, err)
	second := killLetter(t, c, "k")
	require.NotEqual(t, first.ID, second.ID)
	require.Equal(t, 3, second.Tries)
}

func TestDiscard(t *testing.T) {
	t.Parallel()
	c, _ := newConsumer(t)
	letter := killLetter(t, c, "k")
	got, err := c.Discard(t.Context(), letter.ID, who)
	require.NoError(t, err)
	require.Equal(t, letter, got)
	out, err := c.Consume(t.Context(), "k", message("k"), never(t))
	require.NoError(t, err)
	require.Equal(t, consume.Duplicate, out)
	_, err = c.Letter(t.Context(), letter.ID)
	require.ErrorIs(t, err, consume.ErrNoLetter)
}

func TestSettlingNeedsWhoAndWhy(t *testing.T) {
	t.Parallel()
	c, _ := newConsumer(t)
	letter := killLetter(t, c, "k")
	for _, bad := range []fsm.Correction{{}, {Actor: "ada"}, {Reason: "r"}, {Actor: " ", Reason: "r"}} {
		_, err := c.Requeue(t.Context(), letter.ID, bad, nil)
		require.ErrorIs(t, err, fsm.ErrArgument)
		_, err = c.Discard(t.Context(), letter.ID, bad)
		require.ErrorIs(t, err, fsm.ErrArgument)
	}
	other := *c
	other.Name = "billing"
	_, err := other.Requeue(t.Context(), letter.ID, who, nil)
	require.ErrorIs(t, err, consume.ErrNoLetter, "another consumer's letter")
	killLetter(t, &other, "k")
	_, err = c.Requeue(t.Context(), letter.ID, who, nil)
	require.NoError(t, err)
	out, _ := other.Consume(t.Context(), "k", message("k"), never(t))
	require.Equal(t, consume.Dead, out, "another consumer's key")
}

// A dead letter takes any message, whatever a text in it would do to PostgreSQL.
func TestLetterOfAnyMessage(t *testing.T) {
	t.Parallel()
	c, _ := newConsumer(t)
	c.Tries = 1
	m := consume.Message{
		Topic: "a\x00b", ID: strings.Repeat("é", 2000),
		Payload:  []byte("\x00\xff"),
		Metadata: map[string]string{"a\x00": "\x00", "b": "\xff", "c": "\u2028<>"},
	}
	out, err := c.Consume(t.Context(), "k", m, func(context.Context, pgx.Tx, consume.Message) error {
		return fmt.Errorf("%w \x00\xff %s", errBoom, strings.Repeat("é", 9000))
	})
	require.ErrorIs(t, err, errBoom)
	require.Equal(t, consume.Dead, out)
	letters, err := c.Letters(t.Context(), 0, 0)
	require.NoError(t, err)
	require.Len(t, letters, 1)
	l := letters[0]
	require.Equal(t, m.Payload, l.Message.Payload)
	require.Equal(t, map[string]string{"a\x00": "\x00", "b": "\uFFFD", "c": "\u2028<>"}, l.Message.Metadata)
	require.Equal(t, "a\uFFFDb", l.Message.Topic)
	require.Equal(t, strings.Repeat("é", 512), l.Message.ID)
	require.True(t, strings.HasPrefix(l.Error, "boom \uFFFD\uFFFD éé"))
	require.LessOrEqual(t, len(l.Error), 4096)
}

func TestPagesOfLetters(t *testing.T) {
	t.Parallel()
	c, _ := newConsumer(t)
	c.Tries = 1
	for n := range 5 {
		killLetter(t, c, fmt.Sprint("k", n))
	}
	var keys []string
	after := int64(0)
	for {
		page, err := c.Letters(t.Context(), after, 2)
		require.NoError(t, err)
		if len(page) == 0 {
			break
		}
		require.LessOrEqual(t, len(page), 2)
		for _, l := range page {
			keys = append(keys, l.Key)
		}
		after = page[len(page)-1].ID
	}
	require.Equal(t, []string{"k0", "k1", "k2", "k3", "k4"}, keys)
}

// age moves the rows that are done, and the letters that are settled, a day back.
func age(t *testing.T, db *pgxpool.Pool) {
	t.Helper()
	_, err := db.Exec(t.Context(), `UPDATE fsm_consumed SET changed_at = changed_at - interval '1 day'`)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `UPDATE fsm_dead_letters SET settled_at = settled_at - interval '1 day' WHERE settled <> ''`)
	require.NoError(t, err)
}

// The report: a page full of rows that must stay hides those behind it for ever. The
// rows that stay are older here than those that go.
func TestPageFullOfLiveRows(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	_, err := db.Exec(t.Context(), `
		INSERT INTO fsm_consumed (consumer, key, state, owner, tries, lease_until, changed_at)
		SELECT 'shipping', s || n, s, '', 1, now() + interval '1 hour', now() - interval '9 days'
		FROM unnest(ARRAY['claimed', 'failed', 'dead']) AS s, generate_series(1, 20) AS n
		UNION ALL
		SELECT c, 'old' || n, 'done', '', 1, now(), now() - interval '2 days'
		FROM unnest(ARRAY['shipping', 'billing']) AS c, generate_series(1, 25) AS n
		UNION ALL
		SELECT 'shipping', 'fresh' || n, 'done', '', 1, now(), now() FROM generate_series(1, 20) AS n`)
	require.NoError(t, err)
	c.Tries = 1
	openLetter := killLetter(t, c, "open")
	settled := killLetter(t, c, "settled")
	_, err = c.Requeue(t.Context(), settled.ID, who, nil)
	require.NoError(t, err)

	tx, err := db.Begin(t.Context()) // holds the oldest of those that go
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT FROM fsm_consumed WHERE consumer = 'shipping' AND key = 'old1' FOR UPDATE`)
	require.NoError(t, err)
	sweep := consume.Sweep{Retention: 24 * time.Hour, Limit: 10}
	patient, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	keys, letters, err := c.Sweep(patient, sweep)
	require.NoError(t, err, "it does not wait for the one that is held")
	require.Equal(t, 24, keys, "all but that one")
	require.Equal(t, 0, letters)
	require.NoError(t, tx.Rollback(t.Context()))

	age(t, db)
	keys, letters, err = c.Sweep(t.Context(), sweep)
	require.NoError(t, err)
	require.Equal(t, 21, keys, "the one that was held, and those that are old now")
	require.Equal(t, 1, letters, "settled")
	keys, letters, err = c.Sweep(t.Context(), sweep)
	require.NoError(t, err)
	require.Zero(t, keys+letters)
	_, err = c.Letter(t.Context(), openLetter.ID)
	require.NoError(t, err)
	var stay int
	require.NoError(t, db.QueryRow(t.Context(), `SELECT count(*) FROM fsm_consumed`).Scan(&stay))
	require.Equal(t, 60+25+1, stay, "those that are not done, the other consumer's, and the dead letter's")
}

func TestArchive(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	_, err := c.Consume(t.Context(), "k", message("k"), effect)
	require.NoError(t, err)
	age(t, db)
	_, _, err = c.Sweep(t.Context(), consume.Sweep{Retention: time.Hour, Archive: func(context.Context, pgx.Tx, []consume.Swept) error {
		return errBoom
	}})
	require.ErrorIs(t, err, errBoom)
	out, err := c.Consume(t.Context(), "k", message("k"), never(t))
	require.NoError(t, err)
	require.Equal(t, consume.Duplicate, out, "what was not archived is kept")
	keys, _, err := c.Sweep(t.Context(), consume.Sweep{Retention: time.Hour, Archive: func(ctx context.Context, tx pgx.Tx, swept []consume.Swept) error {
		_, err := tx.Exec(ctx, `INSERT INTO effects (key, payload) VALUES ($1, 'archived')`, swept[0].Key)
		return err
	}})
	require.NoError(t, err)
	require.Equal(t, 1, keys)
	require.Equal(t, 2, effects(t, db, "k"))
	_, _, err = c.Sweep(t.Context(), consume.Sweep{})
	require.ErrorIs(t, err, fsm.ErrArgument, "zero is no retention")
}

// Sweeps in a tight loop beside deliveries and their duplicates: what is fresh is
// never swept, so each effect is there once.
func TestSweepBesideDuplicates(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	stop, swept := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				swept <- nil
				return
			default:
			}
			if _, _, err := c.Sweep(t.Context(), consume.Sweep{Retention: time.Hour, Limit: 3}); err != nil {
				swept <- err
				return
			}
		}
	}()
	for n := range 60 {
		key := fmt.Sprint(n % 20)
		out, err := c.Consume(t.Context(), key, message(key), effect)
		require.NoError(t, err)
		want := consume.Done
		if n >= 20 {
			want = consume.Duplicate
		}
		require.Equal(t, want, out)
	}
	close(stop)
	require.NoError(t, <-swept)
	require.Equal(t, 20, effects(t, db, ""))
}
