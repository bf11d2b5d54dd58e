package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/pipeline"
)

func diagramFlags(k *call) {
	materialFlags(k)
	k.flags.StringVar(&k.material.theme, "theme", "", "the `THEME`, "+choice(pipeline.Themes())+" (default: auto for svg, which follows the reader's, and light for the others)")
	k.flags.StringVar(&k.material.state, "state", "", "draw only what leads into and out of the `STATE`")
}

func testsFlags(k *call) {
	materialFlags(k)
	k.flags.StringVar(&k.material.suite, "suite", "all-cells", "the `SUITE`: "+choice(pipeline.Suites()))
	k.flags.IntVar(&k.material.limit, "limit", pipeline.DefaultLimit, "refuse a suite of more than `N` cases; fsmgen stats tells the sizes beforehand")
}

// runDiagram draws machines.
func runDiagram(ctx context.Context, k *call) int {
	return k.make(ctx, func(m *model.Machine) ([]pipeline.Material, error) {
		return pipeline.Diagram(m, k.format, pipeline.DiagramOptions{Lang: k.material.lang, Theme: k.material.theme, State: k.material.state})
	})
}

// runMatrix makes the tables of states and events.
func runMatrix(ctx context.Context, k *call) int {
	return k.make(ctx, func(m *model.Machine) ([]pipeline.Material, error) {
		return pipeline.Matrix(m, k.format, k.material.lang)
	})
}

// runTests makes test suites.
func runTests(ctx context.Context, k *call) int {
	return k.make(ctx, func(m *model.Machine) ([]pipeline.Material, error) {
		return pipeline.Tests(m, k.material.suite, k.format, k.material.lang, k.material.limit)
	})
}

// make makes the material of each machine and delivers all of it. Machines that
// have no such suite are told, and leave those of the others to be delivered;
// after any other error nothing is.
func (k *call) make(ctx context.Context, of func(*model.Machine) ([]pipeline.Material, error)) int {
	machines, code := k.drawn(ctx)
	if machines == nil {
		return code
	}
	if languages := pipeline.Languages(machines); !pipeline.Speaks(languages, k.material.lang) {
		return k.fail(fmt.Errorf("nothing is said in the language %q: choose %s", k.material.lang, choice(languages)))
	}
	if k.material.out == "" && len(machines) != 1 {
		return k.fail(fmt.Errorf("these are files of %s: name a folder for them with --out FOLDER, or one definition", count(len(machines), "machine")))
	}
	var all [][]pipeline.Material
	var without []error
	for _, m := range machines {
		if err := ctx.Err(); err != nil {
			return k.fail(err)
		}
		made, err := of(m)
		var large *pipeline.TooLarge
		if errors.As(err, &large) && len(made) > 0 && k.material.out != "" {
			_, _ = fmt.Fprintf(k.err, "note: %s\n", err)
			err = nil
		}
		switch {
		case pipeline.NoSuite(err):
			without = append(without, fmt.Errorf("%s: %w", m.Name, err))
		case err != nil:
			return k.fail(fmt.Errorf("%s: %w", m.Name, err))
		default:
			all = append(all, made)
		}
	}
	code = exitFailed
	if len(all) > 0 {
		code = k.deliver(all)
	}
	for _, err := range without {
		k.fail(err)
		code = max(code, exitFindings)
	}
	return code
}

// runStats tells the sizes of the suites.
func runStats(ctx context.Context, k *call) int {
	machines, code := k.drawn(ctx)
	if machines == nil {
		return code
	}
	sizes := make([]pipeline.Sizes, len(machines))
	for i, m := range machines {
		if err := ctx.Err(); err != nil {
			return k.fail(err)
		}
		sizes[i] = pipeline.Stats(m)
	}
	write := k.statsText
	if k.format == "json" {
		write = func(sizes []pipeline.Sizes) error { return diag.Encode(k.out, sizes) }
	}
	if err := write(sizes); err != nil {
		return k.fail(err)
	}
	return exitFine
}

// statsText is a table with a line a number and a column a machine. It has the
// names that the JSON has.
func (k *call) statsText(sizes []pipeline.Sizes) error {
	w := tabwriter.NewWriter(k.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, cell func(pipeline.Sizes) string) {
		_, _ = fmt.Fprint(w, name, "\t") // the first error of the writer comes back from Flush
		for _, s := range sizes {
			_, _ = fmt.Fprint(w, cell(s), "\t")
		}
		_, _ = fmt.Fprintln(w)
	}
	row("machine", func(s pipeline.Sizes) string { return s.Machine })
	for i, n := range (pipeline.Sizes{}).Numbers() {
		row(n.Name, func(s pipeline.Sizes) string {
			if v := s.Numbers()[i].Value; v != nil {
				return strconv.FormatInt(*v, 10)
			}
			return "–"
		})
	}
	return w.Flush()
}
