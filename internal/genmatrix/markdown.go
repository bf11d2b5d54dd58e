package genmatrix

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sheet"
	"github.com/pawl-go/pawl/internal/wording"
)

// widest is how many columns a Markdown table of the matrix has beside its
// names; a wider matrix comes in parts.
const widest = 10

// markdown renders the matrix first and what explains it after.
func markdown(v view) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- %s -->\n<!-- %s -->\n\n", generated, mdComment(v.say(source, v.Source)))
	fmt.Fprintf(&b, "# %s\n\n", mdText(v.say(title, v.Name)))
	if v.Describe != "" {
		fmt.Fprintf(&b, "%s\n\n", mdText(v.Describe))
	}
	if v.Owner != "" {
		fmt.Fprintf(&b, "%s\n\n", mdText(v.say(ownedBy, v.Owner)))
	}
	fmt.Fprintf(&b, "%s\n\n", v.say(size, len(v.States), len(v.Events), len(v.States)*len(v.Events)))
	v.mdMatrix(&b)
	v.mdLegend(&b)
	for _, t := range v.tables() {
		fmt.Fprintf(&b, "\n## %s\n\n", v.say(t.title))
		v.mdTable(&b, t)
	}
	return b.Bytes()
}

// mdMatrix writes the matrix, in parts when it is wide.
func (v view) mdMatrix(b *bytes.Buffer) {
	columns, rows := v.columns(), v.rows()
	parts := (len(columns) + widest - 1) / widest
	for p := range parts {
		first, last := p*len(columns)/parts, (p+1)*len(columns)/parts
		heading := v.say(matrix)
		if parts > 1 {
			heading = v.say(part, p+1, parts)
		}
		fmt.Fprintf(b, "## %s\n\n", heading)
		lines := [][]string{{mdText(v.corner())}}
		for _, h := range columns[first:last] {
			lines[0] = append(lines[0], v.mdHead(h))
		}
		for i, h := range rows {
			line := []string{v.mdHead(h)}
			for j := first; j < last; j++ {
				line = append(line, v.mdCell(v.cell(i, j)))
			}
			lines = append(lines, line)
		}
		writeTable(b, lines)
		b.WriteString("\n")
	}
}

func (v view) mdHead(h head) string {
	said := mdText(h.name)
	if h.label != "" {
		said += "<br>" + mdText(h.label)
	}
	if h.state != nil {
		if marks := wording.Marks(h.state, v.lang); len(marks) > 0 {
			said += "<br>*" + strings.Join(marks, ", ") + "*"
		}
	}
	return said
}

// mdCell is a cell's ways, one under another: guards by name, since the file
// explains them, and moves in bold, since they are what the eye looks for.
func (v view) mdCell(c *model.Cell) string {
	var lines []string
	for _, w := range wording.Ways(c) {
		when, then := w.When(v.lang), mdText(w.Then(v.lang))
		if g := w.Guard(); g != nil {
			when = "[" + mdText(short(g)) + "]"
		}
		if w.Transition != nil {
			then = "**" + then + "**"
		}
		lines = append(lines, when+w.Gap(v.lang)+then)
	}
	if due := v.due(c); due != "" {
		lines = append(lines, "*"+mdText(due)+"*")
	}
	return strings.Join(lines, "<br>")
}

func (v view) mdLegend(b *bytes.Buffer) {
	fmt.Fprintf(b, "## %s\n\n", v.say(legend))
	lines := [][]string{{v.say(colKind), v.say(colCount), v.say(colMeaning)}}
	for _, g := range v.groups() {
		lines = append(lines, []string{v.say(g.word), fmt.Sprint(g.count), v.say(g.means)})
	}
	writeTable(b, lines)
	if v.Facts() {
		fmt.Fprintf(b, "\n%s\n", v.say(told))
	}
}

func (v view) mdTable(b *bytes.Buffer, t table) {
	lines := [][]string{{}}
	for _, c := range t.columns {
		lines[0] = append(lines[0], v.say(c.header))
	}
	for _, row := range t.rows {
		line := make([]string, len(row))
		for i, text := range row {
			line[i] = mdText(text)
		}
		lines = append(lines, line)
	}
	writeTable(b, lines)
}

// writeTable writes a table whose first line is its header, in even columns as
// far as that helps whoever reads it raw.
func writeTable(b *bytes.Buffer, lines [][]string) {
	const helpful = 44 // a wider cell leaves its column
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, text := range line {
			if w := sheet.Shown(text); w <= helpful {
				widths[i] = max(widths[i], w, 3)
			}
		}
	}
	for n, line := range lines {
		for i, text := range line {
			b.WriteString("| " + text + strings.Repeat(" ", max(0, widths[i]-sheet.Shown(text))) + " ")
		}
		b.WriteString("|\n")
		if n == 0 {
			for _, w := range widths {
				b.WriteString("|" + strings.Repeat("-", w+2))
			}
			b.WriteString("|\n")
		}
	}
}
