package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/pawl-go/pawl/internal/fileset"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// runTables writes the migrations of the parts that are named, or lists the
// parts.
func runTables(_ context.Context, k *call) int {
	fsys := os.DirFS(k.dir)
	if len(k.args) == 0 {
		return k.listTables()
	}
	set, err := pipeline.Tables(fsys, k.args)
	var unknown *pipeline.UnknownPartError
	if errors.As(err, &unknown) && unknown.Near == "" {
		return k.fail(fmt.Errorf("%w: fsmgen tables lists them", err))
	}
	if err != nil {
		return k.fail(k.atRoot(err))
	}
	changes, err := set.Write(k.dir, fileset.Owned{AppendOnly: []string{pipeline.Migrations}})
	if err != nil {
		return k.fail(err)
	}
	if err := printChanges(k.out, changes); err != nil {
		return k.fail(err)
	}
	if len(changes) > 0 {
		_, _ = fmt.Fprintln(k.err, "Next: fsmgen generate, and apply the migrations")
	}
	return exitFine
}

// listTables prints the parts, and where the project has them.
func (k *call) listTables() int {
	parts, err := pipeline.TableParts(os.DirFS(k.dir))
	if err != nil {
		return k.fail(k.atRoot(err))
	}
	for _, p := range parts {
		there := ""
		if p.In != "" {
			there = " (in " + p.In + ")"
		}
		if _, err := fmt.Fprintf(k.out, "%-8s %s%s\n", p.Name, p.Describe, there); err != nil {
			return k.fail(err)
		}
	}
	return exitFine
}
