package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/examples/orders/runbook"
	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/webhook"
)

// lookAfter runs one command of the runbook on the database that the service has,
// and returns the exit code. It neither starts a server nor migrates.
func lookAfter(ctx context.Context, url string, out io.Writer, args []string) int {
	var pool *pgxpool.Pool
	command, err := runbook.Parse(func() (*inbox.Inbox, error) { return handlers(pool) }, args...)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, _ = fmt.Fprintln(out, runbook.Usage)
		return 0
	case err != nil:
		return ended(os.Stderr, err)
	case url == "":
		_, _ = fmt.Fprintln(os.Stderr, `DATABASE_URL is not set: "orders serve" prints that of its private server`)
		return 2
	}
	if pool, err = pgxpool.New(ctx, url); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "DATABASE_URL cannot be used") // the error may show its password
		return 2
	}
	defer pool.Close()
	return ended(os.Stderr, command(ctx, pool, out))
}

// ended is the exit code of an error, which is told in a line; without a verb with how
// the command is called.
func ended(out io.Writer, err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, runbook.ErrVerb):
		_, _ = fmt.Fprintf(out, "%v\n%s\nAll of it: orders runbook -h\n", err, runbook.Synopsis)
		return 2
	case errors.Is(err, runbook.ErrUsage):
		_, _ = fmt.Fprintf(out, "%v (orders runbook -h)\n", err)
		return 2
	default:
		_, _ = fmt.Fprintln(out, err)
		return 1
	}
}

// handlers is an inbox on the service's settings that processes events again, and
// receives nothing: where a body can be read without a secret, a random one does.
func handlers(pool *pgxpool.Pool) (*inbox.Inbox, error) {
	settings, err := shop.ReadSettings(os.Getenv)
	if err != nil {
		return nil, err
	}
	settings.Standard, settings.Stripe = []webhook.Secret{playSecret()}, []webhook.Secret{playSecret()}
	config, err := callbacks(settings)
	if err != nil {
		return nil, err
	}
	config.Pool, config.Log = pool, slog.New(slog.DiscardHandler)
	service, err := shop.New(config)
	if err != nil {
		return nil, err
	}
	return service.Inbox(), nil
}
