package gensql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// snapshot tells whether the answer comes from a snapshot that outlives the
// statement.
const snapshot = "(current_setting('transaction_isolation') <> 'read committed')::boolean"

// whoColumns are the history columns that a call gives.
const whoColumns = "actor, reason, request_id"

// expected compares the expected version, when there is one.
func (t stored) expected(a args) string {
	return fmt.Sprintf("o.%s = COALESCE(%s, o.%[1]s)", t.version(), a.version())
}

// statement renders the guarded statement of one event.
type statement struct {
	*judge
	facts, moving, compensating bool
	// batch has the statement work on many rows, an item each; see batch.
	batch bool
}

func newStatement(m stored, e *model.Event) statement {
	s := statement{judge: newJudge(m, e)}
	s.compensating = s.compensates()
	s.moving = len(s.moves) > 0
	s.facts = len(e.Identity) > 0 && (s.moving || s.compensating)
	return s
}

// event writes the query of one event.
func event(w *writer, m stored, e *model.Event) {
	s := newStatement(m, e)
	w.line(0, "-- name: %s :one", QueryName(m.Machine, e.Ident))
	w.comment("Event "+e.Name, e.Describe)
	w.line(0, "-- Cells:")
	w.legend(s.legend())
	var parts []cte
	if s.facts {
		parts = append(parts, s.known())
	}
	if parts = append(parts, s.writing()...); len(parts) > 0 {
		w.ctes(parts)
	}
	s.answers(w)
}

// writing are the parts of the statement that write, none for an event that
// never does. They are rendered from the last to the first: in a batch what the
// later ones use is what the earlier ones bring along.
func (s statement) writing() []cte {
	var parts []cte
	if emit, ok := s.emitted(); ok {
		parts = append(parts, emit)
	}
	if s.moving {
		parts = append(parts, s.history(), s.moved())
	}
	if s.facts && s.batch {
		parts = append(parts, s.taken())
	}
	if s.facts {
		parts = append(parts, s.fact())
	}
	if s.writes() {
		parts = append(parts, s.locked())
	}
	slices.Reverse(parts)
	return parts
}

