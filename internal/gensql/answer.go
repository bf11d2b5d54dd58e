package gensql

import (
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
)

// applied answers for the row that moved.
func (s statement) applied(w *writer) {
	w.line(0, "SELECT %s'Applied'::text AS fsm_outcome, %s AS fsm_snapshot,", s.itemNumber("m"), snapshot)
	w.line(0, "       %s::text AS fsm_made_event, 'Applied'::text AS fsm_made_outcome, %s AS fsm_made_from, %s AS fsm_made_to, m.%s AS fsm_made_version,",
		literal(s.event.Name), "m.fsm_from", s.m.state("m"), s.m.version())
	w.line(0, "       %s", s.m.row("m"))
	w.line(0, "FROM moved AS m")
}

// compensated answers for the row whose fact was recorded.
func (s statement) compensated(w *writer) {
	w.line(0, "SELECT %s'Compensated'::text AS fsm_outcome, %s AS fsm_snapshot,", s.itemNumber("l"), snapshot)
	event := literal(s.event.Name)
	if s.batch {
		state := s.m.state("l")
		w.line(0, "       %s::text AS fsm_made_event, 'Compensated'::text AS fsm_made_outcome, %s AS fsm_made_from, %[2]s AS fsm_made_to, l.%s AS fsm_made_version,", event, state, s.m.version())
	} else {
		w.line(0, "       %s::text AS fsm_made_event, f.outcome AS fsm_made_outcome, f.from_status AS fsm_made_from, f.to_status AS fsm_made_to, f.version AS fsm_made_version,", event)
	}
	w.line(0, "       %s", s.m.row("l"))
	if s.batch {
		w.line(0, "%s", s.held())
	} else {
		w.line(0, "FROM fact AS f JOIN locked AS l ON %s", s.m.sameKey("l", "f"))
	}
	if s.moving {
		w.line(0, "WHERE l.fsm_cell = %d", s.compensate())
	}
}

// asked answers, when nothing was written, from the statement's snapshot.
func (s statement) asked(w *writer) {
	cases := s.outcomes()
	w.line(0, "SELECT %s%s", s.itemNumber("i"), cases[0])
	for _, c := range cases[1:] {
		w.line(4, "   %s", c)
	}
	w.line(0, "       %s AS fsm_snapshot,", snapshot)
	known := s.knownHere()
	if s.facts {
		w.line(0, "       CASE WHEN %s THEN %s ELSE COALESCE(h.event, '') END AS fsm_made_event,", known, literal(s.event.Name))
		w.line(0, "       CASE WHEN %s THEN %s WHEN h.event IS NULL THEN '' ELSE 'Applied' END AS fsm_made_outcome,", known, s.ofKnown("outcome"))
		for _, c := range []string{"from", "to"} {
			w.line(0, "       CASE WHEN %s THEN %s ELSE COALESCE(h.%s_status, '') END AS fsm_made_%[3]s,", known, s.ofKnown(c+"_status"), c)
		}
		w.line(0, "       CASE WHEN %s THEN %s ELSE COALESCE(h.version, 0) END AS fsm_made_version,", known, s.ofKnown("version"))
	} else {
		w.line(0, "       COALESCE(h.event, '') AS fsm_made_event, CASE WHEN h.event IS NULL THEN '' ELSE 'Applied' END AS fsm_made_outcome,")
		w.line(0, "       COALESCE(h.from_status, '') AS fsm_made_from, COALESCE(h.to_status, '') AS fsm_made_to, COALESCE(h.version, 0) AS fsm_made_version,")
	}
	w.line(0, "       %s", s.m.row("o"))
	for _, l := range append(s.real(), s.lateral(true)...) {
		w.line(0, "%s", l)
	}
	if s.facts && !s.batch {
		w.line(0, "LEFT JOIN known AS k ON true")
	}
	w.line(0, "LEFT JOIN LATERAL (")
	for _, l := range s.lastEntry() {
		w.line(1, "%s", l)
	}
	if s.batch {
		if s.writes() {
			w.line(0, ") AS h ON true")
			w.line(0, "WHERE %s IS NOT TRUE;", among("i.fsm_n", "x.fsm_n", s.wrote()))
		} else {
			w.line(0, ") AS h ON true;")
		}
		return
	}
	w.line(0, ") AS h ON true")
	condition := "WHERE " + s.m.asked("o")
	switch {
	case s.facts:
		condition += " AND NOT EXISTS (SELECT 1 FROM fact)"
	case s.moving:
		condition += " AND NOT EXISTS (SELECT 1 FROM moved)"
	}
	w.line(0, "%s;", condition)
}

