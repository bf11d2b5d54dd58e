package gengo

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/genfile"
	"github.com/pawl-go/pawl/internal/model"
)

// infoVar names the EventInfo of an event or of another call. Checking has seen
// that no two events of a machine share it.
func infoVar(ident string) string { return genfile.Small(ident) + "Info" }

// info renders the EventInfo of a call.
func (g *generator) info(f *genfile.File, ident, name string, needsVersion bool) {
	extra := ""
	if needsVersion {
		extra = ", NeedsVersion: true"
	}
	f.P("var ", infoVar(ident), " = &", f.Import(RuntimePath, "EventInfo"), "{Machine: ", strconv.Quote(g.m.Name), ", Event: ", strconv.Quote(name), extra, "}")
	f.P()
}

// calls renders the creation and one call for each event.
func (g *generator) calls(f *genfile.File) {
	g.create(f)
	for _, e := range g.m.Events {
		g.params(f, e)
		g.call(f, e)
	}
}

// signature renders the start of a call and returns nothing; args go between
// db and the options.
func (g *generator) signature(f *genfile.File, name string, args ...any) {
	line := []any{"func ", name, "(ctx ", f.Import("context", "Context"), ", on ", f.Import(RuntimePath, "DB")}
	line = append(line, args...)
	f.P(append(line, ", options ...", f.Import(RuntimePath, "Option"), ") (Result, error) {")...)
}

// run renders the function that runs the query once. A query that writes
// nothing has no clock, one that moves nothing tells the history nothing.
func (g *generator) run(f *genfile.File, query string, writes, moves bool, args func()) {
	f.P("func(ctx ", f.Import("context", "Context"), ", on ", f.Import(RuntimePath, "DB"), ", c *", f.Import(RuntimePath, "Call"), ") (", f.Import(RuntimePath, "Answer"), "[State, Row], error) {")
	f.P("r, err := ", f.Import(g.db, "New"), "(on).", query, "(ctx, ", f.Import(g.db, query+"Params"), "{")
	args()
	if writes {
		f.P("FsmNow: c.Now,")
	}
	if moves {
		f.P("FsmActor: c.Actor,")
		f.P("FsmReason: c.Reason,")
		f.P("FsmRequestID: c.RequestID,")
	}
	f.P("})")
	conversion := []any{"return answerOf(", f.Import(g.db, g.m.Ident+"CreateRow"), "(r)), err"}
	if query == g.m.Ident+"Create" {
		conversion = []any{"return answerOf(r), err"}
	}
	f.P(conversion...)
	f.P("})")
}

// create renders CreateParams and Create.
func (g *generator) create(f *genfile.File) {
	m := g.m
	g.info(f, "Create", "create", false)
	f.P("// CreateParams is what a new row is made of.")
	f.P("type CreateParams struct {")
	f.P("Key Key")
	for _, c := range m.Created() {
		if c.Default != nil {
			f.Comment(c.Ident, "is "+c.Default.Source+" when nil.")
		}
		field(f, c.Ident, goType(f, c.Type, c.Optional || c.Default != nil))
	}
	f.P("}")
	f.P()
	f.Comment("Create", "inserts the row of p.Key in state "+m.Initial().Name+", version 1. Applied: it is new. Replayed: it was "+
		"created before with the same values. Mismatched: it was created before with other values; only columns that no "+
		"transition sets are compared. Errors: see [fsm.Fire].")
	g.signature(f, "Create", ", p CreateParams")
	g.checkKey(f, "createInfo", "p.Key", failed)
	for _, c := range m.Created() {
		g.checkValue(f, "createInfo", c.Type, c.Name, "p."+c.Ident, c.Optional || c.Default != nil, failed)
	}
	f.P("return ", f.Import(RuntimePath, "FireCreate"), "(ctx, on, createInfo, options, ")
	g.run(f, m.Ident+"Create", true, true, func() {
		g.keyArg(f, "p.Key")
		for _, c := range m.Created() {
			f.P(dbField(c.Name), ": p.", c.Ident, ",")
		}
	})
	f.P("}")
	f.P()
}

func paramsType(e *model.Event) string { return e.Ident + "Params" }

// params renders the parameter struct of an event that has parameters.
func (g *generator) params(f *genfile.File, e *model.Event) {
	g.info(f, e.Ident, e.Name, e.ExpectVersion)
	if len(e.Params) == 0 {
		return
	}
	f.Comment(paramsType(e), "are the parameters of "+e.Name+".")
	f.P("type ", paramsType(e), " struct {")
	for _, p := range e.Params {
		if p.Check != nil {
			f.Comment(p.Ident, "must satisfy "+strings.ReplaceAll(p.Check.Source, "@", "")+".")
		}
		field(f, p.Ident, goType(f, p.Type, p.Optional))
	}
	f.P("}")
	f.P()
}

