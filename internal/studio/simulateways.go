package studio

import (
	"time"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
	"github.com/pawl-go/pawl/internal/simulate"
	"github.com/pawl-go/pawl/internal/wording"
)

// waitView is a way to let time pass.
type waitView struct {
	Text, Href string
	First      bool
}

func (l *life) waits(r oracle.Row) []waitView {
	var out []waitView
	sweep := simulate.Step{Kind: simulate.Sweep}
	if !r.Due.IsZero() {
		left := r.Due.Sub(l.tape.Now)
		if left > 0 {
			wait := simulate.Step{Kind: simulate.Wait, After: left}
			out = append(out, waitView{l.say(wording.Phrase{EN: "%s later, the sweep comes", ZH: "%s后清扫"}, l.span(left)), l.to(wait, sweep), true})
			out = append(out, waitView{l.say(wording.Phrase{EN: "%s later, no sweep yet", ZH: "%s后，尚未清扫"}, l.span(left)), l.to(wait), false})
		} else {
			out = append(out, waitView{l.say(wording.Phrase{EN: "the sweep comes", ZH: "清扫"}), l.to(sweep), true})
		}
	}
	for _, d := range []time.Duration{time.Hour, 24 * time.Hour} {
		out = append(out, waitView{l.say(wording.Phrase{EN: "%s later", ZH: "%s后"}, l.span(d)), l.to(simulate.Step{Kind: simulate.Wait, After: d}), false})
	}
	return out
}

// storyView is a story to play.
type storyView struct {
	Title, About, Href string
	Current            bool
}

func (l *life) story(s simulate.Story) storyView {
	w := storyWords[s.Kind]
	v := storyView{Title: l.say(w.title), Href: l.life(l.machine, s.Steps)}
	switch s.Kind {
	case simulate.Happy:
		v.About = l.say(w.about)
	default:
		v.About = l.say(w.about, s.Event.Name, s.State.Name)
	}
	v.Current = simulate.Text(s.Steps) == simulate.Text(l.script.Steps)
	return v
}

// wayGroup are the calls that come to the same now.
type wayGroup struct {
	Class, Word, When string
	Ways              []wayView
	// Quiet are groups whose calls change nothing.
	Quiet bool
}

// wayView is a call that can be made now.
type wayView struct {
	Event     *model.Event
	Href      string
	To, About string
	Args      []valueView
	Emits     []string
	Chosen    bool
	Form      *formView
}

// groups sorts the ways by what they would do, those that do most first.
func (l *life) groups() []wayGroup {
	var out []wayGroup
	ways := l.tape.Ways()
	for _, o := range offeredOrder {
		w := outcomeWords[o]
		g := wayGroup{Class: w.class, Word: l.say(w.word), When: l.say(w.when), Quiet: o == oracle.Replayed || o == oracle.Ignored || o == oracle.Rejected}
		for _, e := range ways {
			for i, way := range e.Ways {
				if way.Told.Outcome == o {
					g.Ways = append(g.Ways, l.way(e.Event, way, i == 0))
				}
			}
		}
		if len(g.Ways) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// anew are the calls of a row that has just been created, in place of all steps. There
// are none before the first step, where a creation is asked for.
func (l *life) anew() []wayGroup {
	if len(l.script.Steps) == 0 {
		return nil
	}
	played := l.machine.played()
	fresh := *l
	fresh.script = simulate.Script{Steps: []simulate.Step{played.Created()}}
	fresh.tape = played.Play(fresh.script.Steps)
	groups := fresh.groups()
	for _, g := range groups {
		for i := range g.Ways {
			g.Ways[i].Form = nil // it would go on from this page's steps
		}
	}
	return groups
}

func (l *life) way(e *model.Event, way simulate.Way, first bool) wayView {
	v := wayView{Event: e, Href: l.to(way.Step), Emits: way.Told.Emits, Chosen: len(way.Step.Choices) > 0}
	if way.Told.History {
		v.To = way.Told.To
	}
	for _, a := range way.Step.Args {
		v.Args = append(v.Args, valueView{Name: a.Name, Text: a.Text})
	}
	for _, g := range way.Told.Guards {
		if g.Guard != nil && g.Taken {
			v.About = wording.Guard(g.Transition.Guard)
		}
	}
	if first && (len(e.Params) > 0 || e.ExpectVersion) {
		v.Form = l.callForm(e, way.Step)
	}
	return v
}
