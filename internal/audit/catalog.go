package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/internal/sqlname"
)

// relation is a table as the catalog knows it.
type relation struct {
	name        string
	oid         uint32
	schema      uint32
	rows        float64 // an estimate, negative when there is none
	columns     map[string]column
	constraints []constraint
	triggers    map[string]trigger
	// uniques are the columns of the unique indexes by which a row is found.
	uniques [][]string
}

type column struct {
	typ       string
	mayBeNull bool
	collation uint32
}

type constraint struct {
	name, kind string
	expr       string // of a CHECK
	valid      bool
	columns    []string
}

type trigger struct {
	enabled, function string
	// body is the function's text, empty where it is not in PL/pgSQL.
	body      string
	schema    uint32 // the function's
	fires     int64
	ofColumns bool
	def       string
}

// constraint returns that of a name and kind over exactly these columns, nil
// for none.
func (r *relation) constraint(name, kind string, columns ...string) *constraint {
	slices.Sort(columns)
	for i, c := range r.constraints {
		if c.name == name && c.kind == kind && slices.Equal(c.columns, columns) {
			return &r.constraints[i]
		}
	}
	return nil
}

// unique reports whether a unique index, of a constraint or bare, is over
// exactly these columns.
func (r *relation) unique(columns ...string) bool {
	slices.Sort(columns)
	return slices.ContainsFunc(r.uniques, func(is []string) bool { return slices.Equal(is, columns) })
}

// missing says that a table is not there.
func missing(table string) error {
	return &Error{Kind: ErrMissing, Detail: "there is no table " + table}
}

// lookUp reads what the catalog says of a table, with the columns that will be
// read. The error is an *Error.
func lookUp(ctx context.Context, tx pgx.Tx, table string, needs ...string) (*relation, error) {
	r := &relation{name: table, columns: map[string]column{}, triggers: map[string]trigger{}}
	var readable bool
	var kind string
	err := tx.QueryRow(ctx, `SELECT c.oid, c.relnamespace, c.reltuples::float8, c.relkind::text, has_table_privilege(c.oid, 'SELECT')
		FROM pg_class AS c WHERE c.oid = to_regclass($1)`, sqlname.Ident(table)).Scan(&r.oid, &r.schema, &r.rows, &kind, &readable)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, missing(table)
	case err != nil:
		return nil, readError(ctx, "", err)
	case kind != "r" && kind != "p":
		return nil, &Error{Kind: ErrMissing, Detail: table + " is no table"}
	case !readable:
		return nil, &Error{Kind: ErrPermission, Detail: "SELECT on " + table + " is not granted"}
	}
	for _, read := range []func(context.Context, pgx.Tx) error{r.readColumns, r.readConstraints, r.readUniques, r.readTriggers} {
		if err := read(ctx, tx); err != nil {
			return nil, readError(ctx, table, err)
		}
	}
	for _, name := range needs {
		if _, there := r.columns[name]; !there {
			return nil, &Error{Kind: ErrMissing, Detail: fmt.Sprintf("%s has no column %s", table, name)}
		}
	}
	return r, nil
}

func (r *relation) readColumns(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `SELECT a.attname::text, CASE WHEN t.typtype = 'e' THEN t.typname::text ELSE format_type(a.atttypid, NULL) END, NOT a.attnotnull, a.attcollation
		FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
		WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped`, r.oid)
	if err != nil {
		return err
	}
	var name string
	var c column
	_, err = pgx.ForEachRow(rows, []any{&name, &c.typ, &c.mayBeNull, &c.collation}, func() error {
		r.columns[name] = c
		return nil
	})
	return err
}

func (r *relation) readConstraints(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `SELECT c.conname::text, c.contype::text, COALESCE(pg_get_expr(c.conbin, c.conrelid), ''), c.convalidated,
		ARRAY(SELECT a.attname::text FROM pg_attribute AS a WHERE a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey) ORDER BY a.attname::text COLLATE "C")
		FROM pg_constraint AS c WHERE c.conrelid = $1 AND c.contype IN ('c', 'p') ORDER BY c.conname`, r.oid)
	if err != nil {
		return err
	}
	var c constraint
	_, err = pgx.ForEachRow(rows, []any{&c.name, &c.kind, &c.expr, &c.valid, &c.columns}, func() error {
		r.constraints = append(r.constraints, c)
		c.columns = nil
		return nil
	})
	return err
}

// readUniques reads what ON CONFLICT can go by: whole, valid and immediate.
func (r *relation) readUniques(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `SELECT ARRAY(SELECT a.attname::text FROM pg_attribute AS a
			WHERE a.attrelid = i.indrelid AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1]) ORDER BY a.attname::text COLLATE "C")
		FROM pg_index AS i WHERE i.indrelid = $1 AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL`, r.oid)
	if err != nil {
		return err
	}
	r.uniques, err = pgx.CollectRows(rows, pgx.RowTo[[]string])
	return err
}

func (r *relation) readTriggers(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `SELECT t.tgname::text, t.tgenabled::text, p.proname::text, CASE WHEN l.lanname = 'plpgsql' THEN p.prosrc ELSE '' END, p.pronamespace,
			t.tgtype::bigint, cardinality(t.tgattr::int2[]) > 0, pg_get_triggerdef(t.oid)
		FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid JOIN pg_language AS l ON l.oid = p.prolang
		WHERE t.tgrelid = $1 AND NOT t.tgisinternal`, r.oid)
	if err != nil {
		return err
	}
	var name string
	var g trigger
	_, err = pgx.ForEachRow(rows, []any{&name, &g.enabled, &g.function, &g.body, &g.schema, &g.fires, &g.ofColumns, &g.def}, func() error {
		r.triggers[name] = g
		return nil
	})
	return err
}
