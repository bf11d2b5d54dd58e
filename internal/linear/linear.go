// Package linear says whether what callers of a machine were told can be true: whether
// there is an order of their calls, each at one moment between its beginning and its
// end, in which the definition gives these answers and leaves what was seen. That is
// linearizability, with the definition as the model; package porcupine searches the
// order, package oracle says what a call must answer, and this one knows histories.
//
// Rows are checked each by itself, and together only those of which one fact was told.
// What may have been done, since nobody knows how a call ended, is tried both ways; so
// is a guard that nobody can work out, and the verdict counts those.
package linear

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/pawl-go/pawl/internal/evaluate"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// Options say how a history is checked. The zero value is usable.
type Options struct {
	// Judge evaluates the definition's expressions; nil means package evaluate. What it
	// cannot tell may be either way.
	Judge oracle.Judge
	// Timeout bounds the search for rows that are checked together; 0 means a minute.
	// What is not decided by then is [Unknown], never accepted. The explanation of a
	// refusal takes at most as long again; what it has found out by then is shown.
	Timeout time.Duration
	// Workers is how many of them are checked at once; 0 means one a processor.
	Workers int
}

const defaultTimeout = time.Minute

// Check checks a history that has been read. The error is a *[HistoryError],
// [ErrNothing], or that of ctx, whose end ends the searches.
func Check(ctx context.Context, h *History, o Options) (*Verdict, error) {
	if o.Judge == nil {
		o.Judge = evaluate.For(h.machine)
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	parts, err := h.partitions()
	if err != nil {
		return nil, err
	}
	c := &checker{m: h.machine, judge: o.Judge, timeout: o.Timeout}
	results, err := c.all(ctx, parts, o.Workers)
	if err != nil {
		return nil, err
	}
	v := &Verdict{Machine: h.machine.Name, Operations: h.operations(), Strangers: h.strangers, Torn: h.torn}
	for _, r := range results {
		if r.err != nil {
			return nil, r.err
		}
		v.add(r)
	}
	if len(v.refused) > 0 {
		smallest := slices.MinFunc(v.refused, func(a, b *result) int { return cmp.Compare(len(a.part.ops), len(b.part.ops)) })
		v.Refusal = c.explain(ctx, smallest.part)
	}
	return v, ctx.Err()
}

// checker checks the parts of one history.
type checker struct {
	m       *model.Machine
	judge   oracle.Judge
	timeout time.Duration
}

// result is what became of one part.
type result struct {
	part   *partition
	result Result
	err    error
}

// all checks every part, some at once.
func (c *checker) all(ctx context.Context, parts []*partition, workers int) ([]result, error) {
	results := make([]result, len(parts))
	next := make(chan int)
	var group sync.WaitGroup
	for range min(workers, len(parts)) {
		group.Go(func() {
			for i := range next {
				decided, err := c.decide(ctx, parts[i])
				results[i] = result{parts[i], decided, err}
			}
		})
	}
	defer group.Wait()
	defer close(next)
	for i := range parts {
		select {
		case next <- i:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return results, nil
}
