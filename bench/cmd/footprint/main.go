// Command footprint measures how many bytes a transition writes, on a private
// PostgreSQL, and prints the tables that docs/scale.md has:
//
//	go run ./cmd/footprint
//
// It takes no arguments and a few minutes. It exits 0 when it has measured, 1 when it
// could not, 2 for a wrong call.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"

	"github.com/pawl-go/pawl/bench/internal/footprint"
	"github.com/pawl-go/pawl/bench/internal/place"
)

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "usage: footprint")
		os.Exit(2)
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "footprint:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server, err := place.Server(ctx, "", footprint.Settings, os.Stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	measured, err := footprint.Measure(ctx, server.URL, footprint.Usual, rand.New(rand.NewPCG(1, 1))) // #nosec G404 -- no secret
	if err != nil {
		return err
	}
	fmt.Print(measured.Markdown())
	return nil
}
