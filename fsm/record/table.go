package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Table is where a machine keeps its rows, and what lies beside it.
type Table struct {
	// Name is the table's name, with its schema before a dot where it has one.
	Name string
	// Key are the columns of its key.
	Key []string
	// Status and Version are the machine's columns, by default those of these names.
	Status, Version string
	// History and Facts are the tables of that, by default the machine's name with
	// _history and _facts. NoFacts says that the machine has none.
	History, Facts string
	NoFacts        bool
	// Columns are the declared columns whose values are recorded. Where guards and
	// checks hang on others, the history cannot be held against them.
	Columns []string
	// Outbox has fsm_outbox read too. Rows that were delivered are gone from there, so
	// only a history without a relay can be compared with it.
	Outbox bool
}

// Began records all rows of the table as [Recorder.Begins] does, with their history and
// facts, and that there are no others, for a history that begins with rows that are
// there. Whoever reads needs SELECT on all of that, as the role reader of gen/roles.sql
// has it, and the service's app has not for the outbox. The error wraps the database's,
// or is that of writing.
func (r *Recorder) Began(ctx context.Context, db TxBeginner, t Table) error {
	rows, keys, err := r.rows(ctx, db, t)
	if err != nil {
		return fmt.Errorf("record: began: %w", err)
	}
	for _, key := range keys {
		r.to.write((&line{Type: typeRow, Machine: r.machine, Key: &key}).saw(*rows[key]))
	}
	r.to.write(&line{Type: typeRow, Machine: r.machine, Gone: true})
	return r.Err()
}

// Found records all rows of the table as [Recorder.Read] does, in one snapshot, and that
// there are no others: rows of the history that are not among them are gone. Rows that
// the history does not know were made by nobody, which a check refuses, unless
// [Recorder.Begins] alone told of rows from before. At the end of a history it shows
// what was lost or done twice without anybody being told. It needs what Began needs.
// The error wraps the database's, or is that of writing.
func (r *Recorder) Found(ctx context.Context, db TxBeginner, t Table) error {
	since := r.to.now()
	rows, keys, err := r.rows(ctx, db, t)
	if err != nil {
		return fmt.Errorf("record: found: %w", err)
	}
	for _, key := range keys {
		r.to.write((&line{Type: typeRead, Machine: r.machine, Key: &key, Since: since}).saw(*rows[key]))
	}
	r.to.write(&line{Type: typeRead, Machine: r.machine, Since: since, Gone: true})
	return r.Err()
}

// TxBeginner starts transactions: *pgxpool.Pool, *pgxpool.Conn, *pgx.Conn.
type TxBeginner interface {
	BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error)
}

// rows reads all in one snapshot, with the keys in the order of the text.
func (r *Recorder) rows(ctx context.Context, db TxBeginner, t Table) (map[string]*Row, []string, error) {
	tx, err := db.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // it only reads
	if _, err := tx.Exec(ctx, spelled); err != nil {
		return nil, nil, err
	}
	see := reading{ctx: ctx, tx: tx, rows: map[string]*Row{}, key: keyOf(t.Key)}
	see.table(t)
	see.beside(see.history, or(t.History, r.machine+"_history"), "Table.History names another")
	if !t.NoFacts {
		see.beside(see.facts, or(t.Facts, r.machine+"_facts"), "Table.Facts names another, Table.NoFacts says that there is none")
	}
	if t.Outbox {
		see.outbox(r.machine)
	}
	return see.rows, see.keys, see.err
}

func or(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}

func quoted(name string) string { return pgx.Identifier(strings.Split(name, ".")).Sanitize() }

// spelled makes values the same text whatever the session's settings, until the
// transaction ends. The encoding stays that of the session: calls are written in it.
const spelled = `SELECT set_config('datestyle', 'ISO, YMD', true), set_config('timezone', 'UTC', true), set_config('intervalstyle', 'postgres', true),
  set_config('extra_float_digits', '1', true), set_config('bytea_output', 'hex', true)`

// keyOf is the SQL of a key's text, as the outbox has it where values are spelled.
func keyOf(columns []string) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = "o." + pgx.Identifier{c}.Sanitize()
	}
	if len(names) == 1 {
		return names[0] + "::text"
	}
	return "jsonb_build_array(" + strings.Join(names, ", ") + ")::text"
}

