package audit

import "github.com/pawl-go/pawl/internal/model"

// takeEntry judges a history entry by the one before it and by the definition.
// One cause is one finding: what a finding already explains is not told again.
func (w *walker) takeEntry(r *record) {
	w.settle()
	fine := w.follows(r)
	to := w.names[string(r.to)]
	switch {
	case to == nil:
		w.find(UnknownState, r.version, "%s led to %s, which is no state of the definition", word(r.event), word(r.to))
		fine = false
	case w.adopts(r.event):
		fine = false
	case r.flag:
		if r.bad {
			w.find(UnsignedForce, r.version, "the entry is forced, and has no actor or no reason")
		}
		fine = false
	case fine && w.entries > 0:
		fine = w.moved(r, to)
	}
	e := w.events[string(r.event)]
	w.last = entrySeen{
		version: r.version, owed: fine && e != nil && len(e.Identity) > 0,
		event: append(w.last.event[:0], r.event...), from: keep(w.last.from, r.from), to: keep(w.last.to, r.to),
	}
}

// follows reports whether the entry may stand where it does: at the beginning,
// or after the one before it. A gap leaves the entry itself to be judged, and
// an adoption says itself what it leaves out.
func (w *walker) follows(r *record) bool {
	switch {
	case w.entries == 0:
		return w.begins(r)
	case r.version == w.last.version:
		w.find(VersionGap, r.version, "the history has version %d twice", r.version)
		return false
	case r.version != w.last.version+1 && !w.adopts(r.event):
		w.find(VersionGap, r.version, "the history goes from version %d to version %d", w.last.version, r.version)
	case !w.same(r.from, w.last.to):
		w.find(BrokenChain, r.version, "%s left %s, and the entry before it led to %s", word(r.event), word(r.from), word(w.last.to))
		return false
	}
	return true
}

// adopts reports whether the event is the taking in of a row, which tables that
// were there before their machine have alone.
func (w *walker) adopts(event []byte) bool { return w.Table.Existing && string(event) == adoptedEvent }

// begins judges the first entry: a creation in the initial state, the adoption
// of a row that was there before, or whatever the entries before it led to that
// were dropped. A retired state may have been
// initial in its time.
func (w *walker) begins(r *record) bool {
	to := w.names[string(r.to)]
	switch {
	case string(r.event) == adoptedEvent, to == nil, w.forgets() && r.version > 1:
		return true
	case string(r.event) != createEvent || r.from != nil || r.version != 1:
		w.find(BadBeginning, r.version, "the history begins with %s from %s at version %d, not with a creation", word(r.event), word(r.from), r.version)
		return false
	case !w.births[to.Index] && !to.Retired:
		w.find(BadBeginning, r.version, "the row was created in %s; the initial state is %s", to.Name, w.Initial().Name)
		return false
	}
	return true
}

// moved judges an edge. What led to a retired state is of a time whose
// transitions are gone.
func (w *walker) moved(r *record, to *model.State) bool {
	from := w.names[string(r.from)]
	if from == nil || to.Retired {
		return true
	}
	e := w.events[string(r.event)]
	once := w.once[from.Index][to.Index]
	switch {
	case once && !w.edges[from.Index][to.Index]: // by which event is not known any more
	case once && e == nil && !own[string(r.event)]: // by which transition it went is not known either
	case !w.edges[from.Index][to.Index]:
		w.find(IllegalEdge, r.version, "%s led from %s to %s, which no transition does", word(r.event), from.Name, to.Name)
		return false
	case e == nil || !w.moves[from.Index][to.Index][e.Index]:
		w.find(WrongEvent, r.version, "%s led from %s to %s, which other events do", word(r.event), from.Name, to.Name)
		return false
	}
	return true
}

// settle ends an entry: the facts of its version have all come.
func (w *walker) settle() {
	if w.last.owed && !w.last.claimed {
		w.find(FactMissing, w.last.version, "%s has an identity and moved the row, and no fact says so", word(w.last.event))
	}
	w.last.owed = false
}

// takeFact judges a fact by the entry of its version.
func (w *walker) takeFact(r *record) {
	if r.flag {
		w.find(EmptyIdentity, r.version, "a fact of %s has no identity", word(r.event))
	}
	e := w.events[string(r.event)]
	if (e == nil || len(e.Identity) == 0) && !w.identities[string(r.event)] {
		w.find(UnknownFact, r.version, "there is a fact of %s, which is no event with an identity", word(r.event))
		return
	}
	entry := w.entries > 0 && w.last.version == r.version
	switch string(r.outcome) {
	case "Applied":
		w.applied(r, entry)
	case "Compensated":
		w.compensated(r, entry)
	default:
		w.find(FactMismatch, r.version, "a fact of %s has the outcome %s", word(r.event), word(r.outcome))
	}
}

// applied judges a fact that says it moved the row.
func (w *walker) applied(r *record, entry bool) {
	switch {
	case w.entries == 0: // told at the end, unless there is no history at all
		if w.early == 0 {
			w.earlyAt = r.version
		}
		w.early++
	case entry && w.adopts(w.last.event): // of what happened before
	case !entry:
		w.find(FactMismatch, r.version, "a fact of %s was Applied at version %d, and the history has no such entry", word(r.event), r.version)
	case string(w.last.event) != string(r.event):
		w.find(FactMismatch, r.version, "a fact of %s was Applied at version %d, and the history has %s there", word(r.event), r.version, word(w.last.event))
	case w.last.claimed:
		w.find(FactMismatch, r.version, "a second fact of %s was Applied at version %d", word(r.event), r.version)
	case !w.same(r.from, w.last.from) || !w.same(r.to, w.last.to):
		w.last.claimed = true
		w.find(FactMismatch, r.version, "a fact of %s leads from %s to %s, the entry from %s to %s", word(r.event), word(r.from), word(r.to), word(w.last.from), word(w.last.to))
	default:
		w.last.claimed = true
	}
}

// compensated judges a fact that says that the row stayed where it was.
func (w *walker) compensated(r *record, entry bool) {
	switch {
	case !w.same(r.from, r.to):
		w.find(FactMismatch, r.version, "a fact of %s was Compensated, which moves nothing, and leads from %s to %s", word(r.event), word(r.from), word(r.to))
	case w.row.version >= 1 && r.version > w.row.version && (w.entries == 0 || r.version > w.last.version):
		w.find(FactMismatch, r.version, "a fact of %s was Compensated at version %d, and the row is at version %d", word(r.event), r.version, w.row.version)
	case entry && !w.same(r.to, w.last.to):
		w.find(FactMismatch, r.version, "a fact of %s was Compensated in %s, and version %d is %s", word(r.event), word(r.to), r.version, word(w.last.to))
	}
}

// keep copies b, which is valid until the next record, and keeps NULL apart.
func keep(into, b []byte) []byte {
	if b == nil {
		return nil
	}
	return append(into[:0], b...)
}
