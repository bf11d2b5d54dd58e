package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-go/pawl/bench/internal/compare"
	"github.com/pawl-go/pawl/bench/internal/goal"
	"github.com/pawl-go/pawl/bench/internal/result"
	"github.com/pawl-go/pawl/internal/localpg"
)

// bencher is what a part works with.
type bencher struct {
	settings
	server *localpg.Server
	runner *compare.Runner
	all    *result.All
}

// parts are what a run is made of, in its order.
var parts = []struct {
	name string
	run  func(ctx context.Context, b *bencher) error
}{
	{"compare", comparisons},
}

func names() []string {
	all := []string{"compare"}
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
