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

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/inbox"
)

// ErrUsage: the arguments say nothing that can be done. Nothing was done.
var ErrUsage = errors.New("usage")

// Usage says in a few lines what the arguments may be.
const Usage = `usage: orders runbook inspect  KIND [KEY]
       orders runbook release  -actor WHO -reason WHY KIND KEY
       orders runbook complete -actor WHO -reason WHY KIND KEY [WHAT...]
kinds: go doc ./examples/orders/runbook`

// OpenInbox returns an inbox whose handlers process events again. It is called for
// what needs one alone.
type OpenInbox func() (*inbox.Inbox, error)

// Run is RunWith without an inbox, so that no event can be released.
func Run(ctx context.Context, pool *pgxpool.Pool, out io.Writer, args ...string) error {
	return RunWith(ctx, pool, nil, out, args...)
}

// RunWith does what the arguments say and writes to out what it found or did, in
// which nothing can control a terminal. open is nil where there are no handlers.
// The error is ErrUsage; fsm.ErrNotFound where there is no such record; ErrNoInbox;
// ErrClosed; otherwise that of the package whose record it is, or open's.
func RunWith(ctx context.Context, pool *pgxpool.Pool, open OpenInbox, out io.Writer, args ...string) error {
	if len(args) == 0 {
		return ErrUsage
	}
	verb, args := args[0], args[1:]
	if verb == "inspect" {
		return inspect(ctx, pool, out, args)
	}
	var who fsm.Correction
	flags := flag.NewFlagSet(verb, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&who.Actor, "actor", "", "who does it")
	flags.StringVar(&who.Reason, "reason", "", "why")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if err := errors.Join(said("actor", who.Actor), said("reason", who.Reason)); err != nil {
		return err
	}
	act, err := actOf(verb, flags.Args(), open)
	if err != nil {
		return err
	}
	done, err := act(ctx, pool, who)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, done)
	return err
}

// said refuses an actor or a reason that says nothing, or cannot be printed.
func said(name, text string) error {
	if strings.TrimSpace(text) == "" || len(text) > 1000 || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("%w: -%s must be a text of one line", ErrUsage, name)
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
