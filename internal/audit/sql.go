package audit

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// called are the names of what belongs to the machine.
func (l *lifecycle) called() sqlname.Machine {
	return sqlname.Machine{Name: l.Name, Table: l.Table.Name, Existing: l.Table.Existing}
}

// ago is the moment before the database's now().
func ago(d time.Duration) string {
	return fmt.Sprintf("now() - interval '%d microseconds'", d.Microseconds())
}

// keyText is the key as the outbox and fsm_audit have it.
func (l *lifecycle) keyText(alias string, column func(int) string) string {
	texts := make([]string, len(l.Table.Keys))
	for i := range l.Table.Keys {
		texts[i] = alias + "." + column(i)
	}
	return sqlname.KeyText(texts, l.Table.Keys[0].Type.Kind == model.KindDate)
}

func (l *lifecycle) keyColumn(i int) string { return sqlname.Ident(l.Table.Keys[i].Name) }

// collated names the collation by which a key column is compared, if it must.
func collated(key *model.Column, collate bool) string {
	if collate && key.Type.Kind == model.KindText {
		return ` COLLATE "C"`
	}
	return ""
}

// stream is the query of the machine's records, as record.decode reads them, by
// key and version. The row comes first: no version is below its place. collate
// says that the key columns are not of one collation, so that one must be named
// to compare them.
//
// PostgreSQL chooses between sorting and walking the indexes; both take bounded
// memory. Everything is cast, since tables that were there before their machine
// may have columns of another width.
func (l *lifecycle) stream(overdue time.Duration, collate bool) string {
	t := l.Table
	keys := make([]string, len(t.Keys))
	order := make([]string, len(t.Keys))
	for i, k := range t.Keys {
		keys[i] = fmt.Sprintf("%s AS k%d", sqlname.Ident(k.Name), i)
		order[i] = fmt.Sprintf("s.k%d", i) + collated(k, collate)
	}
	due, late, runs := "false", "false", "0::bigint"
	if l.Deadlines() {
		due = sqlname.Ident(t.Deadline) + " IS NOT NULL"
		late = sqlname.Ident(t.Deadline) + " < " + ago(overdue)
	}
	if l.CountsRuns() {
		runs = sqlname.Ident(t.Runs) + "::bigint"
	}
	parts := []string{
		fmt.Sprintf("SELECT %s, (-9223372036854775808)::bigint AS place, %d::bigint AS what, %s::bigint AS version, NULL::text AS event, NULL::text AS from_status, %s::text AS to_status, %s AS flag, %s AS bad, %s AS runs, NULL::text AS outcome FROM %s",
			strings.Join(keys, ", "), ofRow, sqlname.Ident(t.Version), sqlname.Ident(t.Status.Column), due, late, runs, sqlname.Ident(t.Name)),
		fmt.Sprintf("SELECT %s, version::bigint, %d::bigint, version::bigint, event::text, from_status::text, to_status::text, forced, actor = '' OR reason = '', 0::bigint, NULL::text FROM %s",
			strings.Join(keys, ", "), ofEntry, sqlname.Ident(l.called().History())),
	}
	if l.Facts() {
		parts = append(parts, fmt.Sprintf("SELECT %s, version::bigint, %d::bigint, version::bigint, event::text, from_status::text, to_status::text, COALESCE(identity, '') = '', false, 0::bigint, outcome::text FROM %s",
			strings.Join(keys, ", "), ofFact, sqlname.Ident(l.called().Facts())))
	}
	return fmt.Sprintf("SELECT %s, s.what, s.version, s.event, s.from_status, s.to_status, s.flag, s.bad, s.runs, s.outcome FROM (\n%s\n) AS s ORDER BY %s, s.place, s.what",
		l.keyText("s", func(i int) string { return fmt.Sprintf("k%d", i) }), strings.Join(parts, "\nUNION ALL\n"), strings.Join(order, ", "))
}

// present renames a former state in an expression to what it is called now.
func (l *lifecycle) present(expr string) string {
	var whens []string
	for _, s := range l.States {
		if s.Was != "" {
			whens = append(whens, fmt.Sprintf("WHEN %s THEN %s", sqlname.Literal(s.Was), sqlname.Literal(s.Name)))
		}
	}
	if len(whens) == 0 {
		return expr
	}
	return fmt.Sprintf("CASE %s %s ELSE %[1]s END", expr, strings.Join(whens, " "))
}

// toldOf is the condition that two names are of one state: the first, which
// fsm_audit has, may be a name that the state had when it was written, since a
// rename changes rows, history and facts alone.
func (l *lifecycle) toldOf(audited, name string) string {
	is := l.present(audited) + " = " + l.present(name)
	if len(l.former) == 0 {
		return is
	}
	pairs := make([]string, len(l.former))
	for i, f := range l.former {
		pairs[i] = fmt.Sprintf("(%s, %s)", sqlname.Literal(f[0]), sqlname.Literal(f[1]))
	}
	return fmt.Sprintf("(%s OR (%s, %s) IN (%s))", is, audited, l.present(name), strings.Join(pairs, ", "))
}

// unaudited is the query of forced entries, of rows that are there, that
// fsm_audit does not tell of, or not by whom and why as the history does. The
// last column is whether it tells of the move.
func (l *lifecycle) unaudited(collate bool) string {
	joined := make([]string, len(l.Table.Keys))
	for i, k := range l.Table.Keys {
		joined[i] = fmt.Sprintf("o.%s = h.%[1]s", l.keyColumn(i)) + collated(k, collate)
	}
	key := l.keyText("h", l.keyColumn)
	told := []string{"a.machine = " + sqlname.Literal(l.Name), "a.key = " + key, "a.version = h.version"}
	for _, c := range []string{"from_status", "to_status"} {
		told = append(told, l.toldOf("a."+c, "h."+c))
	}
	// An unsigned entry has been found by itself.
	const alike = "h.actor = '' OR h.reason = '' OR a.actor = h.actor AND a.reason = h.reason AND a.request_id = h.request_id"
	return fmt.Sprintf(`SELECT %s, h.version::bigint, count(a.version) > 0 FROM %s AS h LEFT JOIN %s AS a ON %s
WHERE h.forced AND EXISTS (SELECT FROM %s AS o WHERE %s)
GROUP BY 1, 2 HAVING NOT COALESCE(bool_or(a.version IS NOT NULL AND (%s)), false)
ORDER BY 1, 2`,
		key, sqlname.Ident(l.called().History()), sqlname.Audit, strings.Join(told, " AND "), sqlname.Ident(l.Table.Name), strings.Join(joined, " AND "), alike)
}

// outboxRows is the query of what waits in the outbox: too long, or for nobody.
// $1 and $2 are machines and their topics side by side, $3 the machines to look
// at, $4 whether to look at those of all others too.
func outboxRows(age time.Duration) string {
	return fmt.Sprintf(`SELECT b.machine, b.key, b.version, b.event, b.topic, b.at::text, b.known FROM (
  SELECT o.id, o.machine, o.key, o.version, o.event, o.topic, o.at,
         EXISTS (SELECT FROM unnest($1::text[], $2::text[]) AS k(machine, topic) WHERE k.machine = o.machine AND k.topic = o.topic) AS known
  FROM %s AS o
  WHERE $4::boolean OR o.machine = ANY ($3::text[])
) AS b
WHERE NOT b.known OR b.at < %s
ORDER BY b.id`, sqlname.Outbox, ago(age))
}
