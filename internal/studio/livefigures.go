package studio

import (
	"fmt"
	"html/template"
	"regexp"
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/live"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
)

// places are the empty groups that gensvg leaves for figures.
var places = regexp.MustCompile(`(<g class="pawl-figure" id="[^"]*-)([fg])([0-9]+)("[^>]*>)(</g>)`)

// drawing is the picture with places for figures; empty for a machine that is too
// large for one.
func drawing(m *model.Machine, lang string, marks *gensvg.Marks) (svg string, edges []*picture.Edge) {
	p := picture.Of(m)
	if len(m.States) > picture.Large {
		p = p.Overview()
	}
	content, err := gensvg.Fragment(p, gensvg.Options{Lang: lang, ID: m.Name + "-live", NoTitle: true, NoLegend: true, Figures: true, Marks: marks})
	if err != nil {
		return "", nil // too large
	}
	return string(content), p.Edges
}

// withFigures writes the rows of each state on its box, and the flow on its arrow.
func withFigures(m *model.Machine, lang string, v live.View, marks *gensvg.Marks) template.HTML {
	svg, edges := drawing(m, lang, marks)
	whole := places.ReplaceAllStringFunc(svg, func(place string) string {
		at := places.FindStringSubmatch(place)
		n, err := strconv.Atoi(at[3])
		if err != nil {
			return place
		}
		var inside string
		switch {
		case at[2] == "f" && n <= len(m.States):
			inside = stateFigure(m.States[n-1], v)
		case at[2] == "g" && n <= len(edges):
			if r := v.Moves.Value.PerMinute(edges[n-1].From.Name, edges[n-1].To.Name); r > 0 {
				inside = pill("flow", rate(r)+"/min", 6, -12)
			}
		}
		return strings.Replace(at[1]+at[2]+at[3]+at[4], "<g ", "<g data-live ", 1) + inside + at[5]
	})
	return template.HTML(whole) // gensvg has escaped it, and figures are digits
}

// stateFigure is the number of rows, and how many of them are overdue.
func stateFigure(s *model.State, v live.View) string {
	if !v.Counts.Known() {
		return ""
	}
	late := v.Deadlines.Value.Of(s.Name)
	n, class := v.Counts.Value.Of(s.Name), "rows"
	text := brief(n)
	if !v.Counts.Value.Exact { // estimates know nothing of rare states
		text = "≈ " + brief(max(n, late))
	}
	if n == 0 && late == 0 {
		class += " none"
	}
	out := pill(class, text, 8, -14)
	if late > 0 {
		out += pill("late", "⏱ "+upTo(late), 4-pillWidth(text), -14)
	}
	return out
}

// pillWidth is room for a text of digits and signs.
func pillWidth(text string) int {
	width := 14
	for _, r := range text {
		switch {
		case strings.ContainsRune(",. /i", r):
			width += 4
		case r > 0x7f:
			width += 11
		default:
			width += 8
		}
	}
	return width
}

// pill is a text on a ground, with its right end and its top at a point.
func pill(class, text string, x, y int) string {
	width := pillWidth(text)
	return fmt.Sprintf(`<g class="%s"><rect x="%d" y="%d" width="%d" height="18" rx="9"/><text x="%d" y="%d">%s</text></g>`, class, x-width, y, width, x-width/2, y+13, template.HTMLEscapeString(text))
}
