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
