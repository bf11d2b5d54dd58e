package gendocs

import (
	"html/template"

	"github.com/pawl-go/pawl/internal/wording"
)

// indexPage is the page with all machines of one language.
type indexPage struct {
	frame
	Cards []card
	Since *changes
}

// card is one machine of the index.
type card struct {
	Name, Describe                              string
	Picture                                     template.HTML
	States, Events, Transitions, Cases, Changes int
}

func indexOf(in Input, parts []Parts, lang string) indexPage {
	p := indexPage{frame: framed(lang, wording.Phrase{EN: "Lifecycles", ZH: "生命周期"}.In(lang), "index.html")}
	for i, m := range in.Machines {
		c := card{
			Name: m.Model.Name, Describe: m.Model.Describe, Picture: svg(parts[i].Picture),
			States: len(m.Model.States), Events: len(m.Model.Events), Transitions: len(m.Model.Transitions),
		}
		for _, s := range m.Suites {
			c.Cases += len(s.Cases)
		}
		if in.Since != nil {
			c.Changes = changesOf(in.Since, m.Model.Name, lang).size()
		}
		p.Cards = append(p.Cards, c)
	}
	if in.Since != nil {
		p.Since = changesOf(in.Since, "", lang)
	}
	return p
}
