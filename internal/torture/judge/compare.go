package judge

import (
	"context"
	"fmt"
)

// comparison is one thing that must not be: its query returns a text for each case.
type comparison struct{ what, sql string }

// same compares two queries as lists, in both directions.
func same(what, left, right string) []comparison {
	of := func(what, left, right string) comparison {
		return comparison{what, `SELECT x::text FROM ((` + left + `) EXCEPT ALL (` + right + `)) AS x`}
	}
	return []comparison{of(what+", too few", left, right), of(what+", too many", right, left)}
}

// acknowledged are promises that were made to clients.
var acknowledged = []comparison{
	{"lost: a client was told Applied, and the history does not have it", `
SELECT format('%s %s %s %s version %s', c.id, c.machine, c.event, c.key, c.version) FROM torture_calls AS c
LEFT JOIN torture_history AS h ON h.machine = c.machine AND h.key = c.key AND h.version = c.version AND h.event = c.event
  AND h.request_id = c.id AND h.from_status = c.made_from AND h.to_status = c.made_to
WHERE c.outcome = 'Applied' AND h.key IS NULL`},
	{"lost: a client was told Compensated, and there is no such fact", `
SELECT format('%s %s %s %s %s', c.id, c.machine, c.event, c.key, c.identity) FROM torture_calls AS c
LEFT JOIN torture_facts AS f ON f.machine = c.machine AND f.event = c.event AND f.identity = c.identity
  AND f.key = c.key AND f.outcome = 'Compensated' AND f.version = c.version
WHERE c.outcome = 'Compensated' AND f.key IS NULL`},
	{"lost: a sweep was told that it moved a row, and the history does not have it", `
SELECT n.text FROM torture_notes AS n, LATERAL string_to_array(n.text, ' ') AS t
LEFT JOIN torture_history AS h ON h.machine = t[1] AND h.event = t[2] AND h.key = t[3] AND h.version = t[4]::bigint
  AND h.from_status = t[5] AND h.to_status = t[6] AND h.actor = 'deadline'
WHERE n.kind = 'swept' AND h.key IS NULL`},
	{"two clients were told that they made the same version", `
SELECT format('%s %s version %s: %s', machine, key, version, string_agg(id, ' ')) FROM torture_calls
WHERE outcome = 'Applied' GROUP BY machine, key, version HAVING count(*) > 1`},
	{"two clients were told that they brought the same fact", `
SELECT format('%s %s %s: %s', machine, event, identity, string_agg(id, ' ')) FROM torture_calls
WHERE outcome IN ('Applied', 'Compensated') AND identity <> '' GROUP BY machine, event, identity HAVING count(*) > 1`},
	{"a call moved a row and its client was told otherwise", `
SELECT format('%s %s %s %s: %s (%s), version %s', c.id, c.machine, c.event, c.key, c.outcome, c.error, h.version)
FROM torture_history AS h JOIN torture_calls AS c ON c.id = h.request_id WHERE c.outcome NOT IN ('Applied', 'unknown')`},
	{"a call moved a row twice", `
SELECT format('%s: %s', request_id, string_agg(machine || ' ' || key || ' ' || version, ', ')) FROM torture_history
WHERE request_id <> '' GROUP BY request_id HAVING count(*) > 1`},
	{"a row was moved by nobody", `
SELECT format('%s %s version %s by %s %s', h.machine, h.key, h.version, h.actor, h.request_id) FROM torture_history AS h
LEFT JOIN torture_calls AS c ON c.id = h.request_id AND c.machine = h.machine AND c.event = h.event AND c.key = h.key
WHERE c.id IS NULL AND NOT (h.request_id = '' AND h.actor = 'deadline')`},
	{"a replay was told another first result than the fact's", `
SELECT format('%s %s %s %s %s: %s %s', c.id, c.machine, c.event, c.key, c.identity, c.made_outcome, c.made_version) FROM torture_calls AS c
LEFT JOIN torture_facts AS f ON f.machine = c.machine AND f.event = c.event AND f.identity = c.identity AND f.key = c.key
  AND f.outcome = c.made_outcome AND f.version = c.made_version AND f.from_status = c.made_from AND f.to_status = c.made_to
WHERE c.outcome = 'Replayed' AND c.identity <> '' AND f.key IS NULL`},
	{"a client was shown a row as it never was", `
SELECT format('%s %s %s %s: %s version %s', c.id, c.machine, c.event, c.key, c.state, c.version) FROM torture_calls AS c
LEFT JOIN torture_history AS h ON h.machine = c.machine AND h.key = c.key AND h.version = c.version AND h.to_status = c.state
WHERE c.version > 0 AND h.key IS NULL`},
	{"an error that the documents do not tell of", `
SELECT format('%s %s %s %s: %s: %s', id, mode, machine, event, outcome, error) FROM torture_calls WHERE outcome IN ('strange error', 'bad argument')`},
	{"a service saw", `SELECT text FROM torture_notes WHERE kind = 'violation'`},
}

