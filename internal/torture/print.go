package torture

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pawl-go/pawl/internal/torture/judge"
)

// Print prints the report as tables for people.
func (r *Report) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(cells ...any) {
		line := make([]string, len(cells))
		for i, c := range cells {
			line[i] = fmt.Sprint(c)
		}
		_, _ = fmt.Fprintln(t, strings.Join(line, "\t")) // Flush says what went wrong
	}
	row("seed", r.Seed)
	row("took", r.Took.Round(time.Second))
	row("transitions", r.Transitions)
	row("recorded and compensated", r.Recorded)
	row("calls", r.Calls)
	row()
	row("fault", "begun", "struck", "missed", "what")
	for _, h := range r.Harm {
		row(h.Name, h.Times, h.Hits, h.Missed, h.Does)
	}
	for _, why := range r.LeftOut {
		row("left out", why)
	}
	row()
	row("calls by way and answer")
	pairs(row, r.Outcomes)
	row()
	row("errors, most frequent first")
	counts(row, r.Errors)
	row()
	row("unknown outcomes, as it turned out")
	row("  had moved their row", r.Moved)
	row("  had not", r.Not)
	row()
	row("compared")
	counts(row, r.Checked)
	row()
	row("violations", len(r.Violations))
	for _, v := range r.Violations {
		row(fmt.Sprintf("  %d times: %s", v.N, v.What))
		for _, e := range v.Examples {
			row("    " + e)
		}
	}
	return t.Flush()
}

func counts(row func(...any), all []judge.Count) {
	for _, c := range all {
		row("  "+c.What, c.N)
	}
}

// pairs prints counts whose text has two parts.
func pairs(row func(...any), all []judge.Count) {
	for _, c := range all {
		way, answer, _ := strings.Cut(c.What, "|")
		row("  "+way, answer, c.N)
	}
}
