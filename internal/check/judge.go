package check

import (
	"fmt"
	"slices"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/logic"
	"github.com/pawl-go/pawl/internal/model"
)

// judge gathers what is found of the guards of one event.
type judge struct {
	*checker
	event *model.Event
	// unasked is that of the declaration.
	unasked *choice
	vars    []logic.Var
	assume  []string
	reader  logic.Reader

	// findings are in the order found, at has the place of each.
	findings []told
	at       map[finding]int
}

// finding is a problem but for the states in which it shows, which its message
// has between before and after.
type finding struct {
	pos           diag.Position
	code          diag.Code
	severity      diag.Severity
	before, after string
}

// told is a finding with its states, and the further places of a waiver.
type told struct {
	finding
	states []*model.State
	places []diag.Position
}

// found notes a finding in the states of a group.
func (j *judge) found(g *group, f finding, concerned ...*transDecl) {
	i, known := j.at[f]
	if !known {
		i = len(j.findings)
		j.at[f] = i
		j.findings = append(j.findings, told{finding: f, places: []diag.Position{j.event.Pos}})
	}
	t := &j.findings[i]
	t.states = append(t.states, g.states...)
	for _, d := range concerned {
		t.places = append(t.places, d.t.Pos)
		if d.t.Guard != nil {
			t.places = append(t.places, d.t.Guard.Pos)
		}
	}
}

// tell reports what was found, each thing once with all its states.
func (j *judge) tell() {
	for _, t := range j.findings {
		slices.SortFunc(t.states, func(a, b *model.State) int { return a.Index - b.Index })
		p := diag.Problem{Pos: t.pos, Code: t.code, Severity: t.severity, Message: t.before + some(quoted(slices.Compact(t.states))) + t.after}
		j.problems.Add(p)
		j.alsoWaivedAt(p, t.places...)
	}
}

// group asks about the guards of one group.
func (j *judge) group(g *group) {
	vars := slices.Clone(j.vars)
	for i, v := range vars {
		if !v.Param && v.Name == j.machine.Table.Status.Column {
			vars[i].Among = g.status
		}
	}
	report := j.reader.Analyse(vars, j.assume, g.guards())
	covered := j.useless(g, report)
	j.overlaps(g, report, covered)
	last := g.tried[len(g.tried)-1]
	switch {
	case !last.guarded:
		j.nullElse(g, report)
	case len(g.tried) > 1 && !j.event.Callback:
		j.gap(g, report.Gap)
	}
}

// useless tells of guards that are never true, or only where one before is, and
// returns which they are.
func (j *judge) useless(g *group, report logic.Report) []bool {
	covered := make([]bool, len(g.tried))
	for i, d := range g.tried {
		switch {
		case !d.guarded:
			continue
		case report.Never[i].Answer == logic.Yes && g.status == nil:
			j.errorf(d.guardPos, CodeNeverTrue, "%s is never true, whatever the row and the parameters are; correct it, or delete the transition", guardName(d))
		case report.Never[i].Answer == logic.Yes:
			j.found(g, finding{d.guardPos, CodeNeverTrue, diag.Error, guardName(d) + " is never true in ",
				", whatever else the row and the parameters are; correct it, or let the transition not start there"}, d)
		case report.Shadowed[i].Answer == logic.Yes:
			j.found(g, finding{d.guardPos, CodeCovered, diag.Error,
				guardName(d) + " is true only where one of the guards before it is, so event " + quote(j.event.Name) + " never takes this transition from ",
				"; put it first, or delete it"}, d)
		default:
			continue
		}
		covered[i] = true
	}
	return covered
}

// overlaps tells of guards that can both be true.
func (j *judge) overlaps(g *group, report logic.Report, covered []bool) {
	for _, o := range report.Overlaps {
		a, b := g.tried[o.A], g.tried[o.B]
		names := guardName(a) + " and " + guardName(b) + " can both be true when event " + quote(j.event.Name) + " comes in "
		switch {
		case covered[o.A] || covered[o.B] || sameEffect(a.t, b.t):
		case o.Answer == logic.Yes:
			j.found(g, finding{b.guardPos, CodeOverlap, diag.Error, names, ", as with " + j.example(g, o.Witness) + "; make them exclude each other"}, a, b)
		default:
			j.found(g, finding{b.guardPos, CodeNotDecided, diag.Warning, "whether " + names, " is not decided: " + o.Why}, a, b)
		}
	}
}

// gap tells of a row for which no guard is true.
func (j *judge) gap(g *group, gap logic.Finding) {
	refused := ", which is then refused"
	if j.unasked != nil && j.unasked.decision != model.Reject {
		refused += fmt.Sprintf(", since %q in \"otherwise\" is asked behind guards only of an event with source: callback", j.unasked.decision)
	}
	switch event := quote(j.event.Name); gap.Answer {
	case logic.Yes:
		j.found(g, finding{j.event.Pos, CodeGap, diag.Warning, "no guard of event " + event + " is true in ",
			" with " + j.example(g, gap.Witness) + refused + "; add a transition for it, or waive this rule where the refusal is meant"}, g.tried...)
	case logic.NotDecided:
		j.found(g, finding{j.event.Pos, CodeNotDecided, diag.Warning, "whether a guard of event " + event + " is always true in ",
			" is not decided: " + gap.Why}, g.tried...)
	}
}

// nullElse warns of a guard that is NULL, and so not true, for a row that the
// transition without guard then takes.
func (j *judge) nullElse(g *group, report logic.Report) {
	last := g.tried[len(g.tried)-1]
	for i, d := range g.tried[:len(g.tried)-1] {
		if report.Null[i].Answer == logic.Yes {
			j.found(g, finding{d.guardPos, CodeNullElse, diag.Warning,
				guardName(d) + " is NULL with " + j.example(g, report.Null[i].Witness) + ", so event " + quote(j.event.Name) + " takes the transition without guard from ",
				"; say in a guard what NULL means, with IS NULL or IS NOT NULL"}, d, last)
		}
	}
}
