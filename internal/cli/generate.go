package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/fileset"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// generateOptions are the flags of generate.
type generateOptions struct {
	check bool
	// advance says that the programs generated before are gone.
	advance bool
	// distribution is over what the tables are distributed; empty for nothing.
	distribution string
	// roles are those of the database; empty to go by what is there.
	roles string
}

func generateFlags(k *call) {
	k.flags.BoolVar(&k.generate.check, "check", false, "write nothing; show the difference and exit 1 if there is one")
	k.flags.BoolVar(&k.generate.advance, "advance", false, "the programs generated before the newest definitions are gone: write the migrations that end what was kept for them")
	k.flags.StringVar(&k.generate.distribution, "distribution", "", "write gen/citus.sql too, which distributes the tables: `citus`")
	k.flags.StringVar(&k.generate.roles, "roles", "", "write gen/roles.sql too, which says who may do what in the database: default, none, or `NAMES` such as app=shop_app,calls=functions; later runs go by the file")
}

// runGenerate writes what the definitions make, or shows the difference.
func runGenerate(ctx context.Context, k *call) int {
	if len(k.args) > 0 {
		return k.fail(fmt.Errorf("generate takes no arguments: %q", k.args))
	}
	distribution, err := pipeline.DistributionOf(k.generate.distribution)
	if err != nil {
		return k.fail(err)
	}
	options := []pipeline.Option{pipeline.DistributedOver(distribution)}
	if k.generate.roles != "" {
		roles, err := pipeline.Roles(k.generate.roles)
		if err != nil {
			return k.fail(err)
		}
		options = append(options, roles)
	}
	var problems diag.List
	generate := pipeline.GenerateWaiting
	if k.generate.advance {
		generate = pipeline.Advance
	}
	set, waiting, err := generate(ctx, os.DirFS(k.dir), &problems, options...)
	idle := errors.Is(err, pipeline.ErrNothingWaits)
	if err != nil && !idle {
		return k.fail(k.atRoot(err))
	}
	checked, err := k.machines([]string{pipeline.Definitions})
	if err != nil {
		return k.fail(err)
	}
	var changes []fileset.Change
	if set != nil {
		if changes, err = k.apply(set); err != nil {
			return k.fail(err)
		}
	}
	if err := k.printGenerated(&problems, changes, set != nil, idle); err != nil {
		return k.fail(err)
	}
	k.waiting(waiting)
	end, code := k.generated(set, changes, idle, len(waiting) > 0)
	_, _ = fmt.Fprintf(k.err, "%s checked, %s%s\n", checked, summary(&problems), end)
	return code
}

// apply writes the set, or only compares it.
func (k *call) apply(set *fileset.Set) ([]fileset.Change, error) {
	if k.generate.check {
		return set.Diff(k.dir, pipeline.Owned())
	}
	return set.Write(k.dir, pipeline.Owned())
}

// generated ends the last line, and gives the exit code.
func (k *call) generated(set *fileset.Set, changes []fileset.Change, idle, waits bool) (string, int) {
	switch {
	case idle:
		return "; nothing waits for programs of before to be gone; nothing was written", exitFine
	case set == nil:
		return "; nothing was written", exitFindings
	}
	if k.generate.advance && !waits {
		_, _ = fmt.Fprintln(k.err, "nothing waits any more: with this migration and this program the change is through")
	}
	switch n := len(changes); {
	case k.generate.check && n == 1:
		return "; 1 file differs from the definitions: run fsmgen generate", exitFindings
	case k.generate.check && n > 0:
		return fmt.Sprintf("; %d files differ from the definitions: run fsmgen generate", n), exitFindings
	case n > 0:
		return "; " + count(n, "file") + " changed", exitFine
	}
	return "", exitFine
}

// generatedJSON is what generate prints for programs. Of the two lists there is
// the one that the run made, and with errors none.
type generatedJSON struct {
	diag.Report
	Differences []fileChange `json:"differences,omitzero"` // with --check
	Written     []fileChange `json:"written,omitzero"`
}

type fileChange struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
	// Diff is there with --check.
	Diff string `json:"diff,omitempty"`
}

// printGenerated shows the problems and the changed files in the format asked
// for. SARIF has no place for files, so they go to standard error.
func (k *call) printGenerated(problems *diag.List, changes []fileset.Change, made, idle bool) error {
	if k.format == "json" {
		out := generatedJSON{Report: problems.Report()}
		list := []fileChange{}
		for _, c := range changes {
			f := fileChange{Path: c.Path, Kind: c.Kind.String()}
			if k.generate.check {
				f.Diff = c.Diff
			}
			list = append(list, f)
		}
		switch {
		case (made || idle) && k.generate.check:
			out.Differences = list
		case made, idle:
			out.Written = list
		}
		return diag.Encode(k.out, out)
	}
	if err := k.print(problems); err != nil || !made {
		return err
	}
	w := k.out
	if k.format == "sarif" {
		w = k.err
	}
	if !k.generate.check {
		return printChanges(w, changes)
	}
	for _, c := range changes {
		if _, err := fmt.Fprint(w, c.Diff); err != nil {
			return err
		}
	}
	return nil
}

// waiting notes what the database does for programs of before.
func (k *call) waiting(list []pipeline.Waiting) {
	if len(list) == 0 {
		return
	}
	for _, w := range list {
		for _, what := range w.What {
			_, _ = fmt.Fprintf(k.err, "note: %s: %s\n", w.Machine, what)
		}
	}
	_, _ = fmt.Fprintln(k.err, "note: this is kept for programs generated before: apply the migration, roll out, and when they are gone run fsmgen generate --advance")
}
