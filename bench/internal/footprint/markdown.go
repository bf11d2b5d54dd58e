package footprint

import (
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/bench/internal/contender"
)

// Markdown is the footprint as the tables of a page.
func (f Footprint) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "PostgreSQL %s; %d transitions a figure of the WAL, %d a figure of tables.\n\n", f.PostgreSQL, f.Sizes.Measured, f.Sizes.Kept)
	b.WriteString("| WAL bytes a transition | `pay`, single | in batches of 1,000 | `payment_succeeded`, single | in batches of 1,000 |\n| --- | ---: | ---: | ---: | ---: |\n")
	row := func(name string, checkpoint bool, value func(WAL) string) {
		fmt.Fprintf(&b, "| %s |", name)
		for _, event := range events {
			for _, way := range ways() {
				for _, w := range f.WAL {
					if w.Event == event && w.Batch == way.Size && w.Checkpoint == checkpoint {
						fmt.Fprintf(&b, " %s |", value(w))
					}
				}
			}
		}
		b.WriteString("\n")
	}
	all, images := func(w WAL) string { return number(w.Bytes) }, func(w WAL) string { return number(w.Images) }
	row("pages touched before", false, all)
	row("of which images", false, images)
	row(fmt.Sprintf("first touch after a checkpoint, %s orders", number(float64(f.Sizes.Large))), true, all)
	row("of which images", true, images)
	row("pages, each an image", true, func(w WAL) string { return fmt.Sprintf("%.1f", w.Pages) })
	b.WriteString("\n| disk bytes a transition | `pay`, table | indexes | `payment_succeeded`, table | indexes |\n| --- | ---: | ---: | ---: | ---: |\n")
	for _, first := range f.Disk {
		if first.Event != events[0] {
			continue
		}
		fmt.Fprintf(&b, "| `%s` |", first.Table)
		for _, event := range events {
			d := f.of(event, first.Table)
			fmt.Fprintf(&b, " %s | %s |", number(d.Heap), number(d.Indexes))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n| orders | entries of a row's history behind `pay` | pages, `payment_succeeded` | told again | `pay` told again |\n| ---: | ---: | ---: | ---: | ---: |\n")
	for _, p := range f.Pages {
		fmt.Fprintf(&b, "| %s | %s | %.1f | %.1f | %.1f |\n", number(float64(p.Rows)), number(float64(p.History)), p.First, p.Told, p.Pay)
	}
	return b.String()
}

func (f Footprint) of(event contender.Event, table string) Disk {
	for _, d := range f.Disk {
		if d.Event == event && d.Table == table {
			return d
		}
	}
	return Disk{}
}

// number is a whole number with commas.
func number(f float64) string {
	digits := fmt.Sprintf("%.0f", f)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
