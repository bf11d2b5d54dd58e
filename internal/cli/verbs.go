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

// lintOptions are the flags of lint.
type lintOptions struct {
	// queries are the folders of hand-written SQL to look at too.
	queries []string
	// explain is the code to explain instead of checking anything.
	explain string
}

func lintFlags(k *call) {
	k.flags.StringVar(&k.lint.explain, "explain", "", "check nothing; explain the `CODE` of a problem, with a case that fails and one that passes")
	k.flags.Func("queries", "a `folder` of .sql files, looked through for statements that go around the machines; may be repeated",
		func(folder string) error { k.lint.queries = append(k.lint.queries, folder); return nil })
}

// runLint checks the definitions that are named, or all, and then the queries;
// or it explains a code.
func runLint(ctx context.Context, k *call) int {
	if k.lint.explain != "" {
		if len(k.args) > 0 {
			return k.fail(fmt.Errorf("lint --explain takes one code and no files: %q", k.args))
		}
		return k.explain([]string{k.lint.explain})
	}
	paths, err := k.paths()
	if err == nil {
		k.lint.queries, err = below(k.lint.queries)
	}
	if err != nil {
		return k.fail(err)
	}
	var problems diag.List
	machines, err := pipeline.Lint(ctx, os.DirFS(k.dir), paths, &problems)
	if err != nil {
		return k.fail(err)
	}
	checked := count(len(machines), "machine")
	allowed := 0
	if len(k.lint.queries) > 0 {
		read := 0
		if read, allowed, err = pipeline.Bypass(ctx, os.DirFS(k.dir), k.lint.queries, machines, &problems); err != nil {
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

// paths are those that the arguments name, or all.
func (k *call) paths() ([]string, error) {
	if len(k.args) == 0 {
		return []string{pipeline.Definitions}, nil
	}
	return below(k.args)
}

// below returns paths as they are called below the project's root.
func below(given []string) ([]string, error) {
	paths := make([]string, len(given))
	for i, p := range given {
		if filepath.IsAbs(p) {
			return nil, fmt.Errorf("%s: give a path below the project's root, see -C", p)
		}
		paths[i] = filepath.ToSlash(filepath.Clean(p))
		if paths[i] == ".." || strings.HasPrefix(paths[i], "../") {
			return nil, fmt.Errorf("%s: this is outside the project's root; give a path below it, see -C", p)
		}
	}
	return paths, nil
}

// generateOptions are the flags of generate.
type generateOptions struct {
	check bool
	// advance says that the programs generated before are gone.
	advance bool
}

func generateFlags(k *call) {
	k.flags.BoolVar(&k.generate.check, "check", false, "write nothing; show the difference and exit 1 if there is one")
	k.flags.BoolVar(&k.generate.advance, "advance", false, "the programs generated before the newest definitions are gone: write the migrations that end what was kept for them")
}

// runGenerate writes what the definitions make, or shows the difference.
func runGenerate(ctx context.Context, k *call) int {
	if len(k.args) > 0 {
		return k.fail(fmt.Errorf("generate takes no arguments: %q", k.args))
	}
	var problems diag.List
	generate := pipeline.GenerateWaiting
	if k.generate.advance {
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
	if k.generate.advance && k.format == "text" && len(waiting) == 0 {
		_, _ = fmt.Fprintln(k.err, "nothing waits any more: with this migration and this program the change is through")
	}
	if !k.generate.check {
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

// runRules lists the codes, or explains those that are named.
func runRules(_ context.Context, k *call) int { return k.explain(k.args) }

// explain prints what codes mean, with their cases; without a code, the list.
func (k *call) explain(codes []string) int {
	found, err := pipeline.Find(codes)
	if err != nil {
		return k.fail(err)
	}
	for i, e := range found {
		if len(codes) == 0 {
			_, _ = fmt.Fprintf(k.out, "%s %-7s %s\n", e.Code, e.Severity, e.Short)
			continue
		}
		if i > 0 {
			_, _ = fmt.Fprintln(k.out)
		}
		waive := "no; what it finds has no meaning, or loses money"
		if e.Waivable {
			waive = "yes, as waive: {" + string(e.Code) + ": the reason}, in the part that it is about"
		}
		_, _ = fmt.Fprintf(k.out, "%s %s: %s\n  Cause: %s\n  Fix:   %s\n  Waive: %s\n", e.Code, e.Severity, e.Short, e.Cause, e.Fix, waive)
		k.showCase("Fails", e.Bad)
		if e.Bad.Name != "" {
			_, _ = fmt.Fprintf(k.out, "\n  Told:\n%s", indented(e.Bad.ShownProblems()))
		}
		k.showCase("Passes", e.Good)
	}
	return exitFine
}

func (k *call) showCase(title string, c pipeline.Case) {
	if history := c.History(); history != "" {
		_, _ = fmt.Fprintf(k.out, "\n  %s, %s:\n", title, history)
	}
	for _, f := range c.Files {
		_, _ = fmt.Fprintf(k.out, "\n  %s (%s):\n%s", title, f.Name, indented(f.Shown()))
	}
}

func indented(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ") + "\n"
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
	_, _ = fmt.Fprintln(k.err, "note: this is kept for programs generated before: apply the migration, roll out, and when they are gone run fsmgen generate --advance")
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
