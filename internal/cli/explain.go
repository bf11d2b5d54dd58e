package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/internal/pipeline"
)

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
