package gensql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// batch writes the query that fires one event on many rows, an item each.
//
// The items are arrays, which the part asked makes rows of, with the fact that is
// known of each. All rows are locked, in the order of their keys, before the first
// fact is written, and facts are written in the order of their identities: the
// sort of each part takes in all rows of the part before. Two statements thus
// never wait for each other in a circle.
//
// PostgreSQL takes a part of a statement for a handful of rows, whatever its size,
// and would compare each row of one with each of another. So nothing joins two
// parts but by IN where it cannot become a join, which looks up in a hash table,
// and by a full join, which hashes too.
func batch(w *writer, m stored, e *model.Event) {
	s := newStatement(m, e)
	s.batch = true
	var asks, takes []*model.Param
	s.asks, s.takes = args{"i", &asks}, args{"l", &takes}

	w.line(0, "-- name: %s :many", QueryName(m.Machine, e.Ident+"Batch"))
	w.comment("Event "+e.Name+" in a batch", "what "+QueryName(m.Machine, e.Ident)+" does, for an item each of many rows; the cells have its numbers.")
	var answers writer
	s.answers(&answers)
	writing := s.writing()
	w.ctes(append([]cte{s.given()}, writing...))
	w.b.WriteString(answers.b.String())
}

// whoArgs are the columns that hold what the columns of whoColumns get.
var whoArgs = []string{"fsm_actor", "fsm_reason", "fsm_request_id"}

// argColumn is the column that has a parameter of each item.
func argColumn(p *model.Param) string {
	const prefix = "fsm_arg_"
	if len(prefix+p.Name) > sqlname.MaxLength {
		return prefix + p.Name[:30] + "__" + p.Name[len(p.Name)-20:]
	}
	return prefix + p.Name
}

// qualify lists columns behind an alias.
func qualify(alias string, columns []string) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = alias + "." + c
	}
	return strings.Join(list, ", ")
}

// given makes a row of each item, with the fact that its identity is.
func (s statement) given() cte {
	var items arrays
	items.add("fsm_n", "integer", "fsm_n", "a.fsm_n::integer AS fsm_n")
	s.m.keyArrays(&items)
	if s.moving {
		items.add("fsm_version", "bigint", "fsm_version", "CASE WHEN a.fsm_expects THEN a.fsm_version END AS fsm_version")
		items.add("fsm_expects", "boolean", "fsm_expects", "")
		for _, c := range whoArgs {
			items.add(c, "text", c, "a."+c)
		}
	}
	for _, p := range s.event.Params {
		if slices.Contains(*s.asks.used, p) || slices.Contains(*s.takes.used, p) {
			items.param(p)
		}
	}
	if !s.facts {
		return cte{"asked", "MATERIALIZED ", []string{"SELECT " + strings.Join(items.columns, ", "), items.from()}}
	}
	return cte{"asked", "MATERIALIZED ", []string{
		"SELECT " + strings.Join(items.columns, ", ") + ",",
		"       " + strings.Join(s.knownColumns(), ", "),
		items.from(),
		"LEFT JOIN LATERAL (",
		fmt.Sprintf("  SELECT %s, f.fingerprint, f.outcome, f.from_status, f.to_status, f.version FROM %s AS f", s.m.key("f"), s.m.called().Facts()),
		// One look-up an item. As a join, all facts of the event would be read where
		// the planner takes them for few.
		fmt.Sprintf("  WHERE f.event = %s AND f.identity = %s LIMIT 1", literal(s.event.Name), args{"a", s.asks.used}.identity(s.event.Identity)),
		") AS f ON true",
	}}
}

// arrays are the arguments of a batch, and the columns that become of them.
type arrays struct{ unnested, columns []string }

// add adds an argument, which is column of a, and what is selected of it; empty
// for nothing.
func (l *arrays) add(name, typ, column, selected string) {
	l.unnested = append(l.unnested, fmt.Sprintf("unnest(%s::%s[]) AS %s", arg(name), typ, column))
	if selected != "" {
		l.columns = append(l.columns, selected)
	}
}

// from makes the rows, as a.
func (l *arrays) from() string { return "FROM (SELECT " + strings.Join(l.unnested, ", ") + ") AS a" }

