package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/pawl-go/pawl/internal/localpg"
	"github.com/pawl-go/pawl/internal/mutate"
)

// fate is what became of a mutant.
type fate string

const (
	killed    fate = "killed"
	survived  fate = "survived"
	stillborn fate = "stillborn" // PostgreSQL does not take it
	timedOut  fate = "timed out"
)

// result is a mutant with what became of it.
type result struct {
	*mutate.Mutant
	fate fate
	// by is the first test that failed, in the order of names; of says how many did.
	by string
	of int
	// why is the index of the explanation of a mutant that survived, -1 for none.
	why int
}

// bench is what all workers share.
type bench struct {
	*settings
	url, temp string
	suites    map[string]*suite
	machines  []string // of the suites, in order
	out       io.Writer

	mu sync.Mutex
	// touched are patterns of the tests that can notice a change of a statement.
	touched map[touch][]string
}

// test tests all mutants that are not known, and returns the results in their
// order; with an error, those that there are.
func test(ctx context.Context, s *settings, mutants []*mutate.Mutant, before known, out io.Writer) ([]result, error) {
	temp, err := os.MkdirTemp("", "pawl-mutate-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	server, err := localpg.Start(ctx, localpg.Options{URL: os.Getenv("PAWL_TEST_DATABASE_URL"), Fast: true, Log: os.Stderr})
	if err != nil {
		return nil, err
	}
	defer func() { _ = server.Stop() }()

	b := &bench{settings: s, url: server.URL, temp: temp, suites: map[string]*suite{}, out: out, touched: map[touch][]string{}}
	if err := b.begin(ctx, mutants); err != nil {
		return nil, err
	}
	results := make([]result, len(mutants))
	believed := s.believed(mutants)
	work := make(chan int)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(work)
		for i := range mutants {
			select {
			case work <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for n := range s.workers {
		g.Go(func() error {
			w, err := newWorker(ctx, b, n)
			if err != nil {
				return err
			}
			defer w.close(ctx)
			for i := range work {
				r, there := before.of(mutants[i])
				if why := believed[i]; !there && why >= 0 {
					r, there = result{mutants[i], survived, "", 0, why}, true
				}
				if !there {
					if r, err = w.test(ctx, mutants[i]); err != nil {
						return fmt.Errorf("%s: %w", mutants[i], err)
					}
				}
				results[i] = r
				b.tell(r)
			}
			return nil
		})
	}
	return results, g.Wait()
}

// begin builds the tests that the mutants need, and runs them without any.
func (b *bench) begin(ctx context.Context, mutants []*mutate.Mutant) error {
	for _, m := range mutants {
		for _, machine := range b.machinesOf(m) {
			if b.suites[machine] != nil {
				continue
			}
			s, err := build(ctx, b.root, b.temp, machine)
			if err != nil {
				return err
			}
			b.suites[machine], b.machines = s, append(b.machines, machine)
			r, err := s.open(ctx, b.skip, b.env()...)
			if err != nil {
				return err
			}
			first, err := r.run("", "", b.timeout)
			if err != nil {
				r.kill()
				return fmt.Errorf("the tests of %s without a mutant: %w", machine, err)
			}
			if len(first.failed) > 0 {
				r.kill()
				return fmt.Errorf("the tests of %s fail without a mutant: %s\n%s", machine, strings.Join(first.failed, ", "), first.output)
			}
			if len(first.passed) == 0 {
				r.kill()
				return fmt.Errorf("no test of %s passes:\n%s", machine, first.output)
			}
			s.tests = first.passed
			if err := r.close(); err != nil {
				return fmt.Errorf("the tests of %s: %w", machine, err)
			}
		}
	}
	return nil
}

// machinesOf are the machines whose tests can notice a mutant: its own, or all
// for the tables that all share.
func (b *bench) machinesOf(m *mutate.Mutant) []string {
	if m.Source.Machine != "" {
		return []string{m.Source.Machine}
	}
	sources, err := filepath.Glob(filepath.Join(b.root, "gen", "*", "matrix_test.go"))
	if err != nil {
		return nil
	}
	var all []string
	for _, s := range sources {
		all = append(all, filepath.Base(filepath.Dir(s)))
	}
	slices.Sort(all)
	return all
}

func (b *bench) env(more ...string) []string {
	return append([]string{"PAWL_TEST_DATABASE_URL=" + b.url}, more...)
}

func (b *bench) tell(r result) {
	if !b.verbose && (r.fate != survived || r.why >= 0) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	told := string(r.fate)
	if r.fate == survived && r.why >= 0 {
		told = "explained"
	}
	_, _ = fmt.Fprintf(b.out, "%-9s %s %s\n", told, r.Mutant, r.by)
}
