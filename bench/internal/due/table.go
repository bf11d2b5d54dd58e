package due

import (
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/bench/internal/stat"
)

// Markdown is the tables of a report.
func (r *Report) Markdown() string {
	var b strings.Builder
	r.grid(&b, "HOT updates, %", func(row []Cell, i int) string { return fmt.Sprintf("%.0f", 100*row[i].Counts.HOTShare()) })
	r.grid(&b, "Bytes of WAL a transition", func(row []Cell, i int) string { return fmt.Sprintf("%.0f", row[i].Counts.WALBytes) })
	r.grid(&b, "Time, × the index on full pages (quartiles)", func(row []Cell, i int) string {
		s := stat.Of(stat.Ratios(row[i].Micros, row[0].Micros))
		return fmt.Sprintf("%.2f (%.2f – %.2f)", s.Median, s.Low, s.High)
	})
	r.fresh(&b)
	r.sweeps(&b)
	return b.String()
}

// grid is a table of all kinds and columns.
func (r *Report) grid(b *strings.Builder, title string, value func(row []Cell, i int) string) {
	fmt.Fprintf(b, "## %s\n\n| |", title)
	for _, c := range r.Columns {
		fmt.Fprintf(b, " %s, %d |", c.Scheme.Name, c.FillFactor)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --: |", len(r.Columns)) + "\n")
	for k, row := range r.Cells {
		fmt.Fprintf(b, "| %s |", r.Kinds[k].Name)
		for i := range row {
			fmt.Fprintf(b, " %s |", value(row, i))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

func (r *Report) fresh(b *strings.Builder) {
	b.WriteString("## payment_succeeded right after a checkpoint\n\n| | full-page images | bytes of WAL |\n| --- | --: | --: |\n")
	for i, c := range r.Fresh {
		fmt.Fprintf(b, "| %s, %d | %.2f | %.0f |\n", r.Columns[i].Scheme.Name, r.Columns[i].FillFactor, c.WALImages, c.WALBytes)
	}
	b.WriteString("\n")
}

func (r *Report) sweeps(b *strings.Builder) {
	b.WriteString("## A sweep\n\n| | time × | spread | WAL records a row | WAL bytes a row | buffers a row | buffers when nothing is due |\n| --- | --: | --: | --: | --: | --: | --: |\n")
	for _, s := range r.Sweeps {
		t := stat.Of(stat.Ratios(s.Micros, r.Sweeps[0].Micros))
		fmt.Fprintf(b, "| %s | %.2f | %.2f – %.2f | %.1f | %.0f | %.1f | %.1f |\n", s.Column.Scheme.Name, t.Median, t.Low, t.High,
			s.Counts.WALRecords, s.Counts.WALBytes, s.Counts.Buffers, s.Idle)
	}
}
