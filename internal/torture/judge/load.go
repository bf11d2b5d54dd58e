package judge

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/torture/journal"
)

// calls is where the journals go.
const calls = `
DROP TABLE IF EXISTS torture_calls, torture_notes, torture_history, torture_facts, torture_emits, torture_outbox, torture_deadlines;
CREATE UNLOGGED TABLE torture_calls (
  id text NOT NULL, bundle int NOT NULL, grp int NOT NULL, machine text NOT NULL, event text NOT NULL, key text NOT NULL, params jsonb,
  identity text NOT NULL, expected bigint NOT NULL, mode text NOT NULL, thens boolean NOT NULL, begun bigint NOT NULL,
  ended bigint, outcome text NOT NULL, error text NOT NULL, state text NOT NULL, version bigint NOT NULL, columns jsonb,
  made_event text NOT NULL, made_outcome text NOT NULL, made_from text NOT NULL, made_to text NOT NULL, made_version bigint NOT NULL,
  snapshot boolean NOT NULL, runs int NOT NULL);
CREATE UNLOGGED TABLE torture_notes (kind text NOT NULL, text text NOT NULL);`

var callColumns = []string{
	"id", "bundle", "grp", "machine", "event", "key", "params", "identity", "expected", "mode", "thens", "begun",
	"ended", "outcome", "error", "state", "version", "columns",
	"made_event", "made_outcome", "made_from", "made_to", "made_version", "snapshot", "runs",
}

// load copies the journals into the database.
func (j *judge) load(ctx context.Context) error {
	if _, err := j.conn.Exec(ctx, calls); err != nil {
		return err
	}
	var notes [][]any
	for _, path := range j.Journals {
		if err := j.copy(ctx, path, &notes); err != nil {
			return err
		}
	}
	if _, err := j.conn.CopyFrom(ctx, pgx.Identifier{"torture_notes"}, []string{"kind", "text"}, pgx.CopyFromRows(notes)); err != nil {
		return err
	}
	_, err := j.conn.Exec(ctx, `CREATE UNIQUE INDEX ON torture_calls (id); CREATE INDEX ON torture_calls (machine, key, version);
		CREATE INDEX ON torture_calls (grp, begun); ANALYZE torture_calls`)
	return err
}

