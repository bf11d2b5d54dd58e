package judge

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-go/pawl/internal/linear"
	"github.com/pawl-go/pawl/internal/model"
)

// chunk is how many bundles are checked at once, so that memory does not grow with the
// run.
const chunk = 20

// said is what a client asked for and was told, as lines of a history. $1 is the
// machine, $2 and $3 the bundles, $4 a time after all calls.
//
// Of what a client does not know, the history knows whether it moved a row: each call
// has an id of its own there. It is then an answer that came at the end. That nothing
// was moved leaves a fact alone in doubt, which more than one may have brought.
const said = `
SELECT json_build_object('type', 'call', 'id', c.id, 'at', c.begun, 'client', split_part(c.id, '.', 1), 'machine', c.machine, 'key', c.key, 'event', c.event,
    'params', COALESCE(c.params, '{}'), 'expect', NULLIF(c.expected, 0))::text || E'\n' ||
  CASE
  WHEN c.outcome = 'unknown' AND h.request_id IS NOT NULL THEN json_build_object('type', 'return', 'id', c.id, 'at', $4::bigint, 'outcome', 'Applied', 'state', h.to_status,
    'version', h.version, 'transition', json_build_object('event', h.event, 'outcome', 'Applied', 'from', h.from_status, 'to', h.to_status, 'version', h.version))::text
  WHEN c.outcome = 'unknown' AND NOT EXISTS (SELECT FROM torture_facts AS f WHERE f.machine = c.machine AND f.event = c.event AND f.identity = c.identity
    AND f.key = c.key AND f.outcome = 'Compensated')
    THEN json_build_object('type', 'return', 'id', c.id, 'at', $4::bigint, 'error', 'nothing done')::text
  WHEN c.outcome IN ('unknown', 'nothing done', 'not found') THEN json_build_object('type', 'return', 'id', c.id, 'at', COALESCE(c.ended, $4::bigint), 'error', c.outcome)::text
  WHEN c.outcome IN ('strange error', 'bad argument') THEN json_build_object('type', 'return', 'id', c.id, 'at', c.ended, 'error', 'argument')::text
  ELSE json_build_object('type', 'return', 'id', c.id, 'at', c.ended, 'outcome', c.outcome, 'state', c.state, 'version', c.version, 'snapshot', c.snapshot, 'columns', c.columns,
    'transition', json_build_object('event', c.made_event, 'outcome', c.made_outcome, 'from', c.made_from, 'to', c.made_to, 'version', c.made_version))::text
  END || E'\n'
FROM torture_calls AS c LEFT JOIN torture_history AS h ON h.request_id = c.id
WHERE c.machine = $1 AND c.bundle BETWEEN $2 AND $3`

// passed is what deadlines moved, which nobody called: at any time.
const passed = `
SELECT json_build_object('type', 'call', 'id', format('deadline %s %s', h.key, h.version), 'at', 1, 'client', 'deadline', 'machine', h.machine, 'key', h.key, 'event', h.event, 'params', json_build_object())::text || E'\n' ||
  json_build_object('type', 'return', 'id', format('deadline %s %s', h.key, h.version), 'at', $4::bigint, 'outcome', 'Applied', 'state', h.to_status, 'version', h.version,
    'transition', json_build_object('event', h.event, 'outcome', 'Applied', 'from', h.from_status, 'to', h.to_status, 'version', h.version))::text || E'\n'
FROM torture_history AS h JOIN torture_keys AS k ON k.machine = h.machine AND k.key = h.key
WHERE h.request_id = '' AND h.machine = $1 AND k.bundle BETWEEN $2 AND $3`

