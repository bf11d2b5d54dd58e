package studio

import (
	"slices"
	"time"

	"github.com/pawl-go/pawl/internal/oracle"
	"github.com/pawl-go/pawl/internal/simulate"
	"github.com/pawl-go/pawl/internal/wording"
)

// toldView is a step of the tape.
type toldView struct {
	*simulate.Told
	// What says what was done, Class and Word what it came to, and When why in a
	// sentence.
	What, Class, Word, When string
	Args                    []valueView
	Time                    string
	Problem                 string
	Guards                  []guardView
	Checks                  []guardView
	Why                     []string
	Set                     []changeView
	Blind                   []string
	Due                     string
	// Moved says that the version is another one, New that the row is new.
	Moved, New bool
	// Back is the life up to this step, empty for the last one. Without leaves the
	// step out, of the last one alone.
	Back, Without string
	Again, Other  string
	OtherValue    string
	Choose        []chooseView
}

// valueView is a value by name. Unknown says that it could not be worked out.
type valueView struct {
	Name, Text    string
	Null, Unknown bool
}

type guardView struct {
	Name, Describe, SQL string
	// Truth is true, false, null, untold for what waits for a choice, none for what
	// was not looked at, and else for a transition without a guard.
	Truth  string
	To     string
	Taken  bool
	Chosen string
}

type changeView struct {
	Name          string
	Before, After valueView
}

// chooseView is a truth that can be chosen.
type chooseView struct{ Word, Href string }

func shownValue(name string, v any) valueView {
	text, null, known := simulate.Shown(v)
	return valueView{name, text, null, !known}
}

// told puts a step into words.
func (l *life) told(s *simulate.Told) toldView {
	w := outcomeWords[s.Outcome]
	v := toldView{
		Told: s, What: l.what(s), Class: w.class, Word: l.say(w.word), When: l.say(w.when), Time: l.clock(s.At),
		Moved: s.History, Why: l.why(s),
	}
	for _, a := range s.Step.Args {
		v.Args = append(v.Args, valueView{Name: a.Name, Text: a.Text})
	}
	if s.Problem != nil {
		v.Problem = l.problem(s.Problem)
	}
	if v.New = s.From == "" && s.To != ""; v.New && s.Outcome == oracle.Applied {
		v.When = l.say(wording.Phrase{EN: "there is a row now", ZH: "行已创建"})
	}
	for _, g := range s.Guards {
		v.Guards = append(v.Guards, l.guard(g))
	}
	for _, c := range s.Checks {
		g := guardView{Name: c.Of, SQL: c.Expr.Source, Truth: c.Truth.String(), Chosen: l.cannot(&c)}
		v.Checks = append(v.Checks, g)
	}
	for _, c := range s.Set {
		v.Set = append(v.Set, changeView{c.Column.Name, shownValue("", c.Before), shownValue("", c.After)})
	}
	for _, e := range s.Blind {
		v.Blind = append(v.Blind, e.Source)
	}
	if !s.Due.IsZero() && s.History {
		v.Due = l.clock(s.Due)
	}
	l.lead(&v)
	return v
}

// lead adds where the step leads.
func (l *life) lead(v *toldView) {
	steps := l.script.Steps
	at := v.N - 1
	if v.N < len(steps) {
		v.Back = l.life(l.machine, steps[:v.N])
	} else {
		v.Without = l.life(l.machine, steps[:at])
	}
	if again := l.tape.Again(v.Told); again != nil {
		v.Again = l.to(again.Same)
		if again.Other != nil {
			v.Other, v.OtherValue = l.to(*again.Other), again.Param.Name+" = "+again.Value
		}
	}
	if v.Outcome != simulate.Open {
		return
	}
	for _, g := range v.Told.Guards {
		if g.Guard == nil || g.Guard.Truth != simulate.Untold {
			continue
		}
		for _, t := range []simulate.Truth{simulate.True, simulate.False, simulate.Null} {
			other := slices.Clone(steps)
			other[at] = other[at].Choose(g.Guard.Of, t)
			v.Choose = append(v.Choose, chooseView{l.say(truthWords[t]), l.life(l.machine, other)})
		}
		return
	}
}

