package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/mutate"
)

// The kinds of tests, in the order in which they run: the cells, the others, and
// then the races, which take long.
const (
	ofCells = iota
	ofOthers
	ofRaces
	kinds
)

// kindOf tells the kind of a test by its name.
func kindOf(test string) int {
	switch {
	case strings.HasPrefix(test, "TestMatrix/"), strings.HasPrefix(test, "TestBatches/"):
		return ofCells
	case strings.HasPrefix(test, "TestRaces/"), strings.HasPrefix(test, "TestBatchRaces/"):
		return ofRaces
	}
	return ofOthers
}

// portions puts tests, by name, in portions: small ones first, since most mutants
// need no more than the first, and then larger ones, since those that are left
// need them all. They are the same in every run, and with them the first test
// that notices a mutant.
func portions(tests []string) [][]string {
	const first, most = 3, 24
	var out [][]string
	for size := first; len(tests) > 0; size = min(2*size, most) {
		n := min(size, len(tests))
		out, tests = append(out, tests[:n]), tests[n:]
	}
	return out
}

// touching are the patterns of the tests of a kind that can notice a change of a
// statement, in the order in which to run them.
func (w *worker) touching(ctx context.Context, s *suite, source *mutate.Source, kind int) ([]string, error) {
	at := touch{source.Name, kind}
	w.mu.Lock()
	patterns, known := w.touched[at]
	w.mu.Unlock()
	if known {
		return patterns, nil
	}
	tests := s.firing(source, kind)
	if tests == nil {
		var err error
		if tests, err = w.needing(ctx, s, source, kind); err != nil {
			return nil, err
		}
	}
	for _, p := range portions(tests) {
		patterns = append(patterns, patternOf(p))
	}
	w.mu.Lock()
	w.touched[at] = patterns
	w.mu.Unlock()
	return patterns, nil
}

// touch is what touching remembers patterns by.
type touch struct {
	source string
	kind   int
}

// firing returns the tests of the kind that fire the statement's event, as their
// names say: TestMatrix/STATE/EVENT, TestRaces/STATE/FIRST_then_SECOND and
// TestRaces/STATE/EVENT_told_twice, and TestBatches and TestBatchRaces for the
// statement of a batch. It returns nil for the statement of no event, and for tests of other names.
func (s *suite) firing(source *mutate.Source, kind int) []string {
	if source.Event == "" || kind == ofOthers {
		return nil
	}
	out := []string{}
	for _, test := range s.tests {
		parts := strings.Split(test, "/")
		if kindOf(test) != kind || len(parts) < 3 || strings.HasPrefix(test, "TestBatch") != source.Batch {
			continue
		}
		first, second, _ := strings.Cut(strings.TrimSuffix(parts[2], "_told_twice"), "_then_")
		if first == source.Event || second == source.Event {
			out = append(out, test)
		}
	}
	return out
}

// needing runs the tests of the kind while the statement fails, and returns those
// that fail. A test that does not need the statement passes.
func (w *worker) needing(ctx context.Context, s *suite, source *mutate.Source, kind int) ([]string, error) {
	file := w.file + ".fails"
	if err := os.WriteFile(file, []byte(source.Failing()), 0o600); err != nil {
		return nil, err
	}
	var whole []string
	for _, test := range s.tests {
		if name, _, _ := strings.Cut(test, "/"); kindOf(test) == kind && !slices.Contains(whole, name) {
			whole = append(whole, name)
		}
	}
	if len(whole) == 0 {
		return nil, nil
	}
	out, err := w.round(ctx, s, file, patternOf(whole))
	if err != nil {
		return nil, err
	}
	if out == nil {
		return nil, fmt.Errorf("the tests of %s took longer than %s to say which of them need %s", s.machine, w.timeout, source.Name)
	}
	return out.failed, nil
}