// answers writes what the statement answers.
func (s statement) answers(w *writer) {
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

func (s statement) check(p *model.Param) string { return "(" + s.asks.inQuery(p.Check, "o") + ")" }

func (s statement) known() cte {
	return cte{"known", "MATERIALIZED ", []string{
		fmt.Sprintf("SELECT %s, f.fingerprint, f.outcome, %s, %s, f.version", s.m.key("f"),
			as(s.m.told("f.from_status"), "from_status"), as(s.m.told("f.to_status"), "to_status")),
		"FROM " + s.m.called().Facts() + " AS f",
		fmt.Sprintf("WHERE f.event = %s AND f.identity = %s", literal(s.event.Name), s.asks.identity(s.event.Identity)),
	}}
}

func (s statement) locked() cte {
	may := s.mayWrite()
	body := []string{"SELECT " + s.m.row("o") + ", c.fsm_cell" + s.along("i")}
	body = append(body, s.real()...)
	body = append(body, s.lateral(false)...)
	switch {
	case s.batch && s.facts:
		may = append([]string{"i.fsm_known_key IS NULL"}, may...)
	case s.batch:
	case s.facts:
		may = append([]string{s.m.asked("o"), "NOT EXISTS (SELECT 1 FROM known)"}, may...)
	default:
		may = append([]string{s.m.asked("o")}, may...)
	}
	body = append(body, where(may)...)
	if s.batch {
		body = append(body, "ORDER BY "+s.m.key("o"))
	}
	return cte{"locked", "MATERIALIZED ", append(body, "FOR NO KEY UPDATE OF o")}
}

// real is where the real rows that are asked for come from, as o.
func (s statement) real() []string {
	from := ident(s.m.Table.Name) + " AS o"
	if s.batch {
		return []string{"FROM asked AS i", "JOIN " + from + " ON " + s.m.askedBy("i")}
	}
	return []string{"FROM " + from}
}

// mayWrite are the conditions under which the call writes to the real row,
// beside the row's being asked for and the identity's being new.
func (s statement) mayWrite() []string {
	var conditions []string
	for _, c := range s.checks() {
		conditions = append(conditions, c+" IS NOT FALSE")
	}
	moves := s.movingCell("c.fsm_cell") + " AND " + s.m.expected(s.asks)
	switch {
	case !s.moving:
		return append(conditions, s.writingCell("c.fsm_cell"))
	case !s.compensating:
		return append(conditions, moves)
	}
	return append(conditions, fmt.Sprintf("(%s OR c.fsm_cell = %d)", moves, s.compensate()))
}

// where renders conditions, a line each; there must be one.
func where(conditions []string) []string {
	lines := make([]string, len(conditions))
	for i, c := range conditions {
		lines[i] = "  AND " + c
	}
	lines[0] = "WHERE " + conditions[0]
	return lines
}

// effect is what a call does to the locked row, as the fact tells it.
type effect struct{ outcome, from, to, version string }

func (s statement) effect() effect {
	from, version := s.m.written(s.m.state("l")), "l."+s.m.version()
	if !s.moving {
		return effect{"'Compensated'", from, from, version}
	}
	if !s.compensating {
		return effect{"'Applied'", from, s.targetName(), version + " + 1"}
	}
	c := fmt.Sprintf("CASE WHEN l.fsm_cell = %d THEN ", s.compensate())
	return effect{
		outcome: c + "'Compensated' ELSE 'Applied' END",
		from:    from,
		to:      c + from + " ELSE " + s.targetName() + " END",
		version: c + version + " ELSE " + version + " + 1 END",
	}
}

func (s statement) fact() cte {
	does := s.effect()
	body := []string{
		fmt.Sprintf("INSERT INTO %s (event, identity, %s, fingerprint, outcome, from_status, to_status, version, at)", s.m.called().Facts(), s.m.key("")),
		fmt.Sprintf("SELECT %s, %s, %s, %s,", literal(s.event.Name), s.takes.identity(s.event.Identity), s.m.key("l"), s.takes.identity(s.event.Fingerprint)),
		fmt.Sprintf("       %s,", does.outcome),
		fmt.Sprintf("       %s, %s,", does.from, does.to),
		fmt.Sprintf("       %s, %s", does.version, now),
		"FROM locked AS l",
	}
	returned := fmt.Sprintf("%s, outcome, %s, %s, version", s.m.key(""),
		as(s.m.told("from_status"), "from_status"), as(s.m.told("to_status"), "to_status"))
	if s.batch {
		body = append(body, "ORDER BY "+s.takes.identity(s.event.Identity)+", l.fsm_n")
		returned = s.m.key("")
	}
	return cte{"fact", "", append(body,
		fmt.Sprintf("ON CONFLICT ON CONSTRAINT %s DO NOTHING", sqlname.PrimaryKey(s.m.called().Facts())),
		"RETURNING "+returned)}
}

func (s statement) moved() cte {
	sets := append([]string{
		ident(s.m.Table.Status.Column) + " = " + s.target(),
		fmt.Sprintf("%s = l.%[1]s + 1", s.m.version()),
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
	body = append(body, s.held())
	if s.facts && !s.batch {
		body = append(body, "JOIN fact AS f ON "+s.m.sameKey("f", "l"))
	}
	condition := "WHERE " + s.m.sameKey("o", "l")
	if s.compensating {
		condition += " AND " + s.movingCell("l.fsm_cell")
	}
	return cte{"moved", "", append(body, condition, "RETURNING "+s.m.row("o")+s.alongMoved())}
}

// history joins what was moved from the left: a trigger that swallows the
// UPDATE leaves a NULL version, and NOT NULL then aborts the whole statement.
func (s statement) history() cte {
	body := []string{fmt.Sprintf("INSERT INTO %s (%s, version, event, from_status, to_status, %s, at)", s.m.called().History(), s.m.key(""), whoColumns)}
	event := literal(s.event.Name)
	due, from := "l", s.m.state("l")
	if s.facts && !s.batch {
		due, from = "f", "f.from_status"
	}
	body = append(body,
		fmt.Sprintf("SELECT %s, m.%s, %s, %s, %s, %s, %s", s.m.key(due), s.m.version(), event,
			s.m.written(from), s.m.written(s.m.state("m")), s.takes.who(), now))
	if s.batch {
		return cte{"history", "", append(body, s.swallowed()...)}
	}
	source := "FROM locked AS l"
	if s.facts {
		source = "FROM fact AS f"
	}
	body = append(body, source+" LEFT JOIN moved AS m ON "+s.m.sameKey("m", due))
	switch {
	case s.compensating && s.facts:
		body = append(body, "WHERE f.outcome = 'Applied'")
	case s.compensating:
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

// topics renders the topics of a cell, whose number stands in cell, as what is
// joined for a row each, and reports whether there are any. Where no cell has two
// it is an expression, which costs no call. An event that never writes has no cells.
func topics(lists [][]string, cell string) (joined []string, ok bool) {
	if len(lists) == 0 {
		return nil, false
	}
	most, least := 0, len(lists[0])
	same := true
	for _, l := range lists {
		most, least = max(most, len(l)), min(least, len(l))
		same = same && slices.Equal(l, lists[0])
	}
	switch {
	case most == 0:
		return nil, false
	case same && most == 1:
		return []string{"CROSS JOIN LATERAL (SELECT " + literals(lists[0]) + "::text) AS e(topic)"}, true
	case same:
		return []string{"CROSS JOIN LATERAL unnest(ARRAY[" + literals(lists[0]) + "]) AS e(topic)"}, true
	}
	var b strings.Builder
	for i, l := range lists {
		switch {
		case len(l) == 0:
		case most == 1:
			fmt.Fprintf(&b, " WHEN %d THEN %s", i+1, literals(l))
		default:
			fmt.Fprintf(&b, " WHEN %d THEN ARRAY[%s]", i+1, literals(l))
		}
	}
	cases := "CASE " + cell + b.String() + " END"
	if most > 1 {
		return []string{"CROSS JOIN LATERAL unnest(" + cases + ") AS e(topic)"}, true
	}
	joined = []string{"CROSS JOIN LATERAL (SELECT " + cases + ") AS e(topic)"}
	if least == 0 {
		joined = append(joined, "WHERE e.topic IS NOT NULL")
	}
	return joined, true
}

func (s statement) emitted() (cte, bool) {
	if s.batch {
		return s.emittedBatch()
	}
	cell, source, version, joins := "m.fsm_cell", "m", "m."+s.m.version(), "FROM moved AS m"
	from, to := "m.fsm_from", s.m.state("m")
	if s.facts {
		cell, source, version, joins = "l.fsm_cell", "f", "f.version", "FROM fact AS f JOIN locked AS l ON "+s.m.sameKey("l", "f")
		from, to = "f.from_status", "f.to_status"
	}
	set, ok := topics(s.emits(), cell)
	if !ok {
		return cte{}, false
	}
	return cte{"emitted", "", outbox(s.m, s.event.Name, source, version, s.m.written(from), s.m.written(to), s.takes.payload(s.event.Params), s.identityJSON(s.takes),
		append([]string{joins}, set...)...)}, true
}

// outbox writes the rows of one call; what they tell is the same everywhere.
func outbox(m stored, event, source, version, from, to, params, identity string, joins ...string) []string {
	return append([]string{
		"INSERT INTO " + sqlname.Outbox + " (machine, key, version, event, topic, payload, at)",
		fmt.Sprintf("SELECT %s, %s, %s, %s, e.topic,", literal(m.Name), m.keyText(source), version, literal(event)),
		fmt.Sprintf("       jsonb_build_object('machine', %s, 'key', %s, 'version', %s, 'event', %s,", literal(m.Name), m.keyText(source), version, literal(event)),
		fmt.Sprintf("                          'from', %s, 'to', %s, 'params', %s, 'identity', %s),", from, to, params, identity),
		"       " + now,
	}, joins...)
}

func (a args) payload(params []*model.Param) string {
	if len(params) == 0 {
		return "'{}'::jsonb"
	}
	pairs := make([]string, len(params))
	for i, p := range params {
		pairs[i] = literal(p.Name) + ", " + a.param(p)
	}
	return built("jsonb_build_object", pairs, maxArgs/2)
}

// maxArgs is the number of arguments that PostgreSQL passes to a function.
const maxArgs = 100

// built calls a function that builds a JSON object or array of all items, and
// joins as many calls as it takes.
func built(function string, items []string, most int) string {
	var calls []string
	for part := range slices.Chunk(items, most) {
		calls = append(calls, function+"("+strings.Join(part, ", ")+")")
	}
	if len(calls) == 1 {
		return calls[0]
	}
	return "(" + strings.Join(calls, " || ") + ")"
}

func (s statement) identityJSON(a args) string {
	if len(s.event.Identity) == 0 {
		return "NULL::text"
	}
	return a.identity(s.event.Identity)
}
