package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-go/pawl/internal/model"
)

// deadlines says when each row is due and how often its deadline ran, by its history:
// a state that is entered by its deadline's own event has run once more.
const deadlines = `
SELECT format('%s %s in %s: due %s, %s runs', l.machine, l.key, l.to_status, l.deadline_at, l.deadline_runs) FROM (
  SELECT DISTINCT ON (machine, key) * FROM torture_history ORDER BY machine, key, version DESC
) AS l LEFT JOIN torture_deadlines AS d ON d.machine = l.machine AND d.status = l.to_status
CROSS JOIN LATERAL (SELECT CASE WHEN d.max > 0 THEN l.version - max(h.version) ELSE 0 END AS runs FROM torture_history AS h
  WHERE h.machine = l.machine AND h.key = l.key AND NOT (d.status IS NOT NULL AND h.event = d.event AND h.from_status = d.status AND h.to_status = d.status)) AS r
WHERE l.status IS NOT NULL AND (l.deadline_runs IS DISTINCT FROM r.runs
  OR l.deadline_at IS DISTINCT FROM CASE WHEN d.max = 0 OR r.runs < d.max THEN l.at + d.after END)`

// payloads says what each message of the outbox carries. Who brought a fact is not
// always known: then one of those who may have.
const payloads = `
SELECT format('%s %s version %s %s: %s', o.machine, o.key, o.version, o.topic, o.payload) FROM torture_outbox AS o
WHERE NOT EXISTS (
  SELECT FROM torture_history AS h LEFT JOIN torture_calls AS c ON c.id = h.request_id
  LEFT JOIN torture_facts AS f ON f.machine = h.machine AND f.key = h.key AND f.version = h.version AND f.event = h.event AND f.outcome = 'Applied'
  WHERE h.machine = o.machine AND h.key = o.key AND h.version = o.version AND h.event = o.event
    AND o.payload = jsonb_build_object('machine', h.machine, 'key', h.key, 'version', h.version, 'event', h.event, 'from', NULLIF(h.from_status, ''), 'to', h.to_status,
      'params', COALESCE(NULLIF(c.params, 'null'), '{}'), 'identity', f.identity))
AND NOT EXISTS (
  SELECT FROM torture_facts AS f JOIN torture_calls AS c ON c.machine = f.machine AND c.key = f.key AND c.event = f.event AND c.identity = f.identity
  WHERE f.machine = o.machine AND f.key = o.key AND f.version = o.version AND f.event = o.event AND f.outcome = 'Compensated' AND c.outcome IN ('Compensated', 'unknown')
    AND o.payload = jsonb_build_object('machine', f.machine, 'key', f.key, 'version', f.version, 'event', f.event, 'from', f.from_status, 'to', f.to_status,
      'params', c.params, 'identity', f.identity))`

// carried is what rows and messages must say, by the definitions and the histories.
func (j *judge) carried() []comparison {
	all := []comparison{
		{"a row's deadline, or how often it ran, is not what the definition says", deadlines},
		{"a message does not carry what happened", payloads},
		{"two messages carry the same", `
SELECT format('%s %s version %s %s: %s', machine, key, version, topic, payload) FROM torture_outbox
GROUP BY machine, key, version, event, topic, payload HAVING count(*) > 1`},
	}
	if !j.Since.IsZero() {
		all = append(all, comparison{"a transition is from another time than the trial's", fmt.Sprintf(`
SELECT format('%%s %%s version %%s: %%s', machine, key, version, at) FROM torture_history
WHERE at < timestamptz '%s' - interval '1 minute' OR at > now() + interval '1 day'`, j.Since.UTC().Format(time.RFC3339))})
	}
	for _, m := range j.machines {
		for _, c := range m.Table.Columns {
			if moves := stamps(m, c); len(moves) > 0 {
				all = append(all, comparison{"a time is not that of the transition that set it", fmt.Sprintf(`
SELECT format('%[1]s %%s %[2]s: %%s, and not %%s', r.%[4]s, r.%[2]s, s.at) FROM %[3]s AS r
LEFT JOIN LATERAL (SELECT h.at FROM torture_history AS h WHERE h.machine = '%[1]s' AND h.key = r.%[4]s::text
  AND (h.event, h.from_status, h.to_status) IN (%[5]s) ORDER BY h.version DESC LIMIT 1) AS s ON true
WHERE r.%[2]s IS DISTINCT FROM s.at`, m.Name, c.Name, m.Table.Name, m.Table.Keys[0].Name, strings.Join(moves, ", "))})
			}
		}
	}
	return all
}

// stamps are the moves that write down when they were made, as lists of event, from and
// to: none where the column gets its value in another way, too.
func stamps(m *model.Machine, c *model.Column) (moves []string) {
	if c.Default != nil || !m.Sets(c) || slices.Contains(m.Created(), c) {
		return nil
	}
	sets := map[string]bool{}
	for _, t := range m.Transitions {
		at := slices.IndexFunc(t.Set, func(a model.Assignment) bool { return a.Column == c })
		if at >= 0 && (len(t.Set[at].Value.Parts) != 1 || t.Set[at].Value.Parts[0].Kind != model.Now) {
			return nil
		}
		for _, from := range t.From {
			move := fmt.Sprintf("('%s', '%s', '%s')", t.Event.Name, from.Name, t.To.Name)
			if was, twice := sets[move]; twice && was != (at >= 0) {
				return nil
			} else if !twice && at >= 0 {
				moves = append(moves, move)
			}
			sets[move] = at >= 0
		}
	}
	return moves
}

// due are the rows of torture_deadlines.
func due(m *model.Machine) (rows [][]any) {
	for _, s := range m.States {
		if d := s.Deadline; d != nil {
			rows = append(rows, []any{m.Name, s.Name, d.Event.Name, d.After, d.Max})
		}
	}
	return rows
}
