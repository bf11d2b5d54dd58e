package compare

import (
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

func (d *differ) param(oe, ne *model.Event, o, n *model.Param) {
	switch {
	case o == nil:
		d.paramAdded(oe, ne, n)
		return
	case n == nil:
		d.paramRemoved(oe, ne, o)
		return
	}
	path, what := "events."+ne.Name+".params."+n.Name, "parameter "+n.Name+" of event "+ne.Name
	field := ne.Ident + "Params." + n.Ident
	if o.Type.SQL != n.Type.SQL {
		d.paramType(path, what, field, ne, o, n)
	}
	if o.Optional != n.Optional {
		text, reason := what+" is optional now", field+" is a pointer now, so its callers do not compile"
		if !n.Optional {
			text, reason = what+" must be given now", field+" is no pointer any more and must be given"
		}
		d.add(ParamOptional, path+".optional", o.Pos, n.Pos, Minor, text, d.ifCalls([]Reason{breaks(callers(reason))})...)
	}
	if !same(o.Check, n.Check) {
		how, text := checks(o.Check, n.Check)
		r := breaks(callers("some calls that were taken are refused with ErrArgument"))
		if how == looser {
			r = callers("whatever was taken still is, and more")
		}
		d.add(ParamCheck, path+".check", o.Pos, n.Pos, Minor, "the check of "+what+" is "+text, d.ifCalls([]Reason{r})...)
	}
	if o.Describe != n.Describe {
		d.add(ParamDescribe, path+".describe", o.Pos, n.Pos, Patch, what+" is described anew")
	}
}

func (d *differ) paramAdded(oe, ne *model.Event, n *model.Param) {
	text := "event " + ne.Name + " has a new parameter " + n.Name + ", " + n.Type.SQL
	if n.Optional {
		text += ", optional"
	}
	field := ne.Ident + "Params." + n.Ident
	var r Reason
	switch {
	case len(oe.Params) == 0:
		r = breaks(callers("the call " + ne.Ident + " takes " + ne.Ident + "Params now; it took none"))
	case n.Optional:
		r = callers(field + " is new and may be nil")
	default:
		r = breaks(callers(field + " is new and must be given; left out, it is the zero value and compiles"))
	}
	reasons := []Reason{r}
	if len(emitsOf(d.new, ne)) > 0 {
		reasons = append(reasons, consumers("payloads have it from then on"))
	}
	d.add(ParamAdded, "events."+ne.Name+".params."+n.Name, diag.Position{}, n.Pos, Minor, text, d.ifCalls(reasons)...)
}

func (d *differ) paramRemoved(oe, ne *model.Event, o *model.Param) {
	r := breaks(callers(oe.Ident + "Params." + o.Ident + " is gone"))
	if len(ne.Params) == 0 {
		r = breaks(callers("the call " + ne.Ident + " takes no parameters any more"))
	}
	reasons := []Reason{r}
	if len(emitsOf(d.old, oe)) > 0 {
		reasons = append(reasons, breaks(consumers("payloads do not have it any more")))
	}
	d.add(ParamRemoved, "events."+ne.Name+".params."+o.Name, o.Pos, diag.Position{}, Minor, "parameter "+o.Name+" of event "+ne.Name+" is removed", d.ifCalls(reasons)...)
}

func (d *differ) paramType(path, what, field string, e *model.Event, o, n *model.Param) {
	var reasons []Reason
	switch {
	case o.Type.Kind != n.Type.Kind:
		reasons = append(reasons, breaks(callers(field+" has another Go type")))
	case widens(o.Type, n.Type):
		reasons = append(reasons, callers("every value that fitted still does"))
	default:
		reasons = append(reasons, breaks(callers("some values that were taken do not fit any more")))
	}
	switch {
	case !identifies(e, n):
	case o.Type.Kind == model.KindText && n.Type.Kind == model.KindText:
		reasons = append(reasons, rows("facts stay known, since they are kept as text"))
	default:
		reasons = append(reasons, breaks(rows("facts are kept by the text of the old type; "+byHand)))
	}
	d.add(ParamType, path+".type", o.Pos, n.Pos, Minor, what+" is "+n.Type.SQL+"; it was "+o.Type.SQL, d.ifCalls(reasons)...)
}

// identifies reports whether the parameter is part of what facts are known by.
func identifies(e *model.Event, p *model.Param) bool {
	for _, q := range append(append([]*model.Param{}, e.Identity...), e.Fingerprint...) {
		if q == p {
			return true
		}
	}
	return false
}
