package cli

import (
	"context"
	"fmt"
	"io"
	"os"

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
	if err := printChanges(k.out, changes); err != nil {
		return k.fail(err)
	}
	_, _ = fmt.Fprintln(k.out, "Next: fsmgen generate")
	return exitFine
}

// runModel prints the lines that hand-written migrations carry.
func runModel(ctx context.Context, k *call) int {
	var problems diag.List
	marks, err := pipeline.Marks(ctx, os.DirFS(k.dir), k.args, &problems)
	if err != nil {
		return k.fail(err)
	}
	if problems.Errors() > 0 { // not to standard output, which goes into a migration
		if err := problems.Text(k.err); err != nil {
			return k.fail(err)
		}
		_, _ = fmt.Fprintln(k.err, summary(&problems))
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

// print shows the problems in the format asked for.
func (k *call) print(problems *diag.List) error {
	switch k.format {
	case "json":
		return problems.JSON(k.out)
	case "sarif":
		return problems.SARIF(k.out, tool(), pipeline.Rules())
	}
	return problems.Text(k.out)
}

// printChanges lists the files that were written, or says that none was.
func printChanges(w io.Writer, changes []fileset.Change) error {
	if len(changes) == 0 {
		_, err := fmt.Fprintln(w, "nothing to do")
		return err
	}
	for _, c := range changes {
		if _, err := fmt.Fprintf(w, "%-8s %s\n", c.Kind, c.Path); err != nil {
			return err
		}
	}
	return nil
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
