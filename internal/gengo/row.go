package gengo

import (
	"github.com/pawl-go/pawl/internal/genfile"
)

// row renders the key, the row and the result, and how they come from gen/db.
func (g *generator) row(f *genfile.File) {
	m := g.m
	result := f.Import(RuntimePath, "Result")
	answer := f.Import(RuntimePath, "Answer")
	transition := f.Import(RuntimePath, "Transition")
	outcome := f.Import(RuntimePath, "Outcome")
	option := f.Import(RuntimePath, "Option")
	tx := f.Import("github.com/jackc/pgx/v5", "Tx")
	ctx := f.Import("context", "Context")

	f.P("// Generated for version 1 of the runtime.")
	f.P("const _ = ", f.Import(RuntimePath, "Version1"))
	f.P()
	g.key(f)
	f.Comment("Row", "is a row of the table "+m.Table.Name+".")
	f.P("type Row struct {")
	g.rowKey(f)
	f.P("Status State")
	f.P("Version int64")
	if m.Deadlines() {
		f.P("// DeadlineAt is when the deadline of the state is due, nil without one.")
		f.P("DeadlineAt *", f.Import("time", "Time"))
	}
	if m.CountsRuns() {
		f.P("// DeadlineRuns is how often the deadline ran since the row came into the state.")
		f.P("DeadlineRuns int32")
	}
	for _, c := range m.Table.Columns {
		field(f, c.Ident, goType(f, c.Type, c.Optional))
	}
	f.P("}")
	f.P()
	f.P("// Result is what a call answers.")
	f.P("type Result = ", result, "[State, Row]")
	f.P()
	f.P("// Then runs fn in the transition's own transaction when the outcome is Applied, and not otherwise. An error of fn")
	f.P("// rolls back the transition with everything that fn did; the call returns that error.")
	f.P("func Then(fn func(ctx ", ctx, ", tx ", tx, ", r Result) error) ", option, " {")
	f.P("return ", f.Import(RuntimePath, "Then"), "(fn)")
	f.P("}")
	f.P()
	f.P("// answerOf reads what a guarded statement says. All of them have the same columns.")
	f.P("func answerOf(r ", f.Import(g.db, m.Ident+"CreateRow"), ") ", answer, "[State, Row] {")
	f.P("return ", answer, "[State, Row]{")
	f.P("Outcome: r.FsmOutcome,")
	f.P("Snapshot: r.FsmSnapshot,")
	f.P("State: State(r.", dbField(m.Table.Status.Column), "),")
	f.P("Version: r.", dbField(m.Table.Version), ",")
	f.P("Row: Row{")
	g.rowFields(f)
	f.P("},")
	f.P("Transition: ", transition, "[State]{")
	f.P("Event: r.FsmMadeEvent,")
	f.P("Outcome: ", outcome, "(r.FsmMadeOutcome),")
	f.P("From: State(r.FsmMadeFrom),")
	f.P("To: State(r.FsmMadeTo),")
	f.P("Version: r.FsmMadeVersion,")
	f.P("},")
	f.P("}")
	f.P("}")
}

// rowFields renders the fields of a Row out of r.
func (g *generator) rowFields(f *genfile.File) {
	m := g.m
	g.rowKeyField(f)
	f.P("Status: State(r.", dbField(m.Table.Status.Column), "),")
	f.P("Version: r.", dbField(m.Table.Version), ",")
	if m.Deadlines() {
		f.P("DeadlineAt: r.", dbField(m.Table.Deadline), ",")
	}
	if m.CountsRuns() {
		f.P("DeadlineRuns: r.", dbField(m.Table.Runs), ",")
	}
	for _, c := range m.Table.Columns {
		f.P(c.Ident, ": r.", dbField(c.Name), ",")
	}
}
