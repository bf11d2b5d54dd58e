// Command bench compares Pawl with the limit and with its alternatives, on one
// durable PostgreSQL in one run:
//
//	go run ./cmd/bench [-quick] [-only parts] [-skip parts] [-docs folder]
//
// It ends with a line a goal and exits 0 when all that it measured are met, 1 when
// one is missed or an invariant is broken, 2 for a wrong call.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-go/pawl/bench/internal/compare"
	"github.com/pawl-go/pawl/bench/internal/goal"
	"github.com/pawl-go/pawl/bench/internal/machine"
	"github.com/pawl-go/pawl/bench/internal/place"
	"github.com/pawl-go/pawl/bench/internal/report"
	"github.com/pawl-go/pawl/bench/internal/result"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	s, err := parse(args)
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	stopProfile, err := s.startProfile()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 2
	}
	defer stopProfile()
	missed, err := bench(ctx, s)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	if missed {
		return 1
	}
	return 0
}

// bench runs what is asked for, prints and writes it, and reports whether a goal is
// missed.
func bench(ctx context.Context, s settings) (missed bool, err error) {
	server, err := place.Server(ctx, os.Getenv("DATABASE_URL"), s.set, os.Stderr)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	all := &result.All{Seed: s.seed, Rounds: s.rounds, Seconds: s.time.Seconds()}
	if all.Machine, err = machine.Describe(ctx, server.URL); err != nil {
		return false, err
	}
	fmt.Printf("seed %d, PostgreSQL %s, %d cores\n", s.seed, all.Machine.PostgreSQL, all.Machine.Cores)
	r := &compare.Runner{Server: server.URL, Rounds: s.rounds, Time: s.time, Random: rand.New(rand.NewPCG(s.seed, 0))} // #nosec G404 -- no secret
	for _, part := range parts() {
		if !s.wants(part.name) {
			continue
		}
		started := time.Now()
		if err := part.run(ctx, &bencher{s, server, r, all}); err != nil {
			// What was measured before is not lost.
			return false, errors.Join(fmt.Errorf("%s: %w", part.name, err), report.Write(s.out, all))
		}
		fmt.Printf("%s took %s\n", part.name, time.Since(started).Round(time.Second))
	}
	all.Goals = goal.Judge(all)
	if err := report.Write(s.out, all); err != nil {
		return false, err
	}
	fmt.Println()
	for _, g := range all.Goals {
		fmt.Println(goal.Line(g))
	}
	return goal.Missed(all.Goals), nil
}

// startProfile begins a CPU profile of the client, where one is asked for.
func (s settings) startProfile() (stop func(), err error) {
	if s.profile == "" {
		return func() {}, nil
	}
	file, err := os.Create(s.profile)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close()
	}, nil
}

// settings are what the command line says.
type settings struct {
	quick      bool
	seed       uint64
	rounds     int
	time       time.Duration
	out        string
	only, skip []string
	load       string
	set        [][2]string
	profile    string
}

func (s settings) wants(part string) bool {
	if len(s.only) > 0 {
		return slices.Contains(s.only, part)
	}
	return !slices.Contains(s.skip, part)
}

func parse(args []string) (settings, error) {
	var s settings
	var only, skip, docs string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.BoolVar(&s.quick, "quick", false, "less of everything: a look, not a measurement")
	flags.Uint64Var(&s.seed, "seed", 0, "the seed of the rounds' orders; 0 takes one from the clock")
	flags.IntVar(&s.rounds, "rounds", 0, "rounds of a comparison; 0 means 7, quick 3")
	flags.DurationVar(&s.time, "time", 0, "how long a contender runs in a round; 0 means 1.5s, quick 500ms")
	flags.StringVar(&s.out, "out", "out", "the folder for results")
	flags.StringVar(&docs, "docs", "", "the folder for results that are kept, instead of -out")
	flags.StringVar(&only, "only", "", "the parts to run, with commas: "+strings.Join(names(), ","))
	flags.StringVar(&skip, "skip", "", "the parts to leave out")
	flags.StringVar(&s.load, "load", "", "of comparisons, only those whose names contain this")
	flags.StringVar(&s.profile, "profile", "", "a file for a CPU profile of the client, for go tool pprof")
	flags.Func("set", "name=value, a further setting of a private server; may be given again", func(text string) error {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return errors.New("want name=value")
		}
		s.set = append(s.set, [2]string{name, value})
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("%q is not asked for", flags.Arg(0))
	}
	if docs != "" {
		s.out = docs
	}
	if s.seed == 0 {
		s.seed = uint64(time.Now().UnixNano()) // #nosec G115 -- any number will do
	}
	if s.rounds == 0 {
		s.rounds = pick(s.quick, 3, 7)
	}
	if s.time == 0 {
		s.time = pick(s.quick, 500*time.Millisecond, 1500*time.Millisecond)
	}
	var err error
	if s.only, err = list(only); err == nil {
		s.skip, err = list(skip)
	}
	return s, err
}

// list reads names of parts.
func list(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	given := strings.Split(text, ",")
	for _, name := range given {
		if !slices.Contains(names(), name) {
			return nil, fmt.Errorf("there is no part %q; the parts are %s", name, strings.Join(names(), ", "))
		}
	}
	return given, nil
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}
