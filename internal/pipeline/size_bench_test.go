package pipeline_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// large is a project with one machine of that many states and ten transitions
// from each, with a table or without.
func large(states int, table bool) fstest.MapFS {
	const events = 10
	var b strings.Builder
	b.WriteString("machine: large\n")
	if table {
		b.WriteString("table: {name: larges, key: {column: large_id, type: bigint}, columns: {total: {type: bigint, default: 0}}}\n")
	}
	b.WriteString("states:\n")
	for i := range states {
		switch i {
		case 0:
			b.WriteString("  S0: {initial: true}\n")
		case states - 1:
			fmt.Fprintf(&b, "  S%d: {final: true}\n", i)
		default:
			fmt.Fprintf(&b, "  S%d: {}\n", i)
		}
	}
	b.WriteString("events:\n")
	for e := range events {
		fmt.Fprintf(&b, "  e%d: {expect: version}\n", e)
	}
	b.WriteString("transitions:\n")
	for i := range states - 1 {
		for e := range events {
			fmt.Fprintf(&b, "  - {event: e%d, from: S%d, to: S%d}\n", e, i, (i+1+e*e*7)%states)
		}
	}
	files := fstest.MapFS{
		"go.mod":                 {Data: []byte("module example.com/large\n")},
		"definitions/large.yaml": {Data: []byte(b.String())},
	}
	scaffold, err := pipeline.Scaffold(files)
	if err != nil {
		panic(err)
	}
	for _, name := range scaffold.Paths() {
		content, _ := scaffold.Get(name)
		files[name] = &fstest.MapFile{Data: content}
	}
	return files
}

// BenchmarkSize lints and generates machines of growing size. ns/transition
// that stays the same is linear growth.
func BenchmarkSize(b *testing.B) {
	for _, table := range []bool{false, true} {
		for _, states := range []int{250, 500, 1000, 2000} {
			files := large(states, table)
			measure := func(name string, run func(*diag.List) error) {
				b.Run(fmt.Sprintf("%s/table=%t/transitions=%d", name, table, 10*(states-1)), func(b *testing.B) {
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					for range b.N {
						var problems diag.List
						require.NoError(b, run(&problems))
						require.Empty(b, problems.Sorted())
					}
					runtime.ReadMemStats(&after)
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*10*(states-1)), "ns/transition")
					b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)/1e6, "MB-allocated/op")
				})
			}
			measure("lint", func(problems *diag.List) error {
				_, err := pipeline.Lint(context.Background(), files, []string{pipeline.Definitions}, problems)
				return err
			})
			measure("generate", func(problems *diag.List) error {
				_, err := pipeline.Generate(context.Background(), files, problems)
				return err
			})
		}
	}
}
