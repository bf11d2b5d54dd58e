package studio

import (
	"html/template"

	"github.com/pawl-go/pawl/internal/wording"
)

// machinesPart is the first page: every machine as a card.
func machinesPart(s *Studio) (part, error) {
	return part{routes: []route{{"/{$}", s.machines}}}, nil
}

// card is one machine of the first page.
type card struct {
	*machine
	Picture                     template.HTML
	States, Events, Transitions int
	// Findings are the first errors of a definition that is wrong. One that was never
	// right has no picture: the lines around the first are shown in its place.
	Findings []finding
	Around   []sourceLine
	// More is what other parts have to say of it.
	More []template.HTML
}

func (s *Studio) machines(v *visit) error {
	var cards []card
	for _, m := range v.now.machines {
		c := card{machine: m}
		if m.Model != nil {
			parts, err := m.drawn[v.Lang]()
			if err != nil {
				return err
			}
			c.Picture = template.HTML(parts.Thumb) // its renderer has escaped it
			c.States, c.Events = len(m.Model.States), len(m.Model.Events)
			for _, t := range m.Model.Transitions {
				c.Transitions += len(t.From)
			}
		}
		c.Findings, c.Around = v.wrong(m)
		for _, p := range s.parts {
			if p.card == nil {
				continue
			}
			more, err := p.card(v, m)
			if err != nil {
				return err
			}
			if more != "" {
				c.More = append(c.More, more)
			}
		}
		cards = append(cards, c)
	}
	return v.show(page{Title: v.say(wording.Phrase{EN: "Lifecycles", ZH: "生命周期"}), Template: "machines", Data: cards, Topics: s.liveTopics()})
}

// mostFindings are shown on a card. It has room for so many lines of a definition, if each
// finding takes that of two.
const mostFindings, roomOfCard = 3, 9

// wrong are the first errors of a machine's definition, and the lines around the first;
// none where there are no errors.
func (v *visit) wrong(m *machine) (first []finding, around []sourceLine) {
	if m.Errors() == 0 {
		return nil, nil
	}
	source := v.sourceOf(m)
	for _, f := range source.All {
		if f.Class == "bad" && len(first) < mostFindings {
			first = append(first, f)
		}
	}
	if first[0].Line > 0 {
		around = surrounding(source.Lines, first[0].Line, roomOfCard-2*len(first))
	}
	return first, around
}

// surrounding are n lines with a line in their middle, or as near to it as there are lines.
func surrounding(lines []sourceLine, line, n int) []sourceLine {
	n = min(n, len(lines))
	from := min(max(line-1-n/2, 0), len(lines)-n)
	return lines[from : from+n]
}
