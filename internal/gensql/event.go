package gensql

import (
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
)

// snapshot tells whether the answer comes from a snapshot that outlives the
// statement.
const snapshot = "(current_setting('transaction_isolation') <> 'read committed')::boolean"

// who are the history columns that a call gives, and their arguments.
const (
	whoColumns = "actor, reason, request_id"
	whoArgs    = "@fsm_actor::text, @fsm_reason::text, @fsm_request_id::text"
)

// version compares the expected version, when there is one.
func version(alias string) string {
	return fmt.Sprintf("%s.%s = COALESCE(sqlc.narg('fsm_version')::bigint, %[1]s.%[2]s)", alias, model.VersionColumn)
}

// statement renders the guarded statement of one event.
type statement struct {
	*judge
	facts, moving, compensating bool
}

// event writes the query of one event.
func event(w *writer, m *model.Machine, e *model.Event) {
	s := statement{judge: newJudge(m, e)}
	s.compensating = s.compensates()
	s.moving = len(s.moves) > 0
	s.facts = len(e.Identity) > 0 && (s.moving || s.compensating)

	w.line(0, "-- name: %s :one", QueryName(m, e.Ident))
	w.comment("Event "+e.Name, e.Describe)
	w.line(0, "-- Cells:")
	w.legend(s.legend())
	var parts []cte
	if s.facts {
		parts = append(parts, s.known())
	}
	if s.writes() {
		parts = append(parts, s.locked())
	}
	if s.facts {
		parts = append(parts, s.fact())
	}
	if s.moving {
		parts = append(parts, s.moved(), s.history())
	}
	if emit, ok := s.emitted(); ok {
		parts = append(parts, emit)
	}
	if len(parts) > 0 {
		w.ctes(parts)
	}
	if s.moving {
		s.applied(w)
		w.line(0, "UNION ALL")
	}
	if s.compensating {
		s.compensated(w)
		w.line(0, "UNION ALL")
	}
	s.asked(w)
}

func (s statement) writes() bool { return s.moving || s.compensating }

// checks are the conditions that the parameters' own checks put on the call.
func (s statement) checks() []string {
	var checks []string
	for _, p := range s.event.Params {
		if p.Check != nil {
			checks = append(checks, s.check(p))
		}
	}
	return checks
}

func (s statement) check(p *model.Param) string { return "(" + inQuery(p.Check, "o") + ")" }

func (s statement) known() cte {
	return cte{"known", "MATERIALIZED ", []string{
		fmt.Sprintf("SELECT f.%s, f.fingerprint, f.outcome, f.from_status, f.to_status, f.version", ident(s.m.Table.Key.Name)),
		"FROM " + factsTable(s.m) + " AS f",
		fmt.Sprintf("WHERE f.event = %s AND f.identity = %s", literal(s.event.Name), identity(s.event.Identity)),
	}}
}

func (s statement) locked() cte {
	body := []string{
		"SELECT " + row(s.m, "o") + ", c.fsm_cell",
		"FROM " + ident(s.m.Table.Name) + " AS o",
	}
	body = append(body, s.lateral("o", false)...)
	body = append(body, "WHERE "+key(s.m, "o")+" = "+keyArg(s.m))
	if s.facts {
		body = append(body, "  AND NOT EXISTS (SELECT 1 FROM known)")
	}
	for _, c := range s.checks() {
		body = append(body, "  AND "+c+" IS NOT FALSE")
	}
	switch {
	case !s.moving:
		body = append(body, "  AND "+s.writing("c.fsm_cell"))
	case !s.compensating:
		body = append(body, "  AND "+s.movingCell("c.fsm_cell")+" AND "+version("o"))
	default:
		body = append(body, fmt.Sprintf("  AND (%s AND %s OR c.fsm_cell = %d)", s.movingCell("c.fsm_cell"), version("o"), s.compensate()))
	}
	return cte{"locked", "MATERIALIZED ", append(body, "FOR NO KEY UPDATE OF o")}
}

func (s statement) fact() cte {
	k := ident(s.m.Table.Key.Name)
	outcome, to, next := "'Compensated'", "l.status", "l.version"
	if s.moving {
		outcome, to, next = "'Applied'", s.target(), "l.version + 1"
		if s.compensating {
			c := fmt.Sprintf("CASE WHEN l.fsm_cell = %d THEN ", s.compensate())
			outcome = c + "'Compensated' ELSE 'Applied' END"
			to = c + "l.status ELSE " + to + " END"
			next = c + "l.version ELSE l.version + 1 END"
		}
	}
	return cte{"fact", "", []string{
		fmt.Sprintf("INSERT INTO %s (event, identity, %s, fingerprint, outcome, from_status, to_status, version, at)", factsTable(s.m), k),
		fmt.Sprintf("SELECT %s, %s, l.%s, %s,", literal(s.event.Name), identity(s.event.Identity), k, identity(s.event.Fingerprint)),
		fmt.Sprintf("       %s,", outcome),
		fmt.Sprintf("       l.status, %s,", to),
		fmt.Sprintf("       %s, %s", next, now),
		"FROM locked AS l",
		fmt.Sprintf("ON CONFLICT ON CONSTRAINT %s_pkey DO NOTHING", factsTable(s.m)),
		fmt.Sprintf("RETURNING %s, outcome, from_status, to_status, version", k),
	}}
}

