package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawl-go/pawl/bench/internal/compare"
	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/goal"
	"github.com/pawl-go/pawl/bench/internal/result"
	"github.com/pawl-go/pawl/bench/internal/stat"
)

// Markdown is the page of a run.
func Markdown(a *result.All) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What the benchmark measured\n\nWritten by `make bench`; [how to read it](../bench.md). ")
	fmt.Fprintf(&b, "Each contender ran %d rounds of %s s, in an order shuffled with seed %d.\n\n", a.Rounds, goal.Number(a.Seconds), a.Seed)
	goals(&b, a.Goals)
	for _, p := range pictures(a) {
		fmt.Fprintf(&b, "![%s](%s)\n\n", p.title, p.file)
	}
	for _, c := range a.Comparisons {
		comparison(&b, c)
	}
	figures(&b, a.Figures)
	machine(&b, a.Machine)
	return b.String()
}

func goals(b *strings.Builder, goals []result.Goal) {
	b.WriteString("## Goals\n\n| goal | wanted | measured | quartiles | |\n| --- | --: | --: | --: | --- |\n")
	for _, g := range goals {
		bound, word := "≥", "**missed**"
		if g.AtMost {
			bound = "≤"
		}
		if g.Met {
			word = "met"
		}
		if g.Note != "" {
			word += "; " + g.Note
		}
		if !g.Judged {
			fmt.Fprintf(b, "| %s | %s %s %s | | | not run |\n", g.Text, bound, goal.Number(g.Want), g.Unit)
			continue
		}
		fmt.Fprintf(b, "| %s | %s %s %s | %s %s | %s – %s | %s |\n", g.Text, bound, goal.Number(g.Want), g.Unit,
			goal.Number(g.Got.Median), g.Unit, goal.Number(g.Got.Low), goal.Number(g.Got.High), word)
	}
	b.WriteString("\n")
}

// Title says a load in words.
func title(l result.Load) string {
	text := fmt.Sprintf("%s of %s, %d callers", l.Kind, l.Event, l.Callers)
	if l.Callers == 1 {
		text = strings.TrimSuffix(text, "s")
	}
	if l.Delay > 0 {
		text += fmt.Sprintf(", %d ms away", l.Delay/time.Millisecond)
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func comparison(b *strings.Builder, c result.Comparison) {
	fmt.Fprintf(b, "## %s\n\n", title(c.Load))
	against := c.Samples(contender.Usual().Name)
	twice := c.Load.Kind == compare.Storm || c.Load.Kind == compare.Hot
	fmt.Fprintf(b, "| | writes | %s | quartiles | min – max | × usual |", c.Unit)
	if twice {
		b.WriteString(" moved more than once |")
	}
	b.WriteString("\n| --- | --- | --: | --: | --: | --: |")
	if twice {
		b.WriteString(" --: |")
	}
	b.WriteString("\n")
	for _, row := range c.Rows {
		if row.Failed != "" {
			fmt.Fprintf(b, "| %s | %s | failed: %s |\n", row.Contender, row.Writes, strings.ReplaceAll(row.Failed, "|", "/"))
			continue
		}
		s := row.Sum
		fmt.Fprintf(b, "| %s | %s | %s | %s – %s | %s – %s | %s |", row.Contender, row.Writes, goal.Number(s.Median),
			goal.Number(s.Low), goal.Number(s.High), goal.Number(s.Min), goal.Number(s.Max), goal.Number(stat.Of(stat.Ratios(row.Samples, against)).Median))
		if twice {
			fmt.Fprintf(b, " %s of %s orders |", goal.Number(float64(row.Counts.Again)), goal.Number(float64(row.Counts.Orders)))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

func figures(b *strings.Builder, figures []result.Figure) {
	if len(figures) == 0 {
		return
	}
	b.WriteString("## Measured for itself\n\n| | median | quartiles | |\n| --- | --: | --: | --- |\n")
	for _, f := range figures {
		fmt.Fprintf(b, "| %s | %s %s | %s – %s | %s |\n", f.Name, goal.Number(f.Sum.Median), f.Unit, goal.Number(f.Sum.Low), goal.Number(f.Sum.High), f.Note)
	}
	b.WriteString("\n")
}

func machine(b *strings.Builder, m result.Machine) {
	b.WriteString("## The machine\n\nServer and client ran on one machine, and every commit waited for the disk.\n\n| | |\n| --- | --- |\n")
	for _, row := range [][2]string{
		{"CPU", fmt.Sprintf("%s, %d cores", m.CPU, m.Cores)}, {"memory", m.Memory}, {"system", m.OS}, {"Go", m.Go}, {"PostgreSQL", m.PostgreSQL},
	} {
		fmt.Fprintf(b, "| %s | %s |\n", row[0], row[1])
	}
	for _, s := range m.Settings {
		fmt.Fprintf(b, "| `%s` | `%s` |\n", s.Name, s.Value)
	}
}