// call renders the call of one event.
func (g *generator) call(f *genfile.File, e *model.Event) {
	g.callComment(f, e)
	args := []any{", key Key"}
	if len(e.Params) > 0 {
		args = append(args, ", p ", paramsType(e))
	}
	g.signature(f, e.Ident, args...)
	if g.checks(e) {
		params := "p"
		if len(e.Params) == 0 {
			params = "struct{}{}"
		}
		f.P("if err := ", infoVar(e.Ident), "Check(key, ", params, "); err != nil {")
		f.P("return ", failed)
		f.P("}")
	}
	guards := "nil"
	if g.guarded(e) {
		guards = infoVar(e.Ident) + "Guards"
	}
	f.P("return ", f.Import(RuntimePath, "Fire"), "(ctx, on, ", infoVar(e.Ident), ", options, ", guards, ", ")
	moves := len(g.m.Moves(e)) > 0
	g.run(f, g.m.Ident+e.Ident, writes(e), moves, func() {
		g.keyArg(f, "key")
		if moves {
			f.P("FsmVersion: c.Version,")
		}
		for _, p := range e.Params {
			if g.uses(e, p) {
				f.P(dbField(p.Name), ": p.", p.Ident, ",")
			}
		}
	})
	f.P("}")
	f.P()
	if g.checks(e) {
		g.check(f, e)
	}
	if g.guarded(e) {
		g.guards(f, e)
	}
}

// failed is what a call returns for err.
const failed = "Result{}, err"

// checks reports whether anything of a call is looked at before any SQL.
func (g *generator) checks(e *model.Event) bool {
	checked := func(t model.Type) bool {
		switch t.Kind {
		case model.KindUUID, model.KindFloat64, model.KindNumeric:
			return true
		}
		return false
	}
	return slices.ContainsFunc(g.m.Table.Keys, func(k *model.Column) bool { return checked(k.Type) || k.Type.Kind == model.KindDate }) ||
		slices.ContainsFunc(e.Params, func(p *model.Param) bool { return checked(p.Type) }) ||
		slices.ContainsFunc(slices.Concat(e.Identity, e.Fingerprint), func(p *model.Param) bool { return p.Type.Kind == model.KindText })
}

// check renders the function that refuses what cannot be right, before any SQL.
func (g *generator) check(f *genfile.File, e *model.Event) {
	f.P("func ", infoVar(e.Ident), "Check(key Key, p ", paramsOf(e), ") error {")
	g.checkKey(f, infoVar(e.Ident), "key", "err")
	for _, p := range e.Params {
		g.checkValue(f, infoVar(e.Ident), p.Type, p.Name, "p."+p.Ident, p.Optional, "err")
	}
	for _, p := range slices.Concat(e.Identity, e.Fingerprint) {
		if p.Type.Kind != model.KindText {
			continue
		}
		f.P("if err := ", f.Import(RuntimePath, "IdentityText"), "(", infoVar(e.Ident), ", ", strconv.Quote(p.Name), ", p.", p.Ident, "); err != nil {")
		f.P("return err")
		f.P("}")
	}
	if list := textFields(e.Identity); len(e.Identity) > 1 && list != "" {
		f.P("if err := ", f.Import(RuntimePath, "IdentitySize"), "(", infoVar(e.Ident), list, "); err != nil {")
		f.P("return err")
		f.P("}")
	}
	f.P("return nil")
	f.P("}")
	f.P()
}

// checkValue renders the refusal of a value that its type does not take, by
// returning fail: a text that cannot be a uuid, a number that is not finite.
func (g *generator) checkValue(f *genfile.File, info string, t model.Type, name, value string, null bool, fail string) {
	check, bare := "", ""
	switch t.Kind {
	case model.KindUUID:
		check, bare = "UUIDText", "string"
	case model.KindFloat64:
		check = "FiniteFloat"
	case model.KindNumeric:
		check, null = "FiniteNumeric", false // it has a NULL of its own
	default:
		return
	}
	text := value
	if null {
		f.P("if ", value, " != nil {")
		text = "*" + value
	}
	if bare != "" {
		text = bare + "(" + text + ")"
	}
	f.P("if err := ", f.Import(RuntimePath, check), "(", info, ", ", strconv.Quote(name), ", ", text, "); err != nil {")
	f.P("return ", fail)
	f.P("}")
	if null {
		f.P("}")
	}
}

func isText(p *model.Param) bool {
	return p.Type.Kind == model.KindText || p.Type.Kind == model.KindUUID
}

// textFields lists the fields of the parameters that are text, each after a comma.
func textFields(params []*model.Param) string {
	list := ""
	for _, p := range params {
		if isText(p) {
			list += ", p." + p.Ident
		}
	}
	return list
}
