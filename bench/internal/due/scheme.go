// Package due measures what it costs to know which rows' deadlines are due, by
// several ways to keep the due times, through the generated calls.
package due

import (
	"regexp"
	"strings"
)

// Scheme is a way to find rows that are due.
type Scheme struct {
	Name string
	// tables makes what it needs of a database that has the migrations' index.
	tables string
	// fill enters the orders that are there.
	fill string
	// sets and clears are added to a statement whose transitions set a deadline, or
	// take it away; sweeps changes the statement of a sweep.
	sets, clears string
	sweeps       func(sql string) string
}

// The names of the schemes.
const (
	Index  = "index on the row"
	None   = "no index"
	Upsert = "side table, kept"
	Append = "side table, appended"
)

const dropIndex = "DROP INDEX orders_deadline_idx;\n"

// Schemes are all of them, what the generator writes first.
func Schemes() []Scheme {
	same := func(sql string) string { return sql }
	return []Scheme{
		{Name: Index, sweeps: same},
		{Name: None, tables: dropIndex, sweeps: same},
		{
			Name: Upsert,
			tables: dropIndex + `CREATE TABLE order_due (order_id uuid PRIMARY KEY, due_at timestamptz NOT NULL);
CREATE INDEX order_due_idx ON order_due (due_at)`,
			fill: "INSERT INTO order_due (order_id, due_at) SELECT order_id, deadline_at FROM orders WHERE deadline_at IS NOT NULL",
			sets: `, due AS (
  INSERT INTO order_due (order_id, due_at) SELECT m.order_id, m.deadline_at FROM moved AS m WHERE m.deadline_at IS NOT NULL
  ON CONFLICT (order_id) DO UPDATE SET due_at = EXCLUDED.due_at
)`,
			clears: `, undue AS (
  DELETE FROM order_due AS d USING moved AS m WHERE d.order_id = m.order_id AND m.deadline_at IS NULL
)`,
			sweeps: sweepKept,
		},
		{
			Name: Append,
			tables: dropIndex + `CREATE TABLE order_due (due_at timestamptz NOT NULL, order_id uuid NOT NULL, version bigint NOT NULL, status text NOT NULL);
CREATE INDEX order_due_idx ON order_due (due_at)`,
			fill: "INSERT INTO order_due (due_at, order_id, version, status) SELECT deadline_at, order_id, version, status FROM orders WHERE deadline_at IS NOT NULL",
			sets: `, due AS (
  INSERT INTO order_due (due_at, order_id, version, status)
  SELECT m.deadline_at, m.order_id, m.version, m.status FROM moved AS m WHERE m.deadline_at IS NOT NULL
)`,
			sweeps: sweepAppended,
		},
	}
}

var final = regexp.MustCompile(`(?m)^\)\nSELECT `)

// Rewrite is what the generator would write by the scheme. A statement that moves
// nothing stays as it is.
func (s Scheme) Rewrite(sql string) string {
	if !strings.Contains(sql, "moved AS (") {
		return sql
	}
	if strings.Contains(sql, "SKIP LOCKED") {
		sql = s.sweeps(sql)
	}
	at := final.FindStringIndex(sql)
	if at == nil {
		return sql
	}
	// Whether an event sets deadlines, clears them, or does either, is in its UPDATE.
	always, never := strings.Contains(sql, "deadline_at = COALESCE("), strings.Contains(sql, "deadline_at = NULL,")
	added := ""
	if !never {
		added += s.sets
	}
	if !always {
		added += s.clears
	}
	return sql[:at[0]+1] + added + sql[at[0]+1:]
}

// sweepKept finds rows by the side table. What the row says decides, for it is what
// is looked at again after it was locked.
func sweepKept(sql string) string {
	return strings.NewReplacer(
		"  FROM orders AS o\n  CROSS JOIN", "  FROM order_due AS d\n  JOIN orders AS o ON o.order_id = d.order_id\n  CROSS JOIN",
		"WHERE o.deadline_at <= ", "WHERE d.due_at <= COALESCE($1::timestamptz, now()) AND o.deadline_at <= ",
		"ORDER BY o.deadline_at ", "ORDER BY d.due_at ",
	).Replace(sql)
}

var skip = regexp.MustCompile(`ORDER BY o\.deadline_at LIMIT (\S+) OFFSET (\S+)\n  FOR NO KEY UPDATE OF o SKIP LOCKED`)

var swept = regexp.MustCompile(`o\.status = '(\w+)' AND c\.fsm_cell`)

// sweepAppended takes a page of entries out of the side table, and moves the rows
// that are still as they were entered. It has to wait for a row that somebody holds,
// for the entry is gone.
func sweepAppended(sql string) string {
	limit, state := skip.FindStringSubmatch(sql), swept.FindStringSubmatch(sql)
	if limit == nil || state == nil {
		return sql
	}
	page := `WITH page AS MATERIALIZED (
  SELECT d.ctid AS at, d.order_id, d.version FROM order_due AS d
  WHERE d.due_at <= COALESCE($1::timestamptz, now()) AND d.status = '` + state[1] + `'
  ORDER BY d.due_at LIMIT ` + limit[1] + `
  FOR UPDATE SKIP LOCKED
), taken AS (
  DELETE FROM order_due AS d USING page AS p WHERE d.ctid = p.at
), locked AS MATERIALIZED (`
	sql = strings.Replace(sql, "WITH locked AS MATERIALIZED (", page, 1)
	sql = strings.Replace(sql, "  FROM orders AS o\n  CROSS JOIN", "  FROM page AS p\n  JOIN orders AS o ON o.order_id = p.order_id AND o.version = p.version\n  CROSS JOIN", 1)
	return strings.Replace(sql, skip.FindString(sql), "ORDER BY o.order_id OFFSET "+limit[2]+"\n  FOR NO KEY UPDATE OF o", 1)
}
