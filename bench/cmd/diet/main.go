// Command diet measures what a transition costs the database, and what other ways
// to write it would cost:
//
//	go run ./cmd/diet [-quick] [-only shapes|modes|edges|due] [-seed n]
//
// It prints the tables of docs/diet.md, and exits 0 when all was measured, 1 when
// something failed, 2 for a wrong call.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/pawl-go/pawl/bench/internal/due"
	"github.com/pawl-go/pawl/bench/internal/edge"
	"github.com/pawl-go/pawl/bench/internal/machine"
	"github.com/pawl-go/pawl/bench/internal/place"
	"github.com/pawl-go/pawl/bench/internal/shape"
)

func main() { os.Exit(run(os.Args[1:])) }

// settings are what the command line says.
type settings struct {
	only   string
	seed   uint64
	shapes shape.Size
	edges  edge.Size
	due    due.Size
}

func run(args []string) int {
	s, err := parse(args)
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		fmt.Fprintln(os.Stderr, "diet:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := measure(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "diet:", err)
		return 1
	}
	return 0
}

func parse(args []string) (settings, error) {
	s := settings{shapes: shape.Size{Rounds: 25, Calls: 250}, edges: edge.Size{Rounds: 15, Rows: 1000}, due: due.Size{Rows: 10_000, Many: 200_000, Rounds: 8, Calls: 125}}
	flags := flag.NewFlagSet("diet", flag.ContinueOnError)
	quick := flags.Bool("quick", false, "less of everything: a look, not a measurement")
	flags.Uint64Var(&s.seed, "seed", 0, "the seed of the rounds' orders; 0 takes one from the clock")
	flags.StringVar(&s.only, "only", "", "shapes, modes, edges or due; all unless said")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	switch {
	case flags.NArg() > 0:
		return s, fmt.Errorf("%q is not asked for", flags.Arg(0))
	case s.only != "" && !slices.Contains([]string{"shapes", "modes", "edges", "due"}, s.only):
		return s, fmt.Errorf("there is nothing called %q to measure", s.only)
	case *quick:
		s.edges = edge.Size{Rounds: 3, Rows: 200}
		s.shapes, s.due = shape.Size{Rounds: 3, Calls: 50}, due.Size{Rows: 1000, Many: 2000, Rounds: 2, Calls: 50}
	}
	if s.seed == 0 {
		s.seed = uint64(time.Now().UnixNano()) // #nosec G115 -- any number will do
	}
	return s, nil
}

// quiet has a private server do nothing on its own that would be counted.
var quiet = [][2]string{{"autovacuum", "off"}}

func measure(ctx context.Context, s settings) (err error) {
	server, err := place.Server(ctx, os.Getenv("DATABASE_URL"), quiet, os.Stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	m, err := machine.Describe(ctx, server.URL)
	if err != nil {
		return err
	}
	fmt.Printf("seed %d, PostgreSQL %s, %s, %d cores\n", s.seed, m.PostgreSQL, m.CPU, m.Cores)
	random := rand.New(rand.NewPCG(s.seed, 0)) // #nosec G404 -- no secret
	wants := func(part string) bool { return s.only == "" || s.only == part }
	if wants("shapes") {
		costs, err := shape.Measure(ctx, server.URL, random, s.shapes)
		if err != nil {
			return err
		}
		fmt.Printf("\n## Shapes of payment_succeeded\n\n%s", shape.Markdown(costs))
	}
	if wants("modes") {
		costs, err := shape.Modes(ctx, server.URL, random, s.shapes)
		if err != nil {
			return err
		}
		fmt.Printf("\n## Modes of pgx\n\n%s", shape.ModesMarkdown(costs))
	}
	if wants("edges") {
		costs, err := edge.Measure(ctx, server.URL, random, s.edges)
		if err != nil {
			return err
		}
		fmt.Printf("\n## Where edges are checked\n\n%s", edge.Markdown(costs))
	}
	if wants("due") {
		report, err := due.Measure(ctx, server.URL, random, s.due)
		if err != nil {
			return err
		}
		fmt.Printf("\n%s", report.Markdown())
	}
	return nil
}
