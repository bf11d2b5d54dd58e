package torture

import (
	"fmt"
	"io"
	"strconv"
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
	row("struck: what it hit, connections, backends, rows or processes; missed: begun when another fault had made the server unreachable")
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
		row(fmt.Sprintf("  %s: %s", times(v.N), v.What))
		for _, e := range v.Examples {
			row("    " + e)
		}
	}
	row()
	row(r.verdict())
	row("to repeat it: bin/torture " + strings.Join(r.Again, " "))
	return t.Flush()
}

// verdict is the whole in a line.
func (r *Report) verdict() string {
	switch n := len(r.Violations); n {
	case 0:
		return "Nothing is wrong."
	case 1:
		return "WRONG: one kind of violation."
	default:
		return fmt.Sprintf("WRONG: %d kinds of violations.", n)
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// flags repeat the run.
func (o Options) flags() []string {
	all := []string{"-for", o.For.String(), "-seed", strconv.FormatUint(o.Seed, 10)}
	if len(o.Faults) > 0 {
		all = append(all, "-faults", strings.Join(o.Faults, ","))
	}
	if o.Transitions > 0 {
		all = append(all, "-transitions", strconv.FormatInt(o.Transitions, 10))
	}
	if o.Limit > 0 {
		all = append(all, "-limit", o.Limit.String())
	}
	return all
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