func (s statement) moved() cte {
	k := ident(s.m.Table.Key.Name)
	sets := append([]string{
		model.StatusColumn + " = " + s.target(),
		model.VersionColumn + " = l.version + 1",
	}, s.setDeadline()...)
	sets = append(sets, s.setColumns()...)
	body := []string{"UPDATE " + ident(s.m.Table.Name) + " AS o"}
	for i, set := range sets {
		lead, tail := "    ", ","
		if i == 0 {
			lead = "SET "
		}
		if i == len(sets)-1 {
			tail = ""
		}
		body = append(body, lead+set+tail)
	}
	body = append(body, "FROM locked AS l")
	if s.facts {
		body = append(body, fmt.Sprintf("JOIN fact AS f ON f.%s = l.%[1]s", k))
	}
	where := "WHERE " + key(s.m, "o") + " = l." + k
	if s.compensating {
		where += " AND " + s.movingCell("l.fsm_cell")
	}
	return cte{"moved", "", append(body, where, "RETURNING "+row(s.m, "o"))}
}

// history joins what was moved from the left: a trigger that swallows the
// UPDATE leaves a NULL version, and NOT NULL then aborts the whole statement.
func (s statement) history() cte {
	k := ident(s.m.Table.Key.Name)
	body := []string{fmt.Sprintf("INSERT INTO %s (%s, version, event, from_status, to_status, %s, at)", historyTable(s.m), k, whoColumns)}
	event := literal(s.event.Name)
	from := "FROM locked AS l"
	if s.facts {
		from += fmt.Sprintf(" JOIN fact AS f ON f.%s = l.%[1]s", k)
	}
	body = append(body,
		fmt.Sprintf("SELECT l.%s, m.version, %s, l.status, m.status, %s, %s", k, event, whoArgs, now),
		from+fmt.Sprintf(" LEFT JOIN moved AS m ON m.%s = l.%[1]s", k))
	if s.compensating {
		body = append(body, "WHERE "+s.movingCell("l.fsm_cell"))
	}
	return cte{"history", "", body}
}

// emits lists what each writing cell emits, by number.
func (s statement) emits() [][]string {
	lists := make([][]string, 0, len(s.moves)+1)
	for _, t := range s.moves {
		lists = append(lists, t.Emit)
	}
	if s.compensating {
		lists = append(lists, s.compensateEmit())
	}
	return lists
}

// topics renders the topics of a cell as a set-returning call, and reports
// whether there are any.
func topics(lists [][]string) (string, bool) {
	any, same := false, true
	for _, l := range lists {
		any = any || len(l) > 0
		same = same && strings.Join(l, ",") == strings.Join(lists[0], ",")
	}
	if !any {
		return "", false
	}
	if same {
		return "unnest(ARRAY[" + literals(lists[0]) + "])", true
	}
	var b strings.Builder
	b.WriteString("unnest(CASE l.fsm_cell")
	for i, l := range lists {
		if len(l) > 0 {
			fmt.Fprintf(&b, " WHEN %d THEN ARRAY[%s]", i+1, literals(l))
		}
	}
	return b.String() + " END)", true
}

func (s statement) emitted() (cte, bool) {
	set, ok := topics(s.emits())
	if !ok {
		return cte{}, false
	}
	k := ident(s.m.Table.Key.Name)
	source, joins := "m", fmt.Sprintf("FROM moved AS m JOIN locked AS l ON l.%s = m.%[1]s", k)
	from, to := "l.status", "m.status"
	if s.facts {
		source, joins = "f", fmt.Sprintf("FROM fact AS f JOIN locked AS l ON l.%s = f.%[1]s", k)
		from, to = "f.from_status", "f.to_status"
	}
	return cte{"emitted", "", outbox(s.m, s.event.Name, source, from, to, payloadParams(s.event.Params), s.identityJSON(),
		joins, "CROSS JOIN LATERAL "+set+" AS e(topic)")}, true
}

// outbox writes the rows of one call; what they tell is the same everywhere.
func outbox(m *model.Machine, event, source, from, to, params, identity string, joins ...string) []string {
	return append([]string{
		"INSERT INTO " + OutboxTable + " (machine, key, version, event, topic, payload, at)",
		fmt.Sprintf("SELECT %s, %s, %s.version, %s, e.topic,", literal(m.Name), keyText(m, source), source, literal(event)),
		fmt.Sprintf("       jsonb_build_object('machine', %s, 'key', %s, 'version', %s.version, 'event', %s,", literal(m.Name), keyText(m, source), source, literal(event)),
		fmt.Sprintf("                          'from', %s, 'to', %s, 'params', %s, 'identity', %s),", from, to, params, identity),
		"       " + now,
	}, joins...)
}

func payloadParams(params []*model.Param) string {
	if len(params) == 0 {
		return "'{}'::jsonb"
	}
	pairs := make([]string, len(params))
	for i, p := range params {
		pairs[i] = literal(p.Name) + ", " + param(p)
	}
	return "jsonb_build_object(" + strings.Join(pairs, ", ") + ")"
}

func (s statement) identityJSON() string {
	if len(s.event.Identity) == 0 {
		return "NULL::text"
	}
	return identity(s.event.Identity)
}
