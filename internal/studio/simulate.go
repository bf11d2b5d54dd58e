package studio

import (
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/duration"
	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
	"github.com/pawl-go/pawl/internal/picture"
	"github.com/pawl-go/pawl/internal/simulate"
	"github.com/pawl-go/pawl/internal/wording"
)

// simulatePart is the page of a row's life, thought through.
func simulatePart(s *Studio) (part, error) {
	return part{entry: "simulate", routes: []route{{"/m/{machine}/simulate", s.simulate}}}, nil
}

func (s *Studio) simulate(v *visit) error {
	m, err := v.machine()
	if err != nil {
		return err
	}
	p := page{Title: v.say(wording.Phrase{EN: "%s: simulate", ZH: "%s：模拟"}, m.Name), Machine: m, Entry: "simulate", Template: "simulate", Data: simulatePage{machine: m}}
	if m.Model == nil {
		return v.show(p)
	}
	query := v.URL.Query()
	text := query.Get("s")
	script := simulate.Parse(text)
	if !query.Has("s") {
		script.Steps = []simulate.Step{m.played().Created()}
	}
	if next, asked := formStep(v.URL.RawQuery, query); asked {
		steps := append(slices.Clip(script.Steps), next...)
		if query.Get("do") == doCreate {
			steps = next
		}
		http.Redirect(v.w, v.Request, v.life(m, steps), http.StatusSeeOther)
		return nil
	}
	l := &life{visit: v, machine: m, script: script, tape: m.played().Play(script.Steps)}
	if p.Data, err = l.page(); err != nil {
		return err
	}
	return v.show(p)
}

// What a form may do beside calling an event, whose name has doCall before it.
const (
	doCall    = "call:"
	doCreate  = "create"
	doWait    = "wait"
	doCorrect = "correct"
)

// formStep reads the steps that a form asks for. A field that is empty is left out,
// unless it must be given.
func formStep(raw string, query url.Values) (steps []simulate.Step, asked bool) {
	do := query.Get("do")
	s := simulate.Step{Name: strings.TrimPrefix(do, doCall)}
	switch {
	case do == "":
		return nil, false
	case do == doCreate:
		s = simulate.Step{Kind: simulate.Create}
	case do == doCorrect:
		s = simulate.Step{Kind: simulate.Correct, Name: query.Get("to")}
	case do == doWait:
		after := strings.ReplaceAll(strings.TrimSpace(query.Get("after")), " ", "")
		if d, ok := duration.Parse(after); ok && d > 0 {
			return []simulate.Step{{Kind: simulate.Wait, After: d}}, true
		}
		return simulate.Parse("1/.wait," + simulate.Escape(after)).Steps, true
	}
	for _, name := range fields(raw) {
		field, must := strings.CutPrefix(name, fieldMust)
		field, may := strings.CutPrefix(field, fieldMay)
		if value := query.Get(name); must || may && value != "" {
			s.Args = append(s.Args, simulate.Arg{Name: field, Text: value})
		}
	}
	if n, err := strconv.ParseInt(strings.TrimSpace(query.Get("v")), 10, 64); err == nil && n > 0 {
		s.Version = n
	}
	return []simulate.Step{s}, true
}

// What the names of fields begin with: those of values that must be given, and of
// those that may.
const (
	fieldMust = "must."
	fieldMay  = "may."
)

