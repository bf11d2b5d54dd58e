package gengo

import (
	"strconv"

	"github.com/pawl-go/pawl/internal/duration"
	"github.com/pawl-go/pawl/internal/genfile"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// lifecycle renders what concerns all events: reading, correcting, sweeping.
func (g *generator) lifecycle(f *genfile.File) {
	g.get(f)
	g.history(f)
	g.keepHistory(f)
	g.correct(f)
	g.sweeps(f)
}

func (g *generator) get(f *genfile.File) {
	query := g.m.Ident + "Get"
	f.P("var getInfo = &", f.Import(RuntimePath, "EventInfo"), "{Machine: ", strconv.Quote(g.m.Name), ", Event: \"get\"}")
	f.P()
	f.P("// Get returns the row as committed now, or as the caller's transaction sees it. Errors: [fsm.ErrNotFound], or")
	f.P("// the database's.")
	f.P("func Get(ctx ", f.Import("context", "Context"), ", on ", f.Import(RuntimePath, "DB"), ", key Key) (Row, error) {")
	f.P("r, err := ", f.Import(g.db, "New"), "(on).", query, "(ctx, ", f.Import(g.db, query+"Params"), "{")
	g.keyArg(f, "key")
	f.P("})")
	f.P("if err != nil {")
	f.P("return Row{}, ", f.Import(RuntimePath, "ReadError"), "(getInfo, err)")
	f.P("}")
	f.P("return Row{")
	g.rowFields(f)
	f.P("}, nil")
	f.P("}")
	f.P()
}

func (g *generator) history(f *genfile.File) {
	query := g.m.Ident + "History"
	entry := f.Import(RuntimePath, "Entry")
	f.P("var historyInfo = &", f.Import(RuntimePath, "EventInfo"), "{Machine: ", strconv.Quote(g.m.Name), ", Event: \"history\"}")
	f.P()
	f.P("// History returns up to limit entries of the row's history with a version greater than after, by version. It is")
	f.P("// empty for a row that is not there.")
	f.P("func History(ctx ", f.Import("context", "Context"), ", on ", f.Import(RuntimePath, "DB"), ", key Key, after int64, limit int32) ([]", entry, "[State], error) {")
	f.P("rows, err := ", f.Import(g.db, "New"), "(on).", query, "(ctx, ", f.Import(g.db, query+"Params"), "{")
	g.keyArg(f, "key")
	f.P("FsmAfter: after,")
	f.P("FsmLimit: limit,")
	f.P("})")
	f.P("if err != nil {")
	f.P("return nil, ", f.Import(RuntimePath, "ReadError"), "(historyInfo, err)")
	f.P("}")
	f.P("entries := make([]", entry, "[State], len(rows))")
	f.P("for i, r := range rows {")
	f.P("entries[i] = ", entry, "[State]{")
	f.P("Version: r.Version, Event: r.Event, From: State(r.FromStatus), To: State(r.ToStatus),")
	f.P("Actor: r.Actor, Reason: r.Reason, RequestID: r.RequestID, Forced: r.Forced, At: r.At,")
	f.P("}")
	f.P("}")
	f.P("return entries, nil")
	f.P("}")
	f.P()
}

// keepHistory renders the upkeep of a history in partitions.
func (g *generator) keepHistory(f *genfile.File) {
	h := g.m.Table.History
	if h == nil {
		return
	}
	called := sqlname.Machine{Name: g.m.Name}
	kept := "for ever"
	if h.Keep > 0 {
		kept = "at least " + duration.Format(h.Keep)
	}
	f.Comment("KeepHistory", "makes the partitions of the history, of a "+h.Partition+" each, that the next ones need, and drops those that are old; entries are kept "+kept+
		". Call it every day, at a quiet hour, as the owner of the tables: with work to do it locks the history, and transitions wait. It returns what it did, nothing when there was nothing to do. Many may call it at once. See [fsm.KeepHistory] for its errors.")
	f.P("func KeepHistory(ctx ", f.Import("context", "Context"), ", on ", f.Import(RuntimePath, "DB"), ", asOf ", f.Import("time", "Time"), ") ([]", f.Import(RuntimePath, "HistoryPart"), ", error) {")
	f.P("return ", f.Import(RuntimePath, "KeepHistory"), "(ctx, on, ", strconv.Quote(g.m.Name), ", ", strconv.Quote(called.HistoryKeep()), ", asOf)")
	f.P("}")
	f.P()
}

func (g *generator) correct(f *genfile.File) {
	query := g.m.Ident + "Correct"
	g.info(f, "Correct", "correct", false)
	f.P("// Correct forces the row into a state, free of the machine's edges, for support to mend what no event can. Actor and")
	f.P("// reason are required and go into history and audit. Applied: the row moved. Ignored: it stands there already.")
	f.P("// Stale: the expected version was not right. It emits nothing. Errors: see [fsm.Fire].")
	g.signature(f, "Correct", ", key Key, to State, why ", f.Import(RuntimePath, "Correction"))
	f.P("if err := why.Check(correctInfo); err != nil {")
	f.P("return Result{}, err")
	f.P("}")
	f.P("if !to.Valid() {")
	f.P("return Result{}, &", f.Import(RuntimePath, "CallError"), "{Machine: correctInfo.Machine, Event: correctInfo.Event, Kind: ", f.Import(RuntimePath, "ErrArgument"),
		", Err: &", f.Import(RuntimePath, "UnknownStateError"), "{Machine: correctInfo.Machine, State: string(to)}}")
	f.P("}")
	if g.retires() {
		f.P("if to.Retired() {")
		f.P("return Result{}, &", f.Import(RuntimePath, "CallError"), "{Machine: correctInfo.Machine, Event: correctInfo.Event, Kind: ", f.Import(RuntimePath, "ErrArgument"),
			", Err: ", f.Import("errors", "New"), "(\"no row may enter the retired state \" + string(to))}")
		f.P("}")
	}
	g.checkKey(f, "correctInfo", "key", failed)
	f.P("options = append(options[:len(options):len(options)], ", f.Import(RuntimePath, "Actor"), "(why.Actor), ", f.Import(RuntimePath, "Reason"), "(why.Reason))")
	f.P("return ", f.Import(RuntimePath, "Fire"), "(ctx, on, correctInfo, options, nil, ")
	g.run(f, query, true, true, func() {
		g.keyArg(f, "key")
		f.P("FsmTo: string(to),")
		f.P("FsmVersion: c.Version,")
	})
	f.P("}")
	f.P()
}

// sweeps renders one sweep for each deadline event and the list of them.
func (g *generator) sweeps(f *genfile.File) {
	sweep := f.Import(RuntimePath, "Sweep")
	events := g.m.DeadlineEvents()
	if len(events) == 0 {
		return
	}
	f.P("// Sweeps returns the sweeps of all deadlines, for a [fsm.Sweeper].")
	f.P("func Sweeps() []", sweep, " {")
	list := ""
	for _, e := range events {
		list += ", sweep" + e.Ident
	}
	f.P("return []", sweep, "{", list[2:], "}")
	f.P("}")
	f.P()
	for _, e := range events {
		query := g.m.Ident + "Sweep" + e.Ident
		swept := f.Import(RuntimePath, "Swept")
		f.Comment("sweep"+e.Ident, "fires "+e.Name+" on one page of the rows in "+model.StateNames(g.m.DeadlineStates(e))+" whose deadline is due.")
		f.P("func sweep", e.Ident, "(ctx ", f.Import("context", "Context"), ", on ", f.Import(RuntimePath, "DB"), ", page ", f.Import(RuntimePath, "SweepPage"), ") ([]", swept, ", error) {")
		f.P("rows, err := ", f.Import(g.db, "New"), "(on).", query, "(ctx, ", f.Import(g.db, query+"Params"), "{")
		f.P("FsmNow: page.Now, FsmLimit: page.Size(), FsmSkip: page.Skipped(), FsmActor: page.Actor,")
		f.P("})")
		f.P("if err != nil {")
		f.P("return nil, ", f.Import(RuntimePath, "SweepError"), "(", infoVar(e.Ident), ", err)")
		f.P("}")
		f.P("swept := make([]", swept, ", len(rows))")
		f.P("for i, r := range rows {")
		f.P("swept[i] = ", swept, "{Machine: ", strconv.Quote(g.m.Name), ", Event: ", strconv.Quote(e.Name), ", Key: r.Key, From: r.FromStatus, To: r.ToStatus, Version: r.Version}")
		f.P("}")
		f.P("return swept, nil")
		f.P("}")
		f.P()
	}
}
