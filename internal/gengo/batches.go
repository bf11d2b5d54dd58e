package gengo

import (
	"slices"

	"github.com/pawl-go/pawl/internal/genfile"
	"github.com/pawl-go/pawl/internal/model"
)

// batches renders a batch for each event, and what all of them share.
func (g *generator) batches(f *genfile.File) {
	f.P("// BatchResult is what became of one item of a batch.")
	f.P("type BatchResult = ", f.Import(RuntimePath, "BatchResult"), "[State, Row]")
	f.P()
	for _, e := range g.m.Events {
		g.batch(f, e)
	}
	g.batchAnswer(f)
	g.canonical(f)
	g.lockRows(f)
	g.heldRows(f)
}

// batchRow is the type of a row that an event's batch answers with.
func (g *generator) batchRow(f *genfile.File, e *model.Event) genfile.Qualified {
	return f.Import(g.db, g.m.Ident+e.Ident+"BatchRow")
}

// paramsOf is the type of an event's parameters in a batch.
func paramsOf(e *model.Event) string {
	if len(e.Params) == 0 {
		return "struct{}"
	}
	return paramsType(e)
}

// batch renders the item of one event and its batch.
func (g *generator) batch(f *genfile.File, e *model.Event) {
	item, params := e.Ident+"Item", paramsOf(e)
	ctx, db := f.Import("context", "Context"), f.Import(RuntimePath, "DB")
	f.Comment(item, "is one call of "+e.Ident+"Batch.")
	f.P("type ", item, " = ", f.Import(RuntimePath, "Item"), "[Key, ", params, "]")
	f.P()
	f.Comment(e.Ident+"Batch", "fires "+e.Name+" on many rows at once. Each item gets what ["+e.Ident+"] would answer, in the order of the items; "+
		"[fsm.FireBatch] says what an error leaves.")
	f.P("func ", e.Ident, "Batch(ctx ", ctx, ", on ", db, ", items []", item, ", options ...", f.Import(RuntimePath, "Option"), ") ([]BatchResult, error) {")
	f.P("return ", f.Import(RuntimePath, "FireBatch"), "(ctx, on, &", f.Import(RuntimePath, "Batch"), "[Key, ", params, ", State, Row]{")
	f.P("Event: ", infoVar(e.Ident), ",")
	f.P("Lock: lockRows,")
	f.P("Held: heldRows,")
	if g.checks(e) {
		f.P("Check: ", infoVar(e.Ident), "Check,")
	}
	if len(e.Identity) > 0 && writes(e) {
		f.P("Facts: true,")
	}
	if g.guarded(e) {
		f.P("Guards: ", infoVar(e.Ident), "Guards,")
	}
	f.P("Run: func(ctx ", ctx, ", on ", db, ", b *", f.Import(RuntimePath, "BatchCall"), "[Key, ", params, "]) ([]", f.Import(RuntimePath, "BatchAnswer"), "[State, Row], error) {")
	g.batchArgs(f, e)
	f.P("rows, err := ", f.Import(g.db, "New"), "(on).", g.m.Ident, e.Ident, "Batch(ctx, a)")
	if e == g.m.Events[0] {
		f.P("return ", f.Import(RuntimePath, "Answers"), "(rows, err, batchAnswerOf)")
	} else {
		f.P("return ", f.Import(RuntimePath, "Answers"), "(rows, err, func(r ", g.batchRow(f, e), ") ", f.Import(RuntimePath, "BatchAnswer"), "[State, Row] {")
		f.P("return batchAnswerOf(", g.batchRow(f, g.m.Events[0]), "(r))")
		f.P("})")
	}
	f.P("},")
	f.P("}, items, options)")
	f.P("}")
	f.P()
}

// batchArgs renders the query's arguments: an array for each.
func (g *generator) batchArgs(f *genfile.File, e *model.Event) {
	f.P("a := ", f.Import(g.db, g.m.Ident+e.Ident+"BatchParams"), "{")
	f.P("FsmN: b.N,")
	if writes(e) {
		f.P("FsmNow: b.Now,")
	}
	if len(g.m.Moves(e)) > 0 {
		f.P("FsmVersion: b.Versions,")
		f.P("FsmExpects: b.Expects,")
		f.P("FsmActor: b.Actors,")
		f.P("FsmReason: b.Reasons,")
		f.P("FsmRequestID: b.RequestIDs,")
	}
	f.P("}")
	g.keyArrays(f, "b.Keys")
	used := slices.DeleteFunc(slices.Clone(e.Params), func(p *model.Param) bool { return !g.uses(e, p) })
	if len(used) == 0 {
		return
	}
	f.P("for _, p := range b.Params {")
	for _, p := range used {
		field, value := dbField(p.Name), "p."+p.Ident
		if _, null := goType(f, p.Type, p.Optional).(pointer); null {
			f.P("a.", field, " = append(a.", field, ", ", f.Import(RuntimePath, "OrZero"), "(", value, "))")
		} else {
			f.P("a.", field, " = append(a.", field, ", ", value, ")")
		}
		if p.Optional {
			has := dbField("fsm_has_" + p.Name)
			f.P("a.", has, " = append(a.", has, ", ", given(p, value), ")")
		}
	}
	f.P("}")
}

