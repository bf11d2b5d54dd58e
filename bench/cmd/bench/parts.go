package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-go/pawl/bench/internal/compare"
	"github.com/pawl-go/pawl/bench/internal/goal"
	"github.com/pawl-go/pawl/bench/internal/inmemory"
	"github.com/pawl-go/pawl/bench/internal/result"
	"github.com/pawl-go/pawl/bench/internal/stat"
	"github.com/pawl-go/pawl/bench/internal/trial"
	"github.com/pawl-go/pawl/internal/localpg"
)

// bencher is what a part works with.
type bencher struct {
	settings
	server *localpg.Server
	runner *compare.Runner
	all    *result.All
}

// part is a part of a run, by the name that -only and -skip know.
type part struct {
	name string
	run  func(ctx context.Context, b *bencher) error
}

// parts are what a run is made of, in its order.
func parts() []part {
	return []part{
		{"inmemory", func(_ context.Context, b *bencher) error {
			return b.keep(inmemory.Run(b.runner.Random, b.rounds, pick(b.quick, 20*time.Millisecond, 200*time.Millisecond)))
		}},
		{"compare", comparisons},
		{"duplicates", func(ctx context.Context, b *bencher) error {
			return b.keep(trial.Duplicates(ctx, b.server.URL, 2000))
		}},
		{"psql", func(ctx context.Context, b *bencher) error {
			return b.keep(trial.Psql(ctx, b.server, b.runner.Random, b.rounds, pick(b.quick, 10, 20)))
		}},
		{"sweep", func(ctx context.Context, b *bencher) error {
			return b.keep(trial.Sweep(ctx, b.server.URL, pick(b.quick, 1, 3), 100_000))
		}},
		{"memory", func(ctx context.Context, b *bencher) error {
			return b.keep(trial.Memory(ctx, b.server.URL, pick(b.quick, 100_000, 1_000_000)))
		}},
		{"rows10m", func(ctx context.Context, b *bencher) error {
			return b.keep(trial.Rows(ctx, b.server.URL, b.runner.Random, b.rounds, pick(b.quick, []int{300_000}, []int{1_000_000, 10_000_000})...))
		}},
	}
}

// keep keeps and prints figures.
func (b *bencher) keep(figures []result.Figure, err error) error {
	b.all.Add(figures...)
	for _, f := range figures {
		sum := stat.Of(f.Samples)
		fmt.Printf("  %-60s %10s %s  %s – %s  %s\n", f.Name, goal.Number(sum.Median), f.Unit, goal.Number(sum.Min), goal.Number(sum.Max), f.Note)
	}
	return err
}

func names() []string {
	var all []string
	for _, p := range parts() {
		all = append(all, p.name)
	}
	return all
}

// comparisons runs all that are planned.
func comparisons(ctx context.Context, b *bencher) error {
	for _, planned := range compare.Plan(b.quick) {
		name := fmt.Sprintf("%s, %s, %d callers, %d ms", planned.Load.Kind, planned.Load.Event, planned.Load.Callers, planned.Load.Delay/time.Millisecond)
		if !strings.Contains(name, b.load) {
			continue
		}
		done, err := b.runner.Run(ctx, planned.Load, planned.Contenders)
		if err != nil {
			return err
		}
		b.all.Comparisons = append(b.all.Comparisons, done)
		fmt.Println("\n" + name)
		for _, row := range done.Rows {
			if row.Failed != "" {
				fmt.Printf("  %-24s failed: %s\n", row.Contender, row.Failed)
				continue
			}
			fmt.Printf("  %-24s %10s /s  %s – %s\n", row.Contender, goal.Number(row.Sum.Median), goal.Number(row.Sum.Min), goal.Number(row.Sum.Max))
		}
	}
	return nil
}