// kept is what the rows, histories and facts must say of themselves.
var kept = []comparison{
	{"a history has a gap, or does not lead from one state to the next", `
SELECT format('%s %s version %s', machine, key, version) FROM (
  SELECT *, lag(version, 1, 0::bigint) OVER w AS before, lag(to_status, 1, '') OVER w AS was FROM torture_history WINDOW w AS (PARTITION BY machine, key ORDER BY version)
) AS h WHERE version <> before + 1 OR from_status <> was`},
	{"a row is not what its last entry says", `
SELECT format('%s %s %s version %s', machine, key, status, row_version) FROM (
  SELECT DISTINCT ON (machine, key) * FROM torture_history ORDER BY machine, key, version DESC
) AS h WHERE status IS DISTINCT FROM to_status OR row_version IS DISTINCT FROM version`},
	{"something waits in the outbox for ever", `SELECT format('%s %s %s', machine, key, topic) FROM fsm_outbox UNION ALL SELECT format('hold %s %s %s', machine, key, error) FROM fsm_outbox_holds`},
	{"the consumer gave something up", `SELECT format('%s %s', consumer, key) FROM fsm_dead_letters`},
	{"a token counted twice", `SELECT format('%s: %s', purpose, count(*)) FROM torture_uses GROUP BY purpose HAVING count(*) > 1`},
	{"a token that was used left nothing", `SELECT DISTINCT text FROM torture_notes WHERE kind = 'used' AND text NOT IN (SELECT purpose FROM torture_uses)`},
}

// once is what must be there exactly once.
func (j *judge) once() []comparison {
	all := same("facts that moved a row, and entries of events with identity",
		`SELECT h.machine, h.event, h.key, h.version, h.from_status, h.to_status FROM torture_history AS h JOIN torture_identified AS i USING (machine, event)`,
		`SELECT machine, event, key, version, from_status, to_status FROM torture_facts WHERE outcome = 'Applied'`)
	all = append(all, same("rows of the outbox, by what was emitted",
		`SELECT h.machine, h.key, h.version, h.event, e.topic FROM torture_history AS h JOIN torture_emits AS e USING (machine, event, from_status, to_status) WHERE e.outcome = 'Applied' AND NOT h.forced
		 UNION ALL SELECT f.machine, f.key, f.version, f.event, e.topic FROM torture_facts AS f JOIN torture_emits AS e USING (machine, event, from_status) WHERE f.outcome = 'Compensated' AND e.outcome = 'Compensated'`,
		`SELECT machine, key, version, event, topic FROM torture_outbox`)...)
	all = append(all, same("effects in the transition's transaction, by the calls that have one",
		`SELECT machine, key, version, event, request_id FROM torture_history WHERE request_id LIKE 'T%'`,
		`SELECT machine, key, version, event, request_id FROM torture_then`)...)
	all = append(all, same("effects of the consumer, by the messages",
		fmt.Sprintf(`SELECT id, machine, key, version, topic FROM torture_outbox WHERE topic IN (%s)`, quoted(j.Heard)),
		`SELECT row_id, machine, key, version, topic FROM torture_heard`)...)
	all = append(all, same("stock that was taken, by article",
		`SELECT o.sku, count(*) FROM torture_then AS t JOIN orders AS o ON o.order_id::text = t.key WHERE t.machine = 'order' AND t.event = 'payment_succeeded' GROUP BY o.sku`,
		fmt.Sprintf(`SELECT sku, %d - quantity FROM shop_stock WHERE quantity <> %d`, j.Stock, j.Stock))...)
	return all
}

