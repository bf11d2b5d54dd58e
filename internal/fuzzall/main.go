// Command fuzzall runs the fuzz targets of the module one after the other, each for
// a time, and prints a table: how often each was executed, how many inputs were found
// that do something new, and whether one failed. It exits 1 when one did, and goes on
// with the others first.
//
// An input that fails is written to the target's testdata/fuzz by go test itself,
// where it is a test from then on. What is new and does not fail is kept in Go's
// cache, so that the next run begins with it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"time"
)

func main() {
	length := flag.Duration("time", time.Minute, "how long each target runs")
	only := flag.String("run", "", "a regular expression that the names of the targets to run match, with their package: internal/sheet.FuzzSheet")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed, err := run(ctx, os.Stdout, *length, *only)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "fuzzall:", err)
		os.Exit(2)
	case failed:
		os.Exit(1)
	}
}

// run fuzzes the targets below the working directory.
func run(ctx context.Context, out io.Writer, length time.Duration, only string) (failed bool, err error) {
	name, err := regexp.Compile(only)
	if err != nil {
		return false, err
	}
	all, err := targets(os.DirFS("."))
	if err != nil {
		return false, err
	}
	var rows []outcome
	for _, t := range all {
		if !name.MatchString(t.String()) || ctx.Err() != nil {
			continue
		}
		o := fuzz(ctx, out, t, length)
		failed = failed || o.failed
		rows = append(rows, o)
	}
	if len(rows) == 0 {
		return false, fmt.Errorf("no target matches %q", only)
	}
	return failed, table(out, rows)
}