// fields are the names in a query, in its order and each once.
func fields(raw string) []string {
	var names []string
	for pair := range strings.SplitSeq(raw, "&") {
		name, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err == nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// life is the address of a life.
func (v *visit) life(m *machine, steps []simulate.Step) string {
	to := v.at("m", m.Name, "simulate")
	sign := "?"
	if strings.Contains(to, "?") {
		sign = "&"
	}
	return to + sign + "s=" + simulate.Query(simulate.Text(steps))
}

// life puts the page together.
type life struct {
	*visit
	machine *machine
	script  simulate.Script
	tape    *simulate.Tape
}

// simulatePage is what the page shows.
type simulatePage struct {
	*machine
	kept
	HasTable bool
	// Text is the life as the address has it, for forms.
	Text    string
	Problem string
	Picture template.HTML
	Whole   bool
	// Row says that there is a row.
	Row     bool
	State   *model.State
	Version int64
	Clock   string
	Due     string
	Last    *toldView
	Groups  []wayGroup
	// Anew are the first calls of a row that has just been created, where the steps
	// have made none.
	Anew                 []wayGroup
	Create               *formView
	Stories              []storyView
	Tape                 []toldView
	Columns              []columnView
	History              []historyView
	Facts                []factView
	Outbox               []simulate.Message
	Waits                []waitView
	Full                 bool
	Empty, Self, Restart string
}

// to is the address of the life with steps more.
func (l *life) to(steps ...simulate.Step) string {
	return l.life(l.machine, append(slices.Clip(l.script.Steps), steps...))
}

func (l *life) page() (simulatePage, error) {
	m := l.machine
	played := m.played()
	p := simulatePage{
		machine: m, HasTable: played.HasTable(), Text: simulate.Text(l.script.Steps), Clock: l.clock(l.tape.Now),
		Self: l.to(), Restart: l.at("m", m.Name, "simulate"), Empty: l.life(m, nil),
		Full: len(l.script.Steps) >= simulate.MaxSteps || len(simulate.Text(l.script.Steps)) > simulate.MaxLength-500,
	}
	if l.script.Problem != nil {
		p.Problem = l.problem(l.script.Problem)
	}
	for i := range l.tape.Steps {
		p.Tape = append(p.Tape, l.told(&l.tape.Steps[i]))
	}
	if n := len(p.Tape); n > 0 {
		p.Last = &p.Tape[n-1]
	}
	for _, s := range played.Stories() {
		p.Stories = append(p.Stories, l.story(s))
	}
	p.Create = l.createForm()
	var err error
	p.kept = l.keptOf(m.Model)
	if p.Picture, p.Whole, err = l.picture(p.marks); err != nil {
		return p, err
	}
	r, there := l.tape.Row()
	if !there {
		p.Anew = l.anew()
		return p, nil
	}
	p.Row, p.State, p.Version = true, r.State, r.Version
	p.Due = l.due(r)
	p.Columns, p.History, p.Facts, p.Outbox = l.columns(), l.history(), l.facts(), l.tape.Outbox()
	if !p.Full {
		p.Groups = l.groups()
		p.Waits = l.waits(r)
	}
	return p, nil
}

// picture marks where the row stands, and the step that it took last. Of a machine
// that is too large to read as a whole it is the state with its neighbours.
func (l *life) picture(kept *gensvg.Marks) (svg template.HTML, whole bool, err error) {
	of := pictureOf{lang: l.Lang}
	var here *model.State
	if r, there := l.tape.Row(); there {
		here = r.State
		if len(l.machine.Model.States) > picture.Large {
			of.slice, kept = here, nil
		}
	}
	var took *simulate.Told
	if n := len(l.tape.Steps); n > 0 {
		if last := &l.tape.Steps[n-1]; last.Outcome == oracle.Applied && last.Event != nil {
			took = last
		}
	}
	svg, err = l.machine.pictures.marked(of, standing(kept, here, took))
	return svg, of.slice == nil, err
}

// standing marks beside what is kept, which may be nil, the state where a row stands and
// the step that it took: the arrow, and what is written on it of the step's event. Either
// may be nil.
func standing(kept *gensvg.Marks, here *model.State, step *simulate.Told) *gensvg.Marks {
	if kept == nil {
		kept = &gensvg.Marks{
			State: func(*model.State) string { return "" }, Edge: func(*picture.Edge) string { return "" },
			Arc: func(*picture.Edge, picture.Arc) string { return "" },
		}
	}
	and := func(class, more string, is bool) string {
		if !is {
			return class
		}
		return strings.TrimSpace(class + " " + more)
	}
	along := func(e *picture.Edge) bool { return step != nil && e.From.Name == step.From && e.To.Name == step.To }
	return &gensvg.Marks{
		Whole: kept.Whole,
		State: func(s *model.State) string { return and(kept.State(s), "here", s == here) },
		Edge:  func(e *picture.Edge) string { return and(kept.Edge(e), "took", along(e)) },
		Arc: func(e *picture.Edge, a picture.Arc) string {
			return and(kept.Arc(e, a), "took", along(e) && a.Transition.Event == step.Event)
		},
	}
}