// param adds a parameter of the event. Go has no array with NULLs, so another one
// says of an optional parameter which items give it.
func (l *arrays) param(p *model.Param) {
	c := argColumn(p)
	if !p.Optional {
		l.add(p.Name, bare(p.Type), c, "a."+c)
		return
	}
	typ, value := bare(p.Type), "a."+c
	if p.Type.Kind == model.KindUUID { // what stands for none is no uuid
		typ, value = "text", value+"::uuid"
	}
	has := "fsm_has" + strings.TrimPrefix(c, "fsm_arg")
	l.add(p.Name, typ, c, fmt.Sprintf("CASE WHEN a.%s THEN %s END AS %s", has, value, c))
	l.unnested = append(l.unnested, fmt.Sprintf("unnest(sqlc.arg('fsm_has_%s')::boolean[]) AS %s", p.Name, has))
}

// keyArrays adds the keys.
func (t stored) keyArrays(l *arrays) {
	for i, k := range t.Table.Keys {
		typ := bare(k.Type)
		if k.Type.Kind == model.KindDate { // Go has it as text, which is comparable
			typ = "text"
		}
		l.add(t.keyArg(i), typ, t.keyArg(i), "a."+t.keyArg(i))
	}
}

// knownColumns are those of the fact that is known.
func (s statement) knownColumns() []string {
	var columns []string
	for i, k := range s.m.Table.Keys {
		columns = append(columns, qualified("f", k.Name)+" AS "+knownKey(i))
	}
	for _, c := range []string{"fingerprint", "outcome", "from_status", "to_status", "version"} {
		value := "f." + c
		if strings.HasSuffix(c, "_status") {
			value = s.m.told(value)
		}
		columns = append(columns, value+" AS fsm_known_"+c)
	}
	return columns
}

// knownKey is the column of part i of the key of the row whose fact is known.
func knownKey(i int) string {
	if i == 0 {
		return "fsm_known_key"
	}
	return fmt.Sprintf("fsm_known_key_%d", i+1)
}

// knownHere is the condition that the known fact is of the real row.
func (s statement) knownHere() string {
	if !s.batch {
		return s.m.sameKey("k", "o")
	}
	same := make([]string, len(s.m.Table.Keys))
	for i, k := range s.m.Table.Keys {
		same[i] = "i." + knownKey(i) + " = " + qualified("o", k.Name)
	}
	return strings.Join(same, " AND ")
}

// firstKnown is a column of the known fact that is NULL when there is none.
func (s statement) firstKnown() string {
	if s.batch {
		return "i." + knownKey(0)
	}
	return qualified("k", s.m.Table.Keys[0].Name)
}

// ofKnown is a column of the known fact.
func (s statement) ofKnown(column string) string {
	if s.batch {
		return "i.fsm_known_" + column
	}
	return "k." + column
}

// itemNumber selects the number of the item that an answer is for.
func (s statement) itemNumber(alias string) string {
	if s.batch {
		return alias + ".fsm_n, "
	}
	return ""
}

// held is where the rows come from that are to be written to, as l.
func (s statement) held() string {
	if s.batch && s.facts {
		return "FROM taken AS l"
	}
	return "FROM locked AS l"
}

// taken are the locked rows whose facts are theirs. It is a part of its own, since
// PostgreSQL cannot judge an UPDATE anew, on a row that another session changed
// meanwhile, by what the statement itself inserts.
func (s statement) taken() cte {
	mine := s.m.key("l")
	if len(s.m.Table.Keys) > 1 {
		mine = "(" + mine + ")"
	}
	return cte{"taken", "MATERIALIZED ", []string{
		"SELECT " + s.m.row("l") + ", l.fsm_cell" + s.along("l"),
		"FROM locked AS l",
		"WHERE " + among(mine, s.m.key("x"), "fact") + " IS TRUE",
	}}
}

// along are the columns of an item that the locked row brings along, out of
// alias.
func (s statement) along(alias string) string {
	if !s.batch {
		return ""
	}
	columns := []string{"fsm_n"}
	if s.moving {
		columns = append(columns, whoArgs...)
	}
	for _, p := range s.event.Params {
		if slices.Contains(*s.takes.used, p) {
			columns = append(columns, argColumn(p))
		}
	}
	return ", " + qualify(alias, columns)
}

// alongMoved are the columns that the moved row brings along.
func (s statement) alongMoved() string {
	columns := ", " + s.m.state("l") + " AS fsm_from"
	if s.batch {
		columns = ", l.fsm_n" + columns
	}
	if _, emits := topics(s.emits(), ""); emits && !s.facts {
		columns += ", l.fsm_cell"
		for _, p := range s.event.Params {
			if s.batch {
				columns += ", " + s.takes.param(p)
			}
		}
	}
	return columns
}

