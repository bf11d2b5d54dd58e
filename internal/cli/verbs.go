package cli

import (
	"context"
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

// runLint checks the definitions that are named, or all, and then the queries.
func runLint(ctx context.Context, k *call) int {
	paths := k.args
	if len(paths) == 0 {
		paths = []string{pipeline.Definitions}
	}
	for _, given := range [][]string{paths, k.queries} {
		for i, p := range given {
			if filepath.IsAbs(p) {
				return k.fail(fmt.Errorf("%s: give a path below the project's root, see -C", p))
			}
			given[i] = filepath.ToSlash(filepath.Clean(p))
		}
	}
	var problems diag.List
	machines, err := pipeline.Lint(ctx, os.DirFS(k.dir), paths, &problems)
	if err != nil {
		return k.fail(err)
	}
	checked := count(len(machines), "machine")
	allowed := 0
	if len(k.queries) > 0 {
		read := 0
		if read, allowed, err = pipeline.Bypass(ctx, os.DirFS(k.dir), k.queries, machines, &problems); err != nil {
			return k.fail(err)
		}
		checked += " and " + count(read, "hand-written SQL file")
	}
	if err := k.print(&problems); err != nil {
		return k.fail(err)
	}
	if problems.Errors() > 0 {
		return exitFindings
	}
	if k.format == "text" {
		_, _ = fmt.Fprintf(k.err, "%s checked, %s", checked, summary(&problems))
		if allowed > 0 {
			_, _ = fmt.Fprintf(k.err, ", %d allowed", allowed)
		}
		_, _ = fmt.Fprintln(k.err)
	}
	return exitFine
}

// runGenerate writes what the definitions make, or shows the difference.
func runGenerate(ctx context.Context, k *call) int {
	if len(k.args) > 0 {
		return k.fail(fmt.Errorf("generate takes no arguments: %q", k.args))
	}
	var problems diag.List
	set, err := pipeline.Generate(ctx, os.DirFS(k.dir), &problems)
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

// runSchema prints the schema of definitions.
func runSchema(_ context.Context, k *call) int {
	if len(k.args) > 0 {
		return k.fail(fmt.Errorf("schema takes no arguments: %q", k.args))
	}
	schema, err := pipeline.Schema()
	if err != nil {
		return k.fail(err)
	}
	if _, err := k.out.Write(schema); err != nil {
		return k.fail(err)
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
	text := count(errors, "error") + ", " + count(len(problems.Sorted())-errors, "warning")
	if waived := len(problems.Waived()); waived > 0 {
		text += fmt.Sprintf(", %d waived", waived)
	}
	return text
}

// count is a number with its word.
func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
