package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/fileset"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// runInit makes what is missing and leaves alone what is there.
func runInit(_ context.Context, k *call) int {
	if len(k.args) > 0 {
		return k.fail(fmt.Errorf("init takes no arguments: %q", k.args))
	}
	set, err := pipeline.Scaffold(os.DirFS(k.dir))
	if err != nil {
		return k.fail(err)
	}
	changes, err := set.Write(k.dir, fileset.Owned{AppendOnly: []string{pipeline.Migrations}})
	if err != nil {
		return k.fail(err)
	}
	k.changes(changes)
	_, _ = fmt.Fprintln(k.out, "Next: fsmgen generate")
	return exitFine
}

// runLint checks the definitions that are named, or all.
func runLint(ctx context.Context, k *call) int {
	paths := k.args
	if len(paths) == 0 {
		paths = []string{pipeline.Definitions}
	}
	for i, p := range paths {
		if filepath.IsAbs(p) {
			return k.fail(fmt.Errorf("%s: give a path below the project's root, see -C", p))
		}
		paths[i] = filepath.ToSlash(filepath.Clean(p))
	}
	var problems diag.List
	machines, err := pipeline.Lint(ctx, os.DirFS(k.dir), paths, &problems)
	if err != nil {
		return k.fail(err)
	}
	if err := k.print(&problems); err != nil {
		return k.fail(err)
	}
	if problems.Errors() > 0 {
		return exitFindings
	}
	if k.format == "text" {
		_, _ = fmt.Fprintf(k.err, "%s checked, %s\n", count(len(machines), "machine"), summary(&problems))
	}
	return exitFine
}

// runGenerate writes what the definitions make, or shows the difference.
func runGenerate(ctx context.Context, k *call) int {
	if len(k.args) > 0 {
		return k.fail(fmt.Errorf("generate takes no arguments: %q", k.args))
	}
	var problems diag.List
	generate := pipeline.GenerateWaiting
	if k.advance {
		generate = pipeline.Advance
	}
	set, waiting, err := generate(ctx, os.DirFS(k.dir), &problems)
	if errors.Is(err, pipeline.ErrNothingWaits) {
		_, _ = fmt.Fprintln(k.err, "nothing waits for programs of before to be gone; nothing was written")
		return exitFine
	}
	if err != nil {
		return k.fail(err)
	}
	if err := k.print(&problems); err != nil {
		return k.fail(err)
	}
	if set == nil {
		_, _ = fmt.Fprintf(k.err, "%s; nothing was written\n", summary(&problems))
		return exitFindings
	}
	k.waiting(waiting)
	if !k.check {
		changes, err := set.Write(k.dir, pipeline.Owned())
		if err != nil {
			return k.fail(err)
		}
		k.changes(changes)
		return exitFine
	}
	changes, err := set.Diff(k.dir, pipeline.Owned())
	if err != nil {
		return k.fail(err)
	}
	for _, c := range changes {
		_, _ = fmt.Fprint(k.out, c.Diff)
	}
	if len(changes) > 0 {
		_, _ = fmt.Fprintf(k.err, "%d files differ from the definitions; run fsmgen generate\n", len(changes))
		return exitFindings
	}
	return exitFine
}

// runModel prints the lines that hand-written migrations carry.
func runModel(ctx context.Context, k *call) int {
	var problems diag.List
	marks, err := pipeline.Marks(ctx, os.DirFS(k.dir), k.args, &problems)
	if err != nil {
		return k.fail(err)
	}
	if problems.Errors() > 0 {
		if err := k.print(&problems); err != nil {
			return k.fail(err)
		}
		return exitFindings
	}
	for _, mark := range marks {
		_, _ = fmt.Fprintln(k.out, mark)
	}
	return exitFine
}

// runRules prints what the codes mean.
func runRules(_ context.Context, k *call) int {
	rules := pipeline.Rules()
	for _, code := range k.args {
		found := false
		for _, r := range rules {
			found = found || string(r.Code) == code
		}
		if !found {
			return k.fail(fmt.Errorf("there is no code %q", code))
		}
	}
	for _, r := range rules {
		if len(k.args) > 0 && !strings.Contains(" "+strings.Join(k.args, " ")+" ", " "+string(r.Code)+" ") {
			continue
		}
		_, _ = fmt.Fprintf(k.out, "%s %s: %s\n  Cause: %s\n  Fix:   %s\n", r.Code, r.Severity, r.Short, r.Cause, r.Fix)
	}
	return exitFine
}

// print shows the problems in the format asked for. Text goes to standard
// error, what a program reads to standard output.
func (k *call) print(problems *diag.List) error {
	switch k.format {
	case "json":
		return problems.JSON(k.out)
	case "sarif":
		return problems.SARIF(k.out, pipeline.Rules())
	}
	return problems.Text(k.err)
}

// waiting notes what the database does for programs of before.
func (k *call) waiting(list []pipeline.Waiting) {
	if k.format != "text" || len(list) == 0 {
		return
	}
	for _, w := range list {
		for _, what := range w.What {
			_, _ = fmt.Fprintf(k.err, "note: %s: %s\n", w.Machine, what)
		}
	}
	_, _ = fmt.Fprintln(k.err, "note: this is for programs generated before; when they are gone, run fsmgen generate --advance")
}

func (k *call) changes(changes []fileset.Change) {
	for _, c := range changes {
		_, _ = fmt.Fprintf(k.out, "%-8s %s\n", c.Kind, c.Path)
	}
	if len(changes) == 0 {
		_, _ = fmt.Fprintln(k.out, "nothing to do")
	}
}

func summary(problems *diag.List) string {
	errors := problems.Errors()
	return count(errors, "error") + ", " + count(len(problems.Sorted())-errors, "warning")
}

// count is a number with its word.
func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
