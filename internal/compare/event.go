package compare

import (
	"slices"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

func (d *differ) events() {
	for _, p := range merged(d.old.Events, d.new.Events, func(o, n *model.Event) bool { return o.Name == n.Name }) {
		switch {
		case p.old == nil:
			d.eventAdded(p.new)
		case p.new == nil:
			d.eventRemoved(p.old)
		default:
			d.event(p.old, p.new)
		}
	}
}

// movesText lists what an event moves, as in "PENDING, PAYING to PAID".
func movesText(m *model.Machine, e *model.Event) string {
	var moves []string
	for _, t := range m.Moves(e) {
		moves = append(moves, model.StateNames(t.From)+" to "+t.To.Name)
	}
	if len(moves) == 0 {
		return "moves nothing"
	}
	return "moves " + and(unique(moves))
}

func emitsOf(m *model.Machine, e *model.Event) []string {
	var topics []string
	for _, t := range m.Moves(e) {
		topics = append(topics, t.Emit...)
	}
	for _, c := range e.Cells {
		if c.Compensates() {
			topics = append(topics, c.Emit...)
		}
	}
	return unique(topics)
}

func (d *differ) eventAdded(n *model.Event) {
	reasons := []Reason{callers("Event" + n.Ident + " is new")}
	if d.new.Table != nil {
		reasons = []Reason{callers("Event" + n.Ident + " and the call " + n.Ident + " are new")}
	}
	if d.calls() {
		reasons = append(reasons, programs("they never fire it; the moves are legal to the database from the migration on"))
	}
	if topics := emitsOf(d.new, n); len(topics) > 0 {
		reasons = append(reasons, consumers("it emits "+list(topics)))
	}
	d.add(EventAdded, "events."+n.Name, diag.Position{}, n.Pos, Minor, "event "+n.Name+" is new: it "+movesText(d.new, n), reasons...)
}

func (d *differ) eventRemoved(o *model.Event) {
	reasons := []Reason{breaks(callers("Event" + o.Ident + " is gone"))}
	if d.old.Table != nil {
		reasons = []Reason{breaks(callers("Event" + o.Ident + " and the call " + o.Ident + " are gone"))}
	}
	if d.calls() {
		r := programs("they still fire it until they are stopped")
		if d.endsEventsEdges(o) {
			r = programs("they still fire it, and the database takes its moves " + untilAdvance)
		}
		reasons = append(reasons, r)
		if len(o.Identity) > 0 {
			reasons = append(reasons, rows("its facts stay"))
		}
	}
	if topics := emitsOf(d.old, o); len(topics) > 0 {
		reasons = append(reasons, breaks(consumers("it emits no more: "+list(topics))))
	}
	d.add(EventRemoved, "events."+o.Name, o.Pos, diag.Position{}, Major, "event "+o.Name+" is removed; it "+movesText(d.old, o), reasons...)
}

func (d *differ) event(o, n *model.Event) {
	path, what := "events."+n.Name, "event "+n.Name
	d.labels(EventLabel, path, what, o.Pos, n.Pos, o.Labels, n.Labels)
	d.words(EventDescribe, EventOwner, EventTags, path, what, o.Pos, n.Pos, o.Describe, n.Describe, o.Owner, n.Owner, o.Tags, n.Tags)
	if o.Callback != n.Callback {
		text := what + " comes from outside now (source: callback)"
		if !n.Callback {
			text = what + " does not come from outside any more"
		}
		d.add(EventSource, path+".source", o.Pos, n.Pos, Minor, text, callers("Allowed answers another; what each state decides is told by itself"))
	}
	for _, p := range merged(o.Params, n.Params, func(a, b *model.Param) bool { return a.Name == b.Name }) {
		d.param(o, n, p.old, p.new)
	}
	d.identity(o, n)
	if o.ExpectVersion != n.ExpectVersion {
		d.expect(o, n)
	}
	d.cells(o, n)
}

func paramNames(params []*model.Param) []string {
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.Name
	}
	return names
}

func (d *differ) identity(o, n *model.Event) {
	was, is := paramNames(o.Identity), paramNames(n.Identity)
	if !slices.Equal(was, is) {
		text := "the identity of event " + n.Name + " is " + none(list(is)) + "; it was " + none(list(was))
		var reasons []Reason
		switch {
		case len(was) == 0:
			reasons = []Reason{breaks(programs("they leave no fact, so what they applied counts again when it is told again")),
				rows("what was applied before has left no fact"), callers("a known fact is answered Replayed or Mismatched")}
		case len(is) == 0:
			reasons = []Reason{breaks(rows("their facts are not looked at any more, so a fact that is told again counts again")),
				breaks(callers("a fact that is told again is judged by the state it finds"))}
		default:
			reasons = []Reason{breaks(programs("they keep facts by " + list(was))),
				breaks(rows("their facts are kept by " + list(was) + ", so one that is told again counts again; " + byHand))}
		}
		d.add(EventIdentity, "events."+n.Name+".identity", o.Pos, n.Pos, Minor, text, d.ifCalls(reasons)...)
	}
	fWas, fIs := paramNames(o.Fingerprint), paramNames(n.Fingerprint)
	if !slices.Equal(fWas, fIs) && len(was) > 0 && len(is) > 0 {
		d.add(EventFingerprint, "events."+n.Name+".fingerprint", o.Pos, n.Pos, Minor,
			"the fingerprint of event "+n.Name+" is "+none(list(fIs))+"; it was "+none(list(fWas)),
			d.ifCalls([]Reason{breaks(programs("they compare " + none(list(fWas)))),
				breaks(rows("their facts are compared by " + none(list(fWas)) + ", so one that is told again is Mismatched; " + byHand))})...)
	}
}

func (d *differ) expect(o, n *model.Event) {
	path := "events." + n.Name + ".expect"
	if n.ExpectVersion {
		d.add(EventExpect, path, o.Pos, n.Pos, Minor, "event "+n.Name+" expects a version now",
			d.ifCalls([]Reason{breaks(callers("a call without an expected version is refused; it still compiles"))})...)
		return
	}
	d.add(EventExpect, path, o.Pos, n.Pos, Minor, "event "+n.Name+" does not need a version any more", d.ifCalls([]Reason{callers("a call may still give one")})...)
}