// given is the condition that an optional parameter is given.
func given(p *model.Param, value string) string {
	switch p.Type.Kind {
	case model.KindNumeric, model.KindDate:
		return value + ".Valid"
	}
	return value + " != nil"
}

// keyArrays renders the arrays of a query's argument a that are the keys.
func (g *generator) keyArrays(f *genfile.File, keys string) {
	f.P("for _, key := range ", keys, " {")
	if !g.composite() {
		f.P(append(append([]any{"a.FsmKey = append(a.FsmKey, "}, printType(keyType(f, g.m.Table.Keys[0].Type))...), "(key))")...)
	} else {
		for _, k := range g.m.Table.Keys {
			name := dbField("fsm_key_" + k.Name)
			f.P("a.", name, " = append(a.", name, ", key.", keyField(k), ")")
		}
	}
	f.P("}")
}

// batchAnswer renders what reads a batch's answer.
func (g *generator) batchAnswer(f *genfile.File) {
	m := g.m
	answer := f.Import(RuntimePath, "BatchAnswer")
	f.P("// batchAnswerOf reads what the statement of a batch says of an item. All of them have the same columns.")
	f.P("func batchAnswerOf(r ", g.batchRow(f, m.Events[0]), ") ", answer, "[State, Row] {")
	f.P("return ", answer, "[State, Row]{N: r.FsmN, Answer: answerOf(", f.Import(g.db, m.Ident+"CreateRow"), "{")
	names := []string{"fsm_outcome", "fsm_snapshot", "fsm_made_event", "fsm_made_outcome", "fsm_made_from", "fsm_made_to", "fsm_made_version"}
	for _, k := range m.Table.Keys {
		names = append(names, k.Name)
	}
	names = append(names, m.Table.Status.Column, m.Table.Version)
	if m.Deadlines() {
		names = append(names, m.Table.Deadline)
	}
	if m.CountsRuns() {
		names = append(names, m.Table.Runs)
	}
	for _, c := range m.Table.Columns {
		names = append(names, c.Name)
	}
	for _, name := range names {
		f.P(dbField(name), ": r.", dbField(name), ",")
	}
	f.P("})}")
	f.P("}")
	f.P()
}

// respelled reports whether several keys name the same row.
func (g *generator) respelled() bool {
	return slices.ContainsFunc(g.m.Table.Keys, func(k *model.Column) bool { return k.Type.Kind == model.KindUUID })
}

// canonical renders what makes one of those keys.
func (g *generator) canonical(f *genfile.File) {
	if !g.respelled() {
		return
	}
	f.Comment("Canonical", "is the key as PostgreSQL spells it: that of all keys that name the same row.")
	f.P("func (k Key) Canonical() Key {")
	if !g.composite() {
		f.P("return Key(", f.Import(RuntimePath, "CanonicalUUID"), "(string(k)))")
	} else {
		for _, k := range g.m.Table.Keys {
			if k.Type.Kind == model.KindUUID {
				f.P("k.", keyField(k), " = ", f.Import(RuntimePath, "CanonicalUUID"), "(k.", keyField(k), ")")
			}
		}
		f.P("return k")
	}
	f.P("}")
	f.P()
}

func (g *generator) lockRows(f *genfile.File) {
	query := g.m.Ident + "LockRows"
	f.P("// lockRows locks rows in the order of their keys.")
	f.P("func lockRows(ctx ", f.Import("context", "Context"), ", on ", f.Import(RuntimePath, "DB"), ", keys []Key) error {")
	f.P("var a ", f.Import(g.db, query+"Params"))
	g.keyArrays(f, "keys")
	f.P("return ", f.Import(g.db, "New"), "(on).", query, "(ctx, a)")
	f.P("}")
	f.P()
}

func (g *generator) heldRows(f *genfile.File) {
	query := g.m.Ident + "HeldRows"
	f.P("// heldRows returns the positions of the keys whose rows somebody else has locked.")
	f.P("func heldRows(ctx ", f.Import("context", "Context"), ", on ", f.Import(RuntimePath, "DB"), ", keys []Key) ([]int32, error) {")
	f.P("a := ", f.Import(g.db, query+"Params"), "{FsmN: ", f.Import(RuntimePath, "Positions"), "(len(keys))}")
	g.keyArrays(f, "keys")
	f.P("return ", f.Import(g.db, "New"), "(on).", query, "(ctx, a)")
	f.P("}")
}
