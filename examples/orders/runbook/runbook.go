package runbook

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/inbox"
)

// Why arguments say nothing that can be done; ErrVerb is an ErrUsage. Nothing was done.
var (
	ErrUsage = errors.New("usage")
	ErrVerb  = fmt.Errorf("%w: want inspect, release or complete", ErrUsage)
)

// Synopsis says how the command is called.
const Synopsis = `usage: orders runbook inspect  KIND [KEY]
       orders runbook release  -actor WHO -reason WHY KIND KEY [WHAT]
       orders runbook complete -actor WHO -reason WHY KIND KEY [WHAT...]`

// Usage says what the arguments may be, a line each.
const Usage = Synopsis + `

  inspect stuck                     all that waits for a person, and what to do about it
  inspect inbox                     events parked or dead, and odd deliveries
  inspect order ID                  an order and all that hangs on it
  inspect refund NUMBER             a refund and its call to the provider
  inspect attempt ID                a call to a provider
  inspect command KEY               the commands of an Idempotency-Key
  inspect outbox MACHINE/KEY        the messages of a row of business
  inspect event NUMBER              an event of the inbox, and its deliveries
  inspect delivery NUMBER           a delivery, its body and its events
  inspect case NUMBER               a case of the shop
  inspect letter NUMBER             a dead letter of a consumer

  release refund NUMBER             let an abnormal one go on, its attempt too
  release refund NUMBER NEW         give a closed one another try, under the number NEW
  release attempt ID                look it up at the provider again
  release outbox MACHINE/KEY        try its first message again, at once
  release event NUMBER              process it again, at once
  release letter NUMBER             free its key, and deliver its message again

  complete attempt ID succeeded REF what the provider said, learnt in another way
  complete attempt ID refused CODE
  complete refund NUMBER succeeded  it went back; for one without a call to the provider
  complete refund NUMBER closed     it did not, and never will under this number
  complete order ID STATE           force it into a state, free of the machine's edges
  complete outbox MACHINE/KEY ROW   set its first message aside, undelivered
  complete event NUMBER             close it unprocessed
  complete delivery NUMBER          be done with an odd one, and those of its body
  complete case NUMBER              be done with it
  complete letter NUMBER            be done with it

DATABASE_URL names the service's database. -actor and -reason may stand anywhere
after the verb, and are kept in fsm_audit with what was done.`

// OpenInbox returns an inbox whose handlers process events again. It is called for
// what needs one alone.
type OpenInbox func() (*inbox.Inbox, error)

// Command is what arguments ask for.
type Command func(ctx context.Context, pool *pgxpool.Pool, out io.Writer) error

// Run is RunWith without an inbox, so that no event can be released.
func Run(ctx context.Context, pool *pgxpool.Pool, out io.Writer, args ...string) error {
	return RunWith(ctx, pool, nil, out, args...)
}

// RunWith does what the arguments say and writes to out what it found or did, in
// which nothing can control a terminal. The error is Parse's or the Command's.
func RunWith(ctx context.Context, pool *pgxpool.Pool, open OpenInbox, out io.Writer, args ...string) error {
	command, err := Parse(open, args...)
	if err != nil {
		return err
	}
	return command(ctx, pool, out)
}

// Parse returns what the arguments ask for, without a look at the database. open is
// nil where there are no handlers. The error is flag.ErrHelp for -h, ErrVerb, or
// ErrUsage, which says in a line what is wrong.
//
// The command's error is ErrUsage for a key that such a record cannot have;
// fsm.ErrNotFound where there is no such record; ErrNoInbox; ErrClosed of a case; ErrOver and
// ErrNotWaiting; those of another try of a refund, and of shop's SettleRefund;
// otherwise that of the package whose record it is, or open's.
func Parse(open OpenInbox, args ...string) (Command, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("%w: a verb is missing", ErrVerb)
	}
	verb := args[0]
	switch verb {
	case "-h", "-help", "--help", "help":
		return nil, flag.ErrHelp
	case "inspect", "release", "complete":
	default:
		return nil, fmt.Errorf("%w: there is no verb %q", ErrVerb, verb)
	}
	who, words, err := flagsOf(verb, args[1:])
	if err != nil {
		return nil, err
	}
	if verb == "inspect" {
		return inspection(words)
	}
	act, err := actOf(verb, words, open)
	if err != nil {
		return nil, err
	}
	if err := said(who); err != nil {
		return nil, err
	}
	return func(ctx context.Context, pool *pgxpool.Pool, out io.Writer) error {
		done, err := act(ctx, pool, who)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, done)
		return err
	}, nil
}

// flagsOf splits the arguments behind a verb: flags, anywhere before "--", and words.
func flagsOf(verb string, args []string) (who fsm.Correction, words []string, err error) {
	flags := flag.NewFlagSet(verb, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	if verb != "inspect" {
		flags.StringVar(&who.Actor, "actor", "", "who does it")
		flags.StringVar(&who.Reason, "reason", "", "why")
	}
	for {
		switch err := flags.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			return who, nil, err
		case err != nil:
			return who, nil, fmt.Errorf("%w: %w", ErrUsage, err)
		}
		rest := flags.Args()
		if read := len(args) - len(rest); len(rest) == 0 || read > 0 && args[read-1] == "--" {
			return who, append(words, rest...), nil
		}
		words, args = append(words, rest[0]), rest[1:]
	}
}

// said refuses an actor or a reason that says nothing, or cannot be printed.
func said(who fsm.Correction) error {
	actor, reason := strings.TrimSpace(who.Actor) != "", strings.TrimSpace(who.Reason) != ""
	switch {
	case !actor && !reason:
		return fmt.Errorf("%w: -actor and -reason are missing: who does this, and why", ErrUsage)
	case !actor:
		return fmt.Errorf("%w: -actor is missing: who does this", ErrUsage)
	case !reason:
		return fmt.Errorf("%w: -reason is missing: why this is done", ErrUsage)
	}
	for _, flag := range []struct{ name, text string }{{"actor", who.Actor}, {"reason", who.Reason}} {
		if len(flag.text) > 1000 || !utf8.ValidString(flag.text) || strings.ContainsFunc(flag.text, unicode.IsControl) {
			return fmt.Errorf("%w: -%s is not a text of one line, of at most 1000 bytes", ErrUsage, flag.name)
		}
	}
	return nil
}

// rowKey splits MACHINE/KEY.
func rowKey(text string) (machine, key string, err error) {
	machine, key, ok := strings.Cut(text, "/")
	if !ok || machine == "" || key == "" {
		return "", "", fmt.Errorf("%w: want MACHINE/KEY, such as order/7f1c9a52-…", ErrUsage)
	}
	return machine, key, nil
}

func number(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%w: want a number from 1", ErrUsage)
	}
	return n, nil
}

// uuid refuses what cannot be the id of an order or an attempt.
func uuid(kind, text string) error {
	if new(pgtype.UUID).Scan(text) != nil {
		return fmt.Errorf("%w: want the id of the %s, a UUID such as 7f1c9a52-3e0b-4c55-9d5e-0a4f6f3c2b11", ErrUsage, kind)
	}
	return nil
}

// isKey refuses what cannot be the key of a record of a kind.
func isKey(kind, text string) (err error) {
	switch kind {
	case "order", "attempt":
		err = uuid(kind, text)
	case "outbox":
		_, _, err = rowKey(text)
	case "event", "delivery", "case", "letter":
		_, err = number(text)
	}
	return err
}
