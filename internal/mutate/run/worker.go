package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-go/pawl/internal/mutate"
)

// worker tests one mutant after the other.
type worker struct {
	*bench
	reader   *reader
	file     string // of the mutant at hand
	sessions map[string]*session
	rounds   int // since the tests passed without a mutant
}

func newWorker(ctx context.Context, b *bench, n int) (*worker, error) {
	r, err := newReader(ctx, b.url, b.root)
	if err != nil {
		return nil, err
	}
	return &worker{b, r, filepath.Join(b.temp, fmt.Sprintf("mutant-%d.sql", n)), map[string]*session{}, 0}, nil
}

func (w *worker) close(ctx context.Context) {
	w.reader.close(ctx)
	for _, machine := range w.machines {
		if s := w.sessions[machine]; s != nil {
			_ = s.close()
		}
	}
}

func (w *worker) test(ctx context.Context, m *mutate.Mutant) (result, error) {
	r := result{Mutant: m, fate: survived}
	refused, err := w.reader.refuses(ctx, m)
	if err != nil {
		return r, err
	}
	if refused != "" {
		r.fate, r.by = stillborn, refused
		return r, nil
	}
	for _, machine := range w.machinesOf(m) {
		if m.Source.Migration {
			err = w.migration(ctx, w.suites[machine], m, &r)
		} else {
			err = w.statement(ctx, w.suites[machine], m, &r)
		}
		if err != nil || r.fate != survived {
			return r, err
		}
	}
	r.why = mutate.Explained(m)
	return r, nil
}

// statement runs the tests that need a statement against a mutant of it, portion
// by portion until one notices. A test that does not need it would pass: it
// passes although the statement fails.
func (w *worker) statement(ctx context.Context, s *suite, m *mutate.Mutant, r *result) error {
	if err := os.WriteFile(w.file, []byte(m.SQL()), 0o600); err != nil {
		return err
	}
	for kind := range kinds {
		patterns, err := w.touching(ctx, s, m.Source, kind)
		if err != nil {
			return err
		}
		for _, p := range patterns {
			out, err := w.round(ctx, s, w.file, p)
			if err != nil {
				return err
			}
			if r.take(out); r.fate != survived {
				return nil
			}
		}
	}
	return nil
}

// ofTables are the tests that look at tables and triggers themselves. They come
// first when a migration is broken.
const ofTables = "^(TestTable|TestCreate)$"

// migration runs the tests of a machine in a database made by a migration.
func (w *worker) migration(ctx context.Context, s *suite, m *mutate.Mutant, r *result) error {
	if err := os.WriteFile(w.file, []byte(m.Source.Name+"\n"+m.SQL()), 0o600); err != nil {
		return err
	}
	one, err := s.open(ctx, w.skip, w.env(migrationVariable+"="+w.file)...)
	if err != nil {
		return err
	}
	for _, pattern := range []string{ofTables, ""} {
		out, err := one.run("", pattern, w.timeout)
		if err != nil {
			one.kill()
			if errors.Is(err, errEnded) {
				out = &round{failed: []string{brokeDown}}
			}
			r.take(out)
			return ctx.Err()
		}
		if r.take(out); r.fate != survived {
			break
		}
	}
	_ = one.close() // whether the tests failed, the rounds have said
	return ctx.Err()
}

// take reads a round; nil for one that took too long.
func (r *result) take(out *round) {
	switch {
	case out == nil:
		r.fate = timedOut
	case len(out.failed) > 0:
		r.fate, r.by, r.of = killed, out.failed[0], len(out.failed)
	}
}

// brokeDown stands for a test that ended all others with it.
const brokeDown = "(the tests broke down)"

// patienceWithRounds is how many rounds the tests of one session are trusted
// without a look whether they still pass when nothing is broken.
const patienceWithRounds = 100

// round runs tests in the worker's session with a machine, and returns nil when
// they took too long. A session that broke is left for a new one; the tests that
// broke it have noticed something, as long as they pass without.
func (w *worker) round(ctx context.Context, s *suite, file, pattern string) (*round, error) {
	if w.rounds++; w.rounds > patienceWithRounds {
		if err := w.control(ctx, s); err != nil {
			return nil, err
		}
	}
	out, err := w.once(ctx, s, file, pattern)
	if errors.Is(err, errEnded) {
		if e := w.control(ctx, s); e != nil {
			return nil, errors.Join(err, e)
		}
		return &round{failed: []string{brokeDown}}, nil
	}
	if errors.Is(err, errTimeout) {
		return nil, ctx.Err()
	}
	return out, err
}

// control sees that the tests pass when nothing is broken.
func (w *worker) control(ctx context.Context, s *suite) error {
	w.rounds = 0
	out, err := w.once(ctx, s, "", "")
	if err != nil {
		return fmt.Errorf("the tests of %s without a mutant: %w", s.machine, err)
	}
	if len(out.failed) > 0 {
		return fmt.Errorf("the tests of %s fail without a mutant: %s\n%s", s.machine, strings.Join(out.failed, ", "), out.output)
	}
	return nil
}

func (w *worker) once(ctx context.Context, s *suite, file, pattern string) (*round, error) {
	live := w.sessions[s.machine]
	if live == nil {
		var err error
		if live, err = s.open(ctx, w.skip, w.env()...); err != nil {
			return nil, err
		}
		w.sessions[s.machine] = live
	}
	out, err := live.run(file, pattern, w.timeout)
	if err != nil {
		live.kill()
		w.sessions[s.machine] = nil
	}
	return out, err
}
