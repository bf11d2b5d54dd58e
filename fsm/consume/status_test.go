package consume_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/consume"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	check := func(key, state string, tries int) {
		t.Helper()
		gotState, gotTries, err := c.Status(t.Context(), key)
		require.NoError(t, err)
		require.Equal(t, state, gotState)
		require.Equal(t, tries, gotTries)
	}
	check("k", "", 0)
	_, err := c.Consume(t.Context(), "k", message("k"), failing)
	require.Equal(t, errBoom, err)
	check("k", "failed", 1)
	_, err = c.Consume(t.Context(), "k", message("k"), func(ctx context.Context, tx pgx.Tx, m consume.Message) error {
		check("k", "claimed", 2)
		endLeases(t, db)
		check("k", "failed", 2)
		return effect(ctx, tx, m)
	})
	require.NoError(t, err)
	check("k", "done", 2)
	killLetter(t, c, "x")
	check("x", "dead", 3)
	_, _, err = c.Status(t.Context(), "")
	require.ErrorIs(t, err, consume.ErrKey)
}

func TestCommand(t *testing.T) {
	t.Parallel()
	c, _ := newConsumer(t)
	var out strings.Builder
	var published []string
	command := consume.Command{Consumer: c, Out: &out, Publish: func(_ context.Context, _ pgx.Tx, m consume.Message) error {
		published = append(published, string(m.Payload))
		return nil
	}}
	run := func(args ...string) string {
		t.Helper()
		out.Reset()
		require.NoError(t, command.Run(t.Context(), args...))
		return out.String()
	}
	require.Empty(t, run("letters"))
	require.Equal(t, "new, tried 0 times\n", run("key", "a"))
	first, second := killLetter(t, c, "a"), killLetter(t, c, "b\u200b")
	require.Equal(t, "dead, tried 3 times\n", run("key", "a"))
	id1, id2 := strconv.FormatInt(first.ID, 10), strconv.FormatInt(second.ID, 10)
	at := func(l consume.Letter) string { return l.At.UTC().Format(time.RFC3339) }
	line1 := id1 + "  " + at(first) + `  key "a"  topic "paid"  tries 3  "boom"` + "\n"
	line2 := id2 + "  " + at(second) + `  key "b\u200b"  topic "paid"  tries 3  "boom"` + "\n"
	require.Equal(t, line1+line2, run("letters"))
	require.Equal(t, line2, run("letters", id1))
	require.Equal(t, line1+"id \"m-1\"\n\"trace\": \"t-1\"\n\"a\"\n", run("letter", id1))
	require.Equal(t, "requeued "+line1, run("requeue", id1, "ada", "fixed"))
	require.Equal(t, []string{"a"}, published)
	require.Equal(t, "discarded "+line2, run("discard", id2, "ada", "of no use"))
	require.Empty(t, run("letters"))
	require.Equal(t, "new, tried 0 times\n", run("key", "a"))

	require.ErrorIs(t, command.Run(t.Context(), "requeue", id1, "ada", "fixed"), consume.ErrNoLetter)
	require.ErrorIs(t, command.Run(t.Context(), "letter", id1), consume.ErrNoLetter)
	for _, bad := range [][]string{nil, {"x"}, {"letters", "1", "2"}, {"letters", "x"}, {"letter"}, {"letter", "-1"}, {"key"}, {"requeue", "1"}, {"discard", "1", "a", " "}} {
		require.ErrorIs(t, command.Run(t.Context(), bad...), fsm.ErrArgument, "%q", bad)
	}
	killLetter(t, c, "c")
	command.Out = closed{}
	require.ErrorIs(t, command.Run(t.Context(), "letters"), errClosed)
}

// A message that nobody publishes is lost once its key is free and its letter settled.
// So requeue without a way to publish does nothing, unless it was asked to free the key
// alone; then it says what it did not do, and shows the message to whoever does it.
func TestCommandWithoutPublish(t *testing.T) {
	t.Parallel()
	c, _ := newConsumer(t)
	letter := killLetter(t, c, "a")
	id := strconv.FormatInt(letter.ID, 10)
	var out strings.Builder
	err := consume.Command{Consumer: c, Out: &out}.Run(t.Context(), "requeue", id, "ada", "fixed")
	require.ErrorIs(t, err, fsm.ErrArgument)
	require.ErrorContains(t, err, "Publish is nil")
	require.Empty(t, out.String())
	state, tries, err := c.Status(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, "dead", state, "the key stays taken")
	require.Equal(t, 3, tries)
	open, err := c.Letter(t.Context(), letter.ID)
	require.NoError(t, err, "the letter stays open")
	require.Equal(t, []byte("a"), open.Message.Payload)

	command := consume.Command{Consumer: c, Out: &out, FreeOnly: true}
	require.NoError(t, command.Run(t.Context(), "requeue", id, "ada", "sent by hand"))
	require.Equal(t, "key freed, message NOT published: "+id+"  "+letter.At.UTC().Format(time.RFC3339)+
		`  key "a"  topic "paid"  tries 3  "boom"`+"\nid \"m-1\"\n\"trace\": \"t-1\"\n\"a\"\n", out.String())
	state, _, err = c.Status(t.Context(), "a")
	require.NoError(t, err)
	require.Empty(t, state)

	second := killLetter(t, c, "b")
	published := 0
	command.Publish = func(context.Context, pgx.Tx, consume.Message) error { published++; return nil }
	out.Reset()
	require.NoError(t, command.Run(t.Context(), "requeue", strconv.FormatInt(second.ID, 10), "ada", "fixed"))
	require.Equal(t, 1, published, "who can publish does, whatever FreeOnly says")
	require.True(t, strings.HasPrefix(out.String(), "requeued "), out.String())
}

// A payload is printed as it can be read, and pasted into what reads JSON; and still
// controls no terminal.
func TestCommandPrintsPayloads(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ payload, want string }{
		"object":       {" {\"id\":12345678901234567890,\r\n\"to\":[\"naïve\",\"\u202e\u009b31m \U000e0001\"]}\n", "{\n  \"id\": 12345678901234567890,\n  \"to\": [\n    \"naïve\",\n    \"\\u202e\\u009b31m \\udb40\\udc01\"\n  ]\n}"},
		"array":        {`[1]`, "[\n  1\n]"},
		"empty object": {`{}`, `{}`},
		"word":         {`"a"`, `"\"a\""`},
		"half":         {`{"a":`, `"{\"a\":"`},
		"text":         {"a\n\x1b[31m", `"a\n\x1b[31m"`},
		"nothing":      {"", `""`},
		"no text":      {"\xff\x00", "2 bytes that are no UTF-8, from ff00"},
		"long no text": {strings.Repeat("\xff", 40), "40 bytes that are no UTF-8, from " + strings.Repeat("ff", 32)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := newConsumer(t)
			m := message("m-1")
			m.Payload = []byte(test.payload)
			for range c.Tries {
				_, err := c.Consume(t.Context(), "a", m, func(context.Context, pgx.Tx, consume.Message) error { return errBoom })
				require.ErrorIs(t, err, errBoom)
			}
			letters, err := c.Letters(t.Context(), 0, 0)
			require.NoError(t, err)
			require.Len(t, letters, 1)
			var out strings.Builder
			command := consume.Command{Consumer: c, Out: &out}
			require.NoError(t, command.Run(t.Context(), "letter", strconv.FormatInt(letters[0].ID, 10)))
			require.True(t, strings.HasSuffix(out.String(), "\n"+test.want+"\n"), out.String())
		})
	}
}

var errClosed = errors.New("closed")

// closed is a writer that nobody reads.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errClosed }
