package consume

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// Command lets a person look after dead letters, as a command of your own program:
//
//	letters [AFTER]              the open letters, or those after a number
//	letter NUMBER                one letter, with its payload
//	key KEY                      what is known of a key
//	requeue NUMBER ACTOR REASON  free its key and publish its message
//	discard NUMBER ACTOR REASON  be done with it
type Command struct {
	Consumer *Consumer
	// Out takes the answers, in which nothing can control a terminal.
	Out io.Writer
	// Publish publishes the message of a letter that is requeued, as that of
	// [Consumer.Requeue] does. Without it requeue is refused with fsm.ErrArgument,
	// since nobody else would publish the message, unless FreeOnly says that
	// somebody does.
	Publish func(context.Context, pgx.Tx, Message) error
	// FreeOnly lets requeue do without Publish: it frees the key, prints the whole
	// message, and says that it was not published. Where there is a Publish it
	// changes nothing.
	FreeOnly bool
}

// Run runs the command that the arguments say. It returns fsm.ErrArgument where they
// say none, and otherwise the errors of the consumer's calls and of Out.
func (c Command) Run(ctx context.Context, args ...string) error {
	name, args := "", slices.Clone(args)
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch {
	case name == "letters" && len(args) < 2:
		return c.letters(ctx, append(args, "0")[0])
	case name == "key" && len(args) == 1:
		state, tries, err := c.Consumer.Status(ctx, args[0])
		if err != nil {
			return err
		}
		if state == "" {
			state = "new"
		}
		_, err = fmt.Fprintf(c.Out, "%s, tried %d times\n", state, tries)
		return err
	case name == "letter" && len(args) == 1, (name == "requeue" || name == "discard") && len(args) == 3:
		return c.letter(ctx, name, args)
	}
	return fmt.Errorf("%w: want letters [AFTER], letter NUMBER, key KEY, requeue NUMBER ACTOR REASON or discard NUMBER ACTOR REASON", fsm.ErrArgument)
}

func number(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%w: %q is no letter's number", fsm.ErrArgument, text)
	}
	return n, nil
}

// letters prints one line a letter.
func (c Command) letters(ctx context.Context, after string) error {
	n, err := number(after)
	if err != nil {
		return err
	}
	letters, err := c.Consumer.Letters(ctx, n, 0)
	if err != nil {
		return err
	}
	for _, l := range letters {
		if _, err := fmt.Fprintln(c.Out, line(l)); err != nil {
			return err
		}
	}
	return nil
}

// line is a letter without its payload.
func line(l Letter) string {
	return fmt.Sprintf("%d  %s  key %q  topic %q  tries %d  %q", l.ID, l.At.UTC().Format(time.RFC3339), l.Key, l.Message.Topic, l.Tries, l.Error)
}

// letter does one thing to one letter and prints it.
func (c Command) letter(ctx context.Context, name string, args []string) error {
	id, err := number(args[0])
	if err != nil {
		return err
	}
	var l Letter
	text := ""
	switch name {
	case "requeue":
		if text = "requeued "; c.Publish == nil {
			if !c.FreeOnly {
				return fmt.Errorf("%w: requeue would free the key and lose the message, since Command.Publish is nil; FreeOnly allows it", fsm.ErrArgument)
			}
			text = "key freed, message NOT published: "
		}
		l, err = c.Consumer.Requeue(ctx, id, fsm.Correction{Actor: args[1], Reason: args[2]}, c.Publish)
	case "discard":
		text = "discarded "
		l, err = c.Consumer.Discard(ctx, id, fsm.Correction{Actor: args[1], Reason: args[2]})
	default:
		l, err = c.Consumer.Letter(ctx, id)
	}
	if err != nil {
		return err
	}
	if text += line(l); name == "letter" || name == "requeue" && c.Publish == nil { // then no other command shows it
		text += details(l)
	}
	_, err = fmt.Fprintln(c.Out, text)
	return err
}

// details are the lines of what else a letter holds.
func details(l Letter) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nid %q\n", l.Message.ID)
	names := make([]string, 0, len(l.Message.Metadata))
	for name := range l.Message.Metadata {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "%q: %q\n", name, l.Message.Metadata[name])
	}
	b.WriteString(body(l.Message.Payload))
	return b.String()
}

// shownBytes is how many bytes of a payload are printed that is no text.
const shownBytes = 32

// body is a payload as a person can read and paste it: an object or array as JSON of
// several lines, other text in quotes, and of what is no text length and beginning.
func body(payload []byte) string {
	var indented bytes.Buffer
	start := bytes.TrimLeft(payload, " \t\r\n")
	switch {
	case !utf8.Valid(payload):
		return fmt.Sprintf("%d bytes that are no UTF-8, from %x", len(payload), payload[:min(len(payload), shownBytes)])
	case !bytes.HasPrefix(start, []byte("{")) && !bytes.HasPrefix(start, []byte("[")):
		return strconv.Quote(string(payload))
	case json.Indent(&indented, bytes.TrimSpace(payload), "", "  ") != nil:
		return strconv.Quote(string(payload))
	}
	// Only line ends can stand outside of the texts of JSON, and not raw within.
	var b strings.Builder
	for _, r := range indented.String() {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