// reading is what has been read so far. After an error nothing more is read.
type reading struct {
	ctx  context.Context //nolint:containedctx // it lives as long as one call
	tx   pgx.Tx
	key  string
	rows map[string]*Row
	keys []string
	err  error
}

// each runs a query whose first column is the key.
func (s *reading) each(sql string, args []any, targets []any, key *string, take func(*Row)) {
	if s.err != nil {
		return
	}
	found, err := s.tx.Query(s.ctx, sql, args...)
	if err != nil {
		s.err = err
		return
	}
	_, s.err = pgx.ForEachRow(found, append([]any{key}, targets...), func() error {
		if row := s.rows[*key]; row != nil { // what belongs to no row is audit's to find
			take(row)
		}
		return nil
	})
}

func (s *reading) table(t Table) {
	if s.err != nil {
		return
	}
	found, err := s.tx.Query(s.ctx, fmt.Sprintf("SELECT %s AS key, o.%s::text, o.%s, to_jsonb(o) FROM %s AS o ORDER BY 1", s.key,
		pgx.Identifier{or(t.Status, "status")}.Sanitize(), pgx.Identifier{or(t.Version, "version")}.Sanitize(), quoted(t.Name)))
	if err != nil {
		s.err = err
		return
	}
	var key string
	var row Row
	var columns []byte
	_, s.err = pgx.ForEachRow(found, []any{&key, &row.State, &row.Version, &columns}, func() error {
		seen := row
		var all map[string]json.RawMessage // whose numbers keep their digits
		if err := json.Unmarshal(columns, &all); err != nil {
			return err
		}
		for _, c := range t.Columns {
			v, ok := all[c]
			if !ok {
				return fmt.Errorf("record: the table %s has no column %s", t.Name, c)
			}
			if seen.Columns == nil {
				seen.Columns = map[string]any{}
			}
			seen.Columns[c] = v
		}
		s.rows[key], s.keys = &seen, append(s.keys, key)
		return nil
	})
}

// beside reads a table that belongs to the rows. Where there is no such table, the error
// says which field of Table would have named it.
func (s *reading) beside(read func(string), table, otherwise string) {
	if s.err != nil {
		return
	}
	read(table)
	if refused := (*pgconn.PgError)(nil); errors.As(s.err, &refused) && refused.Code == undefinedTable {
		s.err = fmt.Errorf("%w; %s", s.err, otherwise)
	}
}

// undefinedTable is the SQLSTATE of a table that there is not.
const undefinedTable = "42P01"

func (s *reading) history(table string) {
	for _, row := range s.rows {
		row.History = []Transition{}
	}
	var key string
	var t Transition
	s.each(fmt.Sprintf("SELECT %s, o.version, o.event, COALESCE(o.from_status, ''), o.to_status FROM %s AS o ORDER BY 1, 2", s.key, quoted(table)), nil,
		[]any{&t.Version, &t.Event, &t.From, &t.To}, &key, func(row *Row) { row.History = append(row.History, t) })
}

func (s *reading) facts(table string) {
	for _, row := range s.rows {
		row.Facts = []Fact{}
	}
	var key string
	var f Fact
	s.each(fmt.Sprintf("SELECT %s, o.event, o.identity, o.fingerprint, o.outcome, o.from_status, o.to_status, o.version FROM %s AS o ORDER BY 1, o.event, o.identity", s.key, quoted(table)), nil,
		[]any{&f.Event, &f.Identity, &f.Fingerprint, &f.Outcome, &f.From, &f.To, &f.Version}, &key, func(row *Row) { row.Facts = append(row.Facts, f) })
}

func (s *reading) outbox(machine string) {
	for _, row := range s.rows {
		row.Outbox = []Emitted{}
	}
	var key string
	var e Emitted
	s.each("SELECT o.key, o.event, o.topic, o.version FROM fsm_outbox AS o WHERE o.machine = $1 ORDER BY o.id", []any{machine},
		[]any{&e.Event, &e.Topic, &e.Version}, &key, func(row *Row) { row.Outbox = append(row.Outbox, e) })
}
