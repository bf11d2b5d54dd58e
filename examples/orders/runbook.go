package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/examples/orders/runbook"
)

// lookAfter runs one command of the runbook on the database that the service has,
// and returns the exit code. It neither starts a server nor migrates.
func lookAfter(ctx context.Context, url string, out io.Writer, args []string) int {
	if url == "" {
		_, _ = fmt.Fprintln(os.Stderr, "DATABASE_URL is not set")
		return 2
	}
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "DATABASE_URL cannot be used") // the error may show its password
		return 2
	}
	defer pool.Close()
	switch err := runbook.Run(ctx, pool, out, args...); {
	case err == nil:
		return 0
	case errors.Is(err, runbook.ErrUsage):
		_, _ = fmt.Fprintf(os.Stderr, "%v\n%s\n", err, runbook.Usage)
		return 2
	default:
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
}