// copy streams one journal.
func (j *judge) copy(ctx context.Context, path string, notes *[][]any) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	entries, read := make(chan journal.Entry, 1024), make(chan error, 1)
	go func() {
		defer close(entries)
		read <- journal.Read(path, func(e journal.Entry) error {
			select {
			case entries <- e:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	_, err := j.conn.CopyFrom(ctx, pgx.Identifier{"torture_calls"}, callColumns, pgx.CopyFromFunc(func() ([]any, error) {
		for e := range entries {
			if e.Note != nil {
				*notes = append(*notes, []any{e.Note.Kind, e.Note.Text})
				continue
			}
			return row(e), nil
		}
		return nil, nil
	}))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return <-read
}

// row is a call as the table has it. One without an answer is unknown.
func row(e journal.Entry) []any {
	c, a := e.Call, e.Answer
	var ended any
	if a == nil {
		a = &journal.Answer{Outcome: journal.Unknown, Error: "its service was killed before it had an answer"}
	} else {
		ended = a.At
	}
	m := a.Made
	return []any{
		c.ID, c.Bundle, c.Group, c.Machine, c.Event, c.Key, c.Params, c.Identity, c.Version, c.Mode, c.Then, c.At,
		ended, a.Outcome, a.Error, a.State, a.Version, a.Columns, m.Event, m.Outcome, m.From, m.To, m.Version, a.Snapshot, a.Runs,
	}
}

// histories puts those of all machines together, and so the facts and the outbox.
func (j *judge) histories(ctx context.Context) error {
	var histories, facts []string
	for _, m := range j.machines {
		key := m.Table.Keys[0].Name
		histories = append(histories, fmt.Sprintf(`SELECT '%s' AS machine, h.%s::text AS key, h.version, h.event, COALESCE(h.from_status, '') AS from_status,
			h.to_status, h.actor, h.request_id, h.forced, h.at, r.status, r.version AS row_version, r.%s AS deadline_at, r.%s AS deadline_runs
			FROM %s_history AS h LEFT JOIN %s AS r ON r.%s = h.%s`, m.Name, key, m.Table.Deadline, m.Table.Runs, m.Name, m.Table.Name, key, key))
		if identified(m) {
			facts = append(facts, fmt.Sprintf(`SELECT '%s' AS machine, %s::text AS key, event, identity, outcome, from_status, to_status, version FROM %s_facts`, m.Name, key, m.Name))
		}
	}
	_, err := j.conn.Exec(ctx, `
		CREATE UNLOGGED TABLE torture_history AS `+strings.Join(histories, " UNION ALL ")+`;
		CREATE UNLOGGED TABLE torture_facts AS `+strings.Join(facts, " UNION ALL ")+`;
		CREATE UNLOGGED TABLE torture_outbox AS
		  SELECT id, machine, key, version, event, topic, payload FROM fsm_outbox
		  UNION ALL SELECT id, machine, key, version, event, topic, payload FROM fsm_outbox_sent
		  UNION ALL SELECT id, machine, key, version, event, topic, payload FROM fsm_outbox_aside;
		CREATE INDEX ON torture_history (machine, key, version); CREATE INDEX ON torture_history (request_id);
		CREATE INDEX ON torture_facts (machine, event, identity); CREATE INDEX ON torture_facts (machine, key, version);
		ANALYZE torture_history; ANALYZE torture_facts; ANALYZE torture_outbox`)
	return err
}

func identified(m *model.Machine) bool {
	for _, e := range m.Events {
		if len(e.Identity) > 0 {
			return true
		}
	}
	return false
}

// rules writes down what is emitted when, and which events have identities.
func (j *judge) rules(ctx context.Context) error {
	if _, err := j.conn.Exec(ctx, `CREATE UNLOGGED TABLE torture_emits (machine text, event text, outcome text, from_status text, to_status text, topic text);
		CREATE UNLOGGED TABLE torture_deadlines (machine text, status text, event text, after interval, max int);
		CREATE UNLOGGED TABLE IF NOT EXISTS torture_identified (machine text, event text); TRUNCATE torture_identified`); err != nil {
		return err
	}
	var emits, events, deadlines [][]any
	for _, m := range j.machines {
		for _, s := range m.States {
			if s.Initial {
				emits = append(emits, topics(m.CreateEmit, m.Name, "create", "Applied", "", s.Name)...)
			}
		}
		deadlines = append(deadlines, due(m)...)
		for _, t := range m.Transitions {
			for _, from := range t.From {
				emits = append(emits, topics(t.Emit, m.Name, t.Event.Name, "Applied", from.Name, t.To.Name)...)
			}
		}
		for _, e := range m.Events {
			if len(e.Identity) > 0 {
				events = append(events, []any{m.Name, e.Name})
			}
			for _, c := range e.Cells {
				if c.Otherwise == model.Compensate {
					emits = append(emits, topics(c.Emit, m.Name, e.Name, "Compensated", c.State.Name, c.State.Name)...)
				}
			}
		}
	}
	if _, err := j.conn.CopyFrom(ctx, pgx.Identifier{"torture_emits"}, []string{"machine", "event", "outcome", "from_status", "to_status", "topic"}, pgx.CopyFromRows(emits)); err != nil {
		return err
	}
	if _, err := j.conn.CopyFrom(ctx, pgx.Identifier{"torture_deadlines"}, []string{"machine", "status", "event", "after", "max"}, pgx.CopyFromRows(deadlines)); err != nil {
		return err
	}
	_, err := j.conn.CopyFrom(ctx, pgx.Identifier{"torture_identified"}, []string{"machine", "event"}, pgx.CopyFromRows(events))
	return err
}

func topics(emit []string, rest ...any) (rows [][]any) {
	for _, topic := range emit {
		rows = append(rows, append(append([]any{}, rest...), topic))
	}
	return rows
}