func (l *life) guard(g simulate.Tried) guardView {
	v := guardView{To: g.Transition.To.Name, Taken: g.Taken, Truth: "none"}
	if g.Transition.Guard == nil {
		v.Truth = "else"
		if !g.Taken {
			v.Truth = "none"
		}
		return v
	}
	v.Name, v.Describe, v.SQL = g.Transition.Guard.Name, g.Transition.Guard.Describe, g.Transition.Guard.SQL.Source
	if g.Guard != nil {
		v.Truth = g.Guard.Truth.String()
		if g.Guard.Truth == simulate.Untold {
			v.Truth = "untold"
		}
		v.Chosen = l.cannot(g.Guard)
	}
	return v
}

// cannot says why a condition was chosen, or taken for true.
func (l *life) cannot(c *simulate.Condition) string {
	switch {
	case c.Cannot == "":
		return ""
	case c.Assumed:
		return l.say(wording.Phrase{EN: "taken for true: it cannot be worked out here (%s)", ZH: "视为真：此处无法计算（%s）"}, c.Cannot)
	case c.Truth == simulate.Untold:
		return l.say(wording.Phrase{EN: "it cannot be worked out here (%s)", ZH: "此处无法计算（%s）"}, c.Cannot)
	}
	return l.say(wording.Phrase{EN: "chosen by you: it cannot be worked out here (%s)", ZH: "由你选择：此处无法计算（%s）"}, c.Cannot)
}

// columnView is a column of the row.
type columnView struct {
	valueView
	Type string
	Key  bool
	Step int
	New  bool
}

func (l *life) columns() []columnView {
	var out []columnView
	for _, c := range l.tape.Columns() {
		out = append(out, columnView{
			valueView: shownValue(c.Column.Name, c.Value), Type: c.Column.Type.SQL, Step: c.Step,
			Key: slices.Contains(l.machine.Model.Table.Keys, c.Column), New: c.Step > 1 && c.Step == len(l.tape.Steps),
		})
	}
	return out
}

type historyView struct {
	simulate.Entry
	Time string
}

func (l *life) history() []historyView {
	var out []historyView
	for _, h := range l.tape.History() {
		out = append(out, historyView{h, l.clock(h.At)})
	}
	return out
}

type factView struct {
	simulate.Fact
	Class, Word string
}

func (l *life) facts() []factView {
	var out []factView
	for _, f := range l.tape.Facts() {
		w := outcomeWords[f.Made.Outcome]
		out = append(out, factView{f, w.class, l.say(w.word)})
	}
	return out
}

// clock is a time as how long the life has lasted.
func (l *life) clock(at time.Time) string {
	d := at.Sub(simulate.Start)
	if d == 0 {
		return l.say(wording.Phrase{EN: "at the start", ZH: "开始时"})
	}
	return l.say(wording.Phrase{EN: "after %s", ZH: "%s后"}, l.span(d))
}

// span is a time span in at most two units.
func (l *life) span(d time.Duration) string {
	for _, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute} {
		if whole := d.Truncate(unit); d > unit && whole != d && d < 100*unit {
			return wording.Duration(whole, l.Lang) + " " + wording.Duration(d-whole, l.Lang)
		}
	}
	return wording.Duration(d, l.Lang)
}

// due says when the row is due, empty for never.
func (l *life) due(r oracle.Row) string {
	if r.Due.IsZero() {
		return ""
	}
	d := r.Due.Sub(l.tape.Now)
	if d <= 0 {
		return l.say(wording.Phrase{EN: "%s is due now", ZH: "%s 已到期"}, r.State.Deadline.Event.Name)
	}
	return l.say(wording.Phrase{EN: "%s in %s", ZH: "%s 将在 %s后触发"}, r.State.Deadline.Event.Name, l.span(d))
}