// swallowed joins what was moved from both sides, so that a row which a trigger
// has kept from being moved has a NULL version, as in history.
func (s statement) swallowed() []string {
	on := "FULL JOIN moved AS m ON " + s.m.sameKey("m", "l")
	if !s.compensating {
		return []string{s.held() + " " + on}
	}
	columns := s.m.key("l") + ", " + s.m.state("l") + ", " + qualify("l", whoArgs)
	return []string{
		"FROM (SELECT " + columns + " " + s.held() + " WHERE " + s.movingCell("l.fsm_cell") + ") AS l",
		on,
	}
}

// emittedBatch is emitted for a batch.
func (s statement) emittedBatch() (cte, bool) {
	alias, does, from, given := "l", s.effect(), s.held(), s.takes
	if !s.facts {
		alias, from, given = "m", "FROM moved AS m", args{"m", s.takes.used}
		does = effect{from: s.m.written("m.fsm_from"), to: s.m.written(s.m.state("m")), version: "m." + s.m.version()}
	}
	set, ok := topics(s.emits(), alias+".fsm_cell")
	if !ok {
		return cte{}, false
	}
	return cte{"emitted", "", outbox(s.m, s.event.Name, alias, does.version, does.from, does.to,
		given.payload(s.event.Params), s.identityJSON(given), append([]string{from}, set...)...)}, true
}

// wrote is the part that has the items for which the statement wrote.
func (s statement) wrote() string {
	if s.facts {
		return "taken"
	}
	return "moved"
}

// among is the condition that something is among theirs, of a part called x.
// PostgreSQL makes a join of a bare IN; behind IS TRUE or IS NOT TRUE it keeps to
// a hash table.
func among(mine, theirs, part string) string {
	return fmt.Sprintf("(%s IN (SELECT %s FROM %s AS x))", mine, theirs, part)
}

// keyArg is the name by which part i of the key is given.
func (t stored) keyArg(i int) string {
	if len(t.Table.Keys) == 1 {
		return "fsm_key"
	}
	return "fsm_key_" + t.Table.Keys[i].Name
}

// askedBy is the condition that the real row has the key of an item.
func (t stored) askedBy(alias string) string {
	same := make([]string, len(t.Table.Keys))
	for i, k := range t.Table.Keys {
		same[i] = qualified("o", k.Name) + " = " + alias + "." + t.keyArg(i)
		if k.Type.Kind == model.KindDate {
			same[i] += "::date"
		}
	}
	return strings.Join(same, " AND ")
}

// lockRows locks the rows of some keys in the order of the keys, for a batch that
// takes several statements of one transaction.
func lockRows(w *writer, m stored) {
	w.line(0, "-- name: %s :exec", QueryName(m.Machine, "LockRows"))
	w.line(0, "-- Locks rows in the order of their keys, before a batch writes the first fact.")
	var keys arrays
	m.keyArrays(&keys)
	w.line(0, "SELECT %s", m.key("o"))
	w.line(0, "%s", keys.from())
	w.line(0, "JOIN %s AS o ON %s", ident(m.Table.Name), m.askedBy("a"))
	w.line(0, "ORDER BY %s", m.key("o"))
	w.line(0, "FOR NO KEY UPDATE OF o;")
}

// heldRows finds the rows that somebody else has locked, of those of some items, for
// a batch that has waited for one of them in vain. It waits for none, and lets go at
// its end of those that were free.
func heldRows(w *writer, m stored) {
	w.line(0, "-- name: %s :many", QueryName(m.Machine, "HeldRows"))
	w.line(0, "-- Says of which items somebody else has locked the row.")
	var items arrays
	items.add("fsm_n", "integer", "fsm_n", "a.fsm_n::integer AS fsm_n")
	m.keyArrays(&items)
	rows := []string{"SELECT i.fsm_n", "FROM asked AS i", "JOIN " + ident(m.Table.Name) + " AS o ON " + m.askedBy("i")}
	w.ctes([]cte{
		{"asked", "MATERIALIZED ", []string{"SELECT " + strings.Join(items.columns, ", "), items.from()}},
		{"locked", "MATERIALIZED ", append(slices.Clone(rows), "FOR NO KEY UPDATE OF o SKIP LOCKED")},
	})
	for _, l := range rows {
		w.line(0, "%s", l)
	}
	w.line(0, "WHERE %s IS NOT TRUE;", among("i.fsm_n", "x.fsm_n", "locked"))
}
