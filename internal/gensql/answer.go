package gensql

import (
	"fmt"

	"github.com/pawl-go/pawl/internal/model"
)

// applied answers for the row that moved.
func (s statement) applied(w *writer) {
	k := ident(s.m.Table.Key.Name)
	w.line(0, "SELECT 'Applied'::text AS fsm_outcome, %s AS fsm_snapshot,", snapshot)
	w.line(0, "       %s::text AS fsm_made_event, 'Applied'::text AS fsm_made_outcome, l.status AS fsm_made_from, m.status AS fsm_made_to, m.version AS fsm_made_version,", literal(s.event.Name))
	w.line(0, "       %s", row(s.m, "m"))
	w.line(0, "FROM moved AS m JOIN locked AS l ON l.%s = m.%[1]s", k)
}

// compensated answers for the row whose fact was recorded.
func (s statement) compensated(w *writer) {
	k := ident(s.m.Table.Key.Name)
	w.line(0, "SELECT 'Compensated'::text AS fsm_outcome, %s AS fsm_snapshot,", snapshot)
	w.line(0, "       %s::text AS fsm_made_event, f.outcome AS fsm_made_outcome, f.from_status AS fsm_made_from, f.to_status AS fsm_made_to, f.version AS fsm_made_version,", literal(s.event.Name))
	w.line(0, "       %s", row(s.m, "l"))
	w.line(0, "FROM fact AS f JOIN locked AS l ON l.%s = f.%[1]s", k)
	if s.moving {
		w.line(0, "WHERE l.fsm_cell = %d", s.compensate())
	}
}

// asked answers, when nothing was written, from the statement's snapshot.
func (s statement) asked(w *writer) {
	cases := s.outcomes()
	w.line(0, "SELECT %s", cases[0])
	for _, c := range cases[1:] {
		w.line(4, "   %s", c)
	}
	w.line(0, "       %s AS fsm_snapshot,", snapshot)
	k := ident(s.m.Table.Key.Name)
	if s.facts {
		w.line(0, "       CASE WHEN k.%s = o.%[1]s THEN %s ELSE COALESCE(h.event, '') END AS fsm_made_event,", k, literal(s.event.Name))
		w.line(0, "       CASE WHEN k.%s = o.%[1]s THEN k.outcome WHEN h.event IS NULL THEN '' ELSE 'Applied' END AS fsm_made_outcome,", k)
		for _, c := range []string{"from", "to"} {
			w.line(0, "       CASE WHEN k.%s = o.%[1]s THEN k.%s_status ELSE COALESCE(h.%[2]s_status, '') END AS fsm_made_%[2]s,", k, c)
		}
		w.line(0, "       CASE WHEN k.%s = o.%[1]s THEN k.version ELSE COALESCE(h.version, 0) END AS fsm_made_version,", k)
	} else {
		w.line(0, "       COALESCE(h.event, '') AS fsm_made_event, CASE WHEN h.event IS NULL THEN '' ELSE 'Applied' END AS fsm_made_outcome,")
		w.line(0, "       COALESCE(h.from_status, '') AS fsm_made_from, COALESCE(h.to_status, '') AS fsm_made_to, COALESCE(h.version, 0) AS fsm_made_version,")
	}
	w.line(0, "       %s", row(s.m, "o"))
	w.line(0, "FROM %s AS o", ident(s.m.Table.Name))
	lateral := s.lateral("o", true)
	for _, l := range lateral {
		w.line(0, "%s", l)
	}
	if s.facts {
		w.line(0, "LEFT JOIN known AS k ON true")
	}
	w.line(0, "LEFT JOIN LATERAL (")
	w.line(1, "SELECT h.event, h.from_status, h.to_status, h.version FROM %s AS h", historyTable(s.m))
	w.line(1, "WHERE h.%s = o.%[1]s%s", k, s.which())
	w.line(1, "ORDER BY h.version DESC LIMIT 1")
	w.line(0, ") AS h ON true")
	where := fmt.Sprintf("WHERE %s = %s", key(s.m, "o"), keyArg(s.m))
	switch {
	case s.facts:
		where += " AND NOT EXISTS (SELECT 1 FROM fact)"
	case s.moving:
		where += " AND NOT EXISTS (SELECT 1 FROM moved)"
	}
	w.line(0, "%s;", where)
}

// which narrows the history to the entry that made the answer so: the last one
// of this event for a replay cell, otherwise the last one; none where a known
// fact tells it better.
func (s statement) which() string {
	switch {
	case s.facts:
		return fmt.Sprintf(" AND k.%s IS NULL", ident(s.m.Table.Key.Name))
	case len(s.states(model.Replay)) > 0:
		return fmt.Sprintf(" AND (c.fsm_cell <> %d OR h.event = %s)", s.number(model.Replay), literal(s.event.Name))
	}
	return ""
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
		k := ident(s.m.Table.Key.Name)
		when(fmt.Sprintf("k.%s = o.%[1]s AND k.fingerprint = %s", k, identity(s.event.Fingerprint)), "Replayed")
		when("k."+k+" IS NOT NULL", "Mismatched")
	}
	if s.moving {
		when(s.movingCell("c.fsm_cell")+" AND o.version <> sqlc.narg('fsm_version')::bigint", "Stale")
	}
	if s.writes() {
		when(s.writing("c.fsm_cell"), answerRaced)
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