func quoted(words []string) (list string) {
	for i, w := range words {
		if i > 0 {
			list += ", "
		}
		list += "'" + w + "'"
	}
	return list
}

// compare looks for all that must not be.
func (j *judge) compare(ctx context.Context) error {
	for _, group := range [][]comparison{acknowledged, kept, j.once(), j.carried()} {
		for _, c := range group {
			found, err := j.texts(ctx, c.sql)
			if err != nil {
				return fmt.Errorf("%s: %w", c.what, err)
			}
			j.report.add(c.what, found)
		}
	}
	return nil
}

// count is what there was.
func (j *judge) count(ctx context.Context) error {
	r := j.report
	err := j.conn.QueryRow(ctx, `SELECT (SELECT count(*) FROM torture_history), (SELECT count(*) FROM torture_facts WHERE outcome = 'Compensated'),
		(SELECT count(*) FROM torture_calls),
		(SELECT count(*) FROM torture_calls AS c WHERE c.outcome = 'unknown' AND EXISTS (SELECT FROM torture_history AS h WHERE h.request_id = c.id)),
		(SELECT count(*) FROM torture_calls AS c WHERE c.outcome = 'unknown' AND NOT EXISTS (SELECT FROM torture_history AS h WHERE h.request_id = c.id))`).
		Scan(&r.Transitions, &r.Recorded, &r.Calls, &r.Moved, &r.Not)
	if err != nil {
		return err
	}
	if r.Outcomes, err = j.counts(ctx, `SELECT format('%s|%s', mode, outcome), count(*) FROM torture_calls GROUP BY mode, outcome ORDER BY mode, outcome`); err != nil {
		return err
	}
	if r.Errors, err = j.counts(ctx, `SELECT format('%s: %s', outcome, error), count(*) FROM torture_calls WHERE error <> '' GROUP BY outcome, error ORDER BY count(*) DESC LIMIT 30`); err != nil {
		return err
	}
	for _, c := range []struct{ what, from string }{
		{"acknowledged Applied and Compensated", `torture_calls WHERE outcome IN ('Applied', 'Compensated')`},
		{"of these by single calls", `torture_calls WHERE outcome IN ('Applied', 'Compensated') AND mode NOT IN ('batch', 'coalesced')`},
		{"deadlines that moved a row", `torture_history WHERE actor = 'deadline'`},
		{"corrections", `torture_history WHERE forced`},
		{"facts", `torture_facts`},
		{"messages of the outbox", `torture_outbox`},
		{"effects in transactions", `torture_then`},
		{"effects of the consumer", `torture_heard`},
		{"tokens used", `torture_uses`},
	} {
		var n int64
		if err := j.conn.QueryRow(ctx, `SELECT count(*) FROM `+c.from).Scan(&n); err != nil {
			return err
		}
		r.Checked = append(r.Checked, Count{c.what, n})
	}
	return nil
}

func (j *judge) counts(ctx context.Context, sql string) ([]Count, error) {
	rows, err := j.conn.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	var all []Count
	var c Count
	for rows.Next() {
		if err := rows.Scan(&c.What, &c.N); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, rows.Err()
}
