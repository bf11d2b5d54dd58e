// Command run breaks the generated SQL in every way that package mutate knows,
// one change at a time, runs the generated tests against each, and says which
// test noticed which change.
//
//	go run ./internal/mutate/run -report docs/mutation.md
//	go run ./internal/mutate/run -sample 100 -seed 7
//	go run ./internal/mutate/run -list -statement OrderPay
//
// It works in the folder of the project, on the server that
// PAWL_TEST_DATABASE_URL names, or on one of its own. It ends with 0 when every
// mutant was noticed, or is explained as one that cannot be; with 1 when one was
// not, or an explanation no longer holds; with 2 for a wrong call, or when the
// tests fail without any mutant.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-go/pawl/internal/mutate"
)

const (
	exitSurvived = 1
	exitFailed   = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// settings are what the flags say.
type settings struct {
	root                    string
	machine, operator       string
	statement, without      string
	sample, explained       int
	seed                    uint64
	shard                   string
	workers                 int
	timeout                 time.Duration
	skip                    string
	list, verbose, distinct bool
	report, json, known     string
}

func (s *settings) flags(stderr io.Writer) *flag.FlagSet {
	f := flag.NewFlagSet("run", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&s.root, "root", ".", "the `folder` of the project")
	f.StringVar(&s.machine, "machine", "", "mutants of this `machine` alone")
	f.StringVar(&s.operator, "operator", "", "mutants of this `operator` alone")
	f.StringVar(&s.statement, "statement", "", "mutants of the statements and migrations whose names the `pattern` matches")
	f.StringVar(&s.without, "without", "", "leave out those whose names the `pattern` matches")
	f.IntVar(&s.sample, "sample", 0, "only `n` mutants, drawn by the seed")
	f.Uint64Var(&s.seed, "seed", 1, "what the sample is drawn by")
	f.StringVar(&s.shard, "shard", "", "only part `i/n` of the mutants, from 1/n to n/n")
	f.IntVar(&s.explained, "explained", 0, "of the mutants of one explanation test only `n`, and believe it of the others; 0 tests all")
	f.BoolVar(&s.distinct, "distinct", false, "where several statements of a machine have the same lines, break those of the first alone")
	f.IntVar(&s.workers, "workers", runtime.GOMAXPROCS(0), "how many mutants are tested at once")
	f.DurationVar(&s.timeout, "timeout", time.Minute, "how long the tests of a mutant may take")
	f.StringVar(&s.skip, "skip", "", "leave out the tests that `pattern` matches")
	f.BoolVar(&s.list, "list", false, "print the mutants and test none")
	f.BoolVar(&s.verbose, "v", false, "print what became of each mutant")
	f.StringVar(&s.report, "report", "", "write the report to this `file`")
	f.StringVar(&s.json, "json", "", "write all results to this `file`, also those of a run that is interrupted")
	f.StringVar(&s.known, "known", "", "do not test again what was noticed in a run of these tests, or of weaker ones, that wrote this `file`")
	return f
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var s settings
	f := s.flags(stderr)
	if f.Parse(args) != nil {
		return exitFailed
	}
	if f.NArg() > 0 {
		_, _ = fmt.Fprintf(stderr, "mutate: %q is no flag\n", f.Arg(0))
		return exitFailed
	}
	mutants, whole, err := choose(&s)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "mutate:", err)
		return exitFailed
	}
	if s.list {
		for _, m := range mutants {
			_, _ = fmt.Fprintln(stdout, m)
		}
		return 0
	}
	before, err := readKnown(s.known)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "mutate:", err)
		return exitFailed
	}
	results, err := test(ctx, &s, mutants, before, stdout)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "mutate:", err)
		if err := newReport(tested(results)).save(s.json); err != nil {
			_, _ = fmt.Fprintln(stderr, "mutate:", err)
		}
		return exitFailed
	}
	r := newReport(results)
	r.whole, r.part = whole, s.part()
	if err := errors.Join(write(s.report, r.markdown), r.save(s.json)); err != nil {
		_, _ = fmt.Fprintln(stderr, "mutate:", err)
		return exitFailed
	}
	return r.print(stdout)
}

// part says in words which mutants were asked for.
func (s *settings) part() string {
	var parts []string
	for _, p := range []struct{ name, value string }{
		{"machine", s.machine}, {"operator", s.operator}, {"statements", s.statement}, {"without the statements", s.without}, {"shard", s.shard}, {"without the tests", s.skip},
	} {
		if p.value != "" {
			parts = append(parts, p.name+" `"+p.value+"`")
		}
	}
	if s.explained > 0 {
		parts = append(parts, fmt.Sprintf("%d tested of those that one explanation covers", s.explained))
	}
	if s.distinct {
		parts = append(parts, "each change once where several statements of a machine have the same lines")
	}
	if s.sample > 0 {
		parts = append(parts, fmt.Sprintf("%d drawn by the seed %d", s.sample, s.seed))
	}
	return strings.Join(parts, ", ")
}

// choose makes the mutants and picks those that the flags ask for. whole says
// that they are all.
func choose(s *settings) (mutants []*mutate.Mutant, whole bool, err error) {
	statement, err := regexp.Compile(s.statement)
	if err != nil {
		return nil, false, err
	}
	var without *regexp.Regexp
	if s.without != "" {
		if without, err = regexp.Compile(s.without); err != nil {
			return nil, false, err
		}
	}
	sources, err := mutate.Load(os.DirFS(s.root))
	if err != nil {
		return nil, false, err
	}
	for _, source := range sources {
		of, err := mutate.Mutants(source)
		if err != nil {
			return nil, false, err
		}
		for _, m := range of {
			if s.wants(m, statement, without) {
				mutants = append(mutants, m)
			}
		}
	}
	if s.distinct {
		mutants = distinct(mutants)
	}
	if mutants, err = s.share(mutants); err != nil {
		return nil, false, err
	}
	if len(mutants) == 0 {
		return nil, false, errors.New("there is no such mutant")
	}
	return mutants, s.machine+s.operator+s.statement+s.without+s.shard+s.skip == "" && s.sample+s.explained == 0 && !s.distinct, nil
}