// left is what is there in the end. %s are the machine's key, name, table and columns.
const left = `
SELECT json_build_object('type', 'read', 'since', $4::bigint + 1, 'at', $4::bigint + 2, 'client', 'judge', 'machine', $1::text, 'key', r.%[1]s::text, 'state', r.status, 'version', r.version,
  'columns', json_build_object(%[4]s),
  'history', (SELECT json_agg(json_build_object('event', h.event, 'from', h.from_status, 'to', h.to_status, 'version', h.version) ORDER BY h.version)
    FROM torture_history AS h WHERE h.machine = $1 AND h.key = r.%[1]s::text),
  'facts', (SELECT COALESCE(json_agg(json_build_object('event', f.event, 'identity', f.identity, 'fingerprint', f.fingerprint, 'outcome', f.outcome,
    'from', f.from_status, 'to', f.to_status, 'version', f.version)), '[]') FROM %[2]s_facts AS f WHERE f.%[1]s = r.%[1]s))::text || E'\n'
FROM %[3]s AS r JOIN torture_keys AS k ON k.machine = $1 AND k.key = r.%[1]s::text
WHERE k.bundle BETWEEN $2 AND $3`

// explain asks whether there is an order of the calls in which the definition gives the
// answers that were given, and leaves what is there.
func (j *judge) explain(ctx context.Context) error {
	var bundles, end int64
	if err := j.conn.QueryRow(ctx, `SELECT COALESCE(max(bundle), -1), COALESCE(max(GREATEST(begun, ended)), 0) + 1 FROM torture_calls`).Scan(&bundles, &end); err != nil {
		return err
	}
	if _, err := j.conn.Exec(ctx, `DROP TABLE IF EXISTS torture_keys;
		CREATE UNLOGGED TABLE torture_keys AS SELECT machine, key, min(bundle) AS bundle FROM torture_calls GROUP BY machine, key;
		CREATE INDEX ON torture_keys (machine, bundle); CREATE INDEX ON torture_calls (machine, bundle); ANALYZE torture_keys`); err != nil {
		return err
	}
	for _, m := range j.machines {
		if err := j.explainMachine(ctx, m, bundles, end); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return nil
}

func (j *judge) explainMachine(ctx context.Context, m *model.Machine, bundles, end int64) error {
	key := m.Table.Keys[0].Name
	sources := []string{said, passed, fmt.Sprintf(left, key, m.Name, m.Table.Name, shownColumns(m))}
	var refused, undecided []string
	counts := map[string]int64{}
	for first := int64(0); first <= bundles; first += chunk {
		h, err := linear.NewHistory(m)
		if err != nil {
			return err
		}
		for _, sql := range sources {
			lines, err := j.texts(ctx, sql, m.Name, first, first+chunk-1, end)
			if err != nil {
				return err
			}
			if err := h.Read(strings.NewReader(strings.Join(lines, "")), fmt.Sprintf("bundles from %d", first)); err != nil {
				return err
			}
		}
		v, err := linear.Check(ctx, h, linear.Options{Timeout: 2 * time.Minute})
		if err != nil {
			return err
		}
		counts["histories of "+m.Name+" that were checked"] += int64(v.Parts)
		counts["calls and reads in them"] += int64(v.Operations)
		counts["of unknown effect"] += int64(v.Doubtful)
		refused = append(refused, v.Refused...)
		undecided = append(undecided, v.Undecided...)
		if v.Refusal != nil && len(refused) == len(v.Refused) {
			refused[0] += "\n" + v.Refusal.String()
		}
	}
	for _, what := range []string{"histories of " + m.Name + " that were checked", "calls and reads in them", "of unknown effect"} {
		j.report.Checked = append(j.report.Checked, Count{what, counts[what]})
	}
	j.report.add("a history of "+m.Name+" that the definition cannot explain", refused)
	j.report.add("a history of "+m.Name+" that nobody could decide about in time", undecided)
	return nil
}

// shownColumns are the declared columns of r, as names and values.
func shownColumns(m *model.Machine) string {
	var all []string
	for _, c := range m.Table.Columns {
		all = append(all, fmt.Sprintf("'%s', r.%[1]s", c.Name))
	}
	return strings.Join(all, ", ")
}
