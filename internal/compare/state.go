package compare

import (
	"fmt"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// formerStates finds what each state was: the state of that name, else the one
// that it says it was.
func (d *differ) formerStates() map[*model.State]*model.State {
	former := make(map[*model.State]*model.State, len(d.new.States))
	for _, s := range d.new.States {
		if o := d.old.State(s.Name); o != nil {
			former[s] = o
		} else if o := d.old.State(s.Was); s.Was != "" && o != nil {
			former[s] = o
		}
	}
	return former
}

func (d *differ) states() {
	d.initial()
	for _, p := range merged(d.old.States, d.new.States, func(o, n *model.State) bool { return d.former[n] == o }) {
		switch {
		case p.old == nil:
			d.stateAdded(p.new)
		case p.new == nil:
			d.stateRemoved(p.old)
		default:
			d.state(p.old, p.new)
		}
	}
}

func (d *differ) initial() {
	o, n := d.old.Initial(), d.new.Initial()
	if o == nil || n == nil || d.former[n] == o {
		return
	}
	reasons := d.ifCalls([]Reason{
		programs("they go on creating rows in " + o.Name + ", which the database takes " + untilAdvance),
		rows("those that are there stay where they stand"),
	})
	d.add(MachineInitial, "states."+n.Name+".initial", o.Pos, n.Pos, Major, "rows are created in "+n.Name+"; they were in "+o.Name,
		append(reasons, breaks(callers("who creates a row and then fires an event finds it in "+n.Name)))...)
}

func (d *differ) stateAdded(n *model.State) {
	text := "state " + n.Name + " is new"
	if in := d.ways(n, true); in != "" {
		text += ", entered by " + in
	}
	if out := d.ways(n, false); out != "" {
		text += ", left by " + out
	}
	reasons := []Reason{callers("State" + n.Ident + " is new; a switch over all states needs a case for it")}
	if d.calls() {
		reasons = append(reasons, programs("they refuse a row in it as an unknown state, and never move it wrongly"))
	}
	if d.new.Emits() {
		reasons = append(reasons, consumers("from and to of a payload may say "+n.Name))
	}
	d.add(StateAdded, "states."+n.Name, diag.Position{}, n.Pos, Minor, text, reasons...)
	if n.Was != "" {
		d.wasUnknown(n)
	}
}

// wasUnknown notes a new state with a former name that there is none of.
func (d *differ) wasUnknown(n *model.State) {
	d.add(StateWasAdded, "states."+n.Name+".was", diag.Position{}, n.WasPos, Patch, "state "+n.Name+" is new, and says that it was "+n.Was+" before",
		d.ifCalls([]Reason{breaks(rows("the old definitions have no " + n.Was + ", and generate refuses a name that it has not migrated (FSM094)"))})...)
}

// ways lists the events that enter or leave the state, each once.
func (d *differ) ways(s *model.State, in bool) string {
	var events []string
	for _, t := range d.new.Transitions {
		for _, f := range t.From {
			if f != t.To && (in && t.To == s || !in && f == s) {
				events = append(events, t.Event.Name)
			}
		}
	}
	return and(unique(events))
}

func (d *differ) stateRemoved(o *model.State) {
	for _, s := range d.new.States {
		if s.Was == o.Name {
			d.stateMerged(o, s)
			return
		}
	}
	text := "state " + o.Name + " is removed"
	if n := d.successor(); n != nil {
		text += "; if " + n.Name + " is its new name, say there was: " + o.Name
	}
	c := d.add(StateRemoved, "states."+o.Name, o.Pos, diag.Position{}, Major, text, callers("State"+o.Ident+" is gone"))
	if d.old.Table == nil {
		return
	}
	if d.calls() && d.entered(o) {
		c.Reasons = append([]Reason{breaks(programs("they still bring rows there, which the database takes " + untilAdvance + " and the new programs do not know (FSM092)"))}, c.Reasons...)
	}
	d.gone(c, o.Name, o.Code)
}

// successor returns the one new state where one state went and one came, nil
// otherwise: somebody may have renamed it.
func (d *differ) successor() *model.State {
	var came []*model.State
	for _, s := range d.new.States {
		if d.former[s] == nil {
			came = append(came, s)
		}
	}
	if len(came) != 1 || came[0].Was != "" || len(d.old.States) != len(d.new.States) {
		return nil
	}
	return came[0]
}

func (d *differ) stateMerged(o, n *model.State) {
	reasons := []Reason{breaks(callers("State" + o.Ident + " is gone"))}
	if d.old.Table != nil {
		reasons = append(reasons, breaks(rows("those in "+o.Name+" and in "+n.Name+" can no longer be told apart; generate refuses it (FSM095)")),
			breaks(programs("they treat "+o.Name+" and "+n.Name+" as two states")))
	}
	d.add(StateMerged, "states."+n.Name+".was", o.Pos, n.WasPos, Major, "state "+o.Name+" becomes one with "+n.Name+", which was there beside it", reasons...)
}

func (d *differ) state(o, n *model.State) {
	path, what := "states."+n.Name, "state "+n.Name
	if o.Name != n.Name {
		d.stateRenamed(o, n)
	}
	d.was(o, n)
	if o.Retired != n.Retired {
		d.retired(o, n)
	}
	if o.Final != n.Final {
		text, reason := what+" is final now", "a row in it counts as finished, for who archives or reports"
		if !n.Final {
			text, reason = what+" is not final any more", "a row in it may move again, so who archived or reported it as finished must know"
		}
		d.add(StateFinal, path+".final", o.Pos, n.Pos, Minor, text, rows(reason), callers("Final answers another"))
	}
	if o.Resting != n.Resting {
		text := what + " is a resting one now"
		if !n.Resting {
			text = what + " is no resting one any more"
		}
		d.add(StateResting, path+".resting", o.Pos, n.Pos, Minor, text, callers("Resting answers another"))
	}
	if d.calls() && d.old.Table.Status.Storage == model.StoredCode && d.new.Table.Status.Storage == model.StoredCode && o.Code != n.Code {
		d.add(StateCode, path+".code", o.Pos, n.Pos, Patch, fmt.Sprintf("%s has the code %d; it was %d", what, n.Code, o.Code),
			breaks(programs(fmt.Sprintf("they write and read %d", o.Code))), breaks(rows(fmt.Sprintf("they hold %d; %s", o.Code, byHand))))
	}
	d.deadline(o, n)
	d.labels(StateLabel, path, what, o.Pos, n.Pos, o.Labels, n.Labels)
	d.words(StateDescribe, StateOwner, StateTags, path, what, o.Pos, n.Pos, o.Describe, n.Describe, o.Owner, n.Owner, o.Tags, n.Tags)
}

func (d *differ) stateRenamed(o, n *model.State) {
	reasons := []Reason{callers("State" + n.Ident + " is what State" + o.Ident + " was; the compiler names every place")}
	if d.calls() {
		kept := "they, their histories and facts"
		if d.old.Table.Status.Storage == model.StoredCode {
			kept = "they hold a code, which stays; their histories and facts"
		}
		reasons = append(reasons,
			programs("they and the new programs write "+o.Name+" "+untilAdvance+"; the new ones read both names"),
			rows(kept+" take the new name when --advance has come a second time"))
	}
	if d.new.Emits() {
		reasons = append(reasons, consumers("payloads say "+o.Name+" "+untilAdvance+", and "+n.Name+" from then on; read both"))
	}
	d.add(StateRenamed, "states."+n.Name+".was", o.Pos, n.Pos, Major, "state "+o.Name+" is called "+n.Name+" now", reasons...)
}

// was compares the former names that are not those of this very renaming.
func (d *differ) was(o, n *model.State) {
	if n.Was != "" && n.Was != o.Was && n.Was != o.Name && d.old.State(n.Was) == nil {
		d.add(StateWasAdded, "states."+n.Name+".was", o.Pos, n.WasPos, Patch, "state "+n.Name+" says that it was "+n.Was+" before",
			rows("the old definitions have no "+n.Was))
	}
	if o.Was == "" || o.Was == n.Was || o.Was == n.Name {
		return
	}
	c := d.add(StateWasRemoved, "states."+n.Name+".was", o.WasPos, n.Pos, Patch, "state "+n.Name+" does not say any more that it was "+o.Was)
	switch {
	case d.old.Table == nil:
	case d.old.Table.Status.Storage == model.StoredCode:
		c.Reasons = []Reason{programs(underWay), rows("they hold a code, and no name")}
	default:
		c.Reasons = []Reason{programs(underWay)}
		d.gone(c, o.Was, 0)
	}
}

// underWay is what only the migrations know: how far a rename has come.
const underWay = "those from before the renaming must be stopped; while it is under way, generate refuses this (FSM093)"

func (d *differ) retired(o, n *model.State) {
	if !n.Retired {
		d.add(StateUnretired, "states."+n.Name+".retired", o.Pos, n.Pos, Minor, "state "+n.Name+" is not retired any more",
			programs("they know it and move rows out of it as before"))
		return
	}
	reasons := []Reason{rows("those in it stay and may leave it")}
	if d.calls() && d.entered(o) {
		reasons = append(reasons, programs("they may still bring rows there "+untilAdvance))
	}
	d.add(StateRetired, "states."+n.Name+".retired", o.Pos, n.Pos, Minor, "state "+n.Name+" is retired: it may be left, and not entered", reasons...)
}