// lastEntry is the query of the entry that made the answer so. A history in
// partitions is asked by a function: it is called only where the entry is
// looked for, while a scan of all partitions would cost every call its start.
func (s statement) lastEntry() []string {
	columns := fmt.Sprintf("SELECT h.event, %s, %s, h.version FROM ", as(s.m.told("h.from_status"), "from_status"), as(s.m.told("h.to_status"), "to_status"))
	if s.m.Table.History == nil {
		return []string{
			columns + s.m.called().History() + " AS h",
			"WHERE " + s.m.sameKey("h", "o") + s.which(),
			"ORDER BY h.version DESC LIMIT 1",
		}
	}
	const whatever = "''"
	which := whatever
	switch {
	case s.facts: // it is not called with NULL
		which = fmt.Sprintf("CASE WHEN %s IS NULL THEN %s END", s.firstKnown(), whatever)
	case len(s.states(model.Replay)) > 0:
		which = fmt.Sprintf("CASE %sWHEN c.fsm_cell = %d THEN %s ELSE %s END", s.badFirst("NULL"), s.number(model.Replay), literal(s.event.Name), whatever)
	}
	return []string{columns + fmt.Sprintf("%s(%s, %s) AS h", s.m.called().HistoryLast(), s.m.key("o"), which)}
}

// which narrows the history to the entry that made the answer so: the last one
// of this event for a replay cell, otherwise the last one; none where a known
// fact tells it better.
func (s statement) which() string {
	switch {
	case s.facts:
		return " AND " + s.firstKnown() + " IS NULL"
	case len(s.states(model.Replay)) > 0:
		condition := fmt.Sprintf("c.fsm_cell <> %d OR h.event = %s", s.number(model.Replay), literal(s.event.Name))
		if bad := s.badFirst("false"); bad != "" {
			return " AND CASE " + bad + "ELSE " + condition + " END"
		}
		return " AND (" + condition + ")"
	}
	return ""
}

// badFirst is the branch of a CASE for parameters whose checks are false, empty for an
// event without checks: no guard is asked about them, since it could fail to compute.
func (s statement) badFirst(then string) string {
	checks := s.checks()
	if len(checks) == 0 {
		return ""
	}
	for i, c := range checks {
		checks[i] = c + " IS FALSE"
	}
	return "WHEN " + strings.Join(checks, " OR ") + " THEN " + then + " "
}

// outcomes is the CASE that names the outcome, in the order of judgement.
func (s statement) outcomes() []string {
	var whens []string
	when := func(condition, outcome string) {
		whens = append(whens, fmt.Sprintf("WHEN %s THEN '%s'", condition, outcome))
	}
	for _, p := range s.event.Params {
		if p.Check != nil {
			when(s.check(p)+" IS FALSE", answerBadArgument+" "+p.Name)
		}
	}
	if s.facts {
		when(fmt.Sprintf("%s AND %s = %s", s.knownHere(), s.ofKnown("fingerprint"), s.asks.identity(s.event.Fingerprint)), "Replayed")
		when(s.firstKnown()+" IS NOT NULL", "Mismatched")
	}
	if s.moving {
		when(s.movingCell("c.fsm_cell")+" AND o."+s.m.version()+" <> "+s.asks.version(), "Stale")
	}
	if s.writes() {
		when(s.writingCell("c.fsm_cell"), answerRaced)
	}
	names := []string{"Replayed", "Ignored", "Rejected", "GuardFailed"}
	for i, d := range quietDecisions {
		if len(s.states(d)) > 0 {
			when(fmt.Sprintf("c.fsm_cell = %d", s.number(d)), names[i])
		}
	}
	if len(whens) == 0 {
		return []string{"'" + answerUnknownState + "'::text AS fsm_outcome,"}
	}
	lines := []string{"(CASE " + whens[0]}
	lines = append(lines, whens[1:]...)
	return append(lines, "ELSE '"+answerUnknownState+"' END)::text AS fsm_outcome,")
}
