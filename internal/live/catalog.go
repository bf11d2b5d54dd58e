package live

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/jackc/pgx/v5"
)

// relation is a table as the catalog knows it.
type relation struct {
	name string
	oid  uint32
	kind string
	// rows and pages are the estimates of the last VACUUM or ANALYZE; rows is
	// negative where there was none.
	rows  float64
	pages int64
	// columns are those that there are, readable those that the role may read.
	columns, readable []string
	indexes           []index
}

// index is one that is valid and not of expressions.
type index struct {
	Method  string   `json:"method"`
	Columns []string `json:"columns"`
	Partial bool     `json:"partial"`
}

// lead reports whether a whole B-tree begins with the column, so that looking for
// one value of it reads few pages.
func (r *relation) lead(column string) bool {
	return slices.ContainsFunc(r.indexes, func(i index) bool { return i.Method == "btree" && !i.Partial && i.Columns[0] == column })
}

// ordered reports whether an index, perhaps partial, finds what is newest or
// smallest in the column.
func (r *relation) ordered(column string, methods ...string) bool {
	return slices.ContainsFunc(r.indexes, func(i index) bool { return i.Columns[0] == column && slices.Contains(methods, i.Method) })
}

// catalog are the relations that are there, by name.
type catalog map[string]*relation

// lookUp reads what the catalog says of tables. It opens none of them, so it waits
// for nobody's lock.
func lookUp(ctx context.Context, tx pgx.Tx, names ...string) (catalog, error) {
	rows, err := tx.Query(ctx, `SELECT n.name, c.oid::bigint, c.relkind::text, c.reltuples::float8, c.relpages::bigint,
  ARRAY(SELECT a.attname::text FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum),
  ARRAY(SELECT a.attname::text FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(c.oid, a.attnum, 'SELECT') ORDER BY a.attnum),
  COALESCE((SELECT json_agg(json_build_object('method', m.amname, 'partial', i.indpred IS NOT NULL, 'columns',
      (SELECT json_agg(COALESCE(a.attname::text, '') ORDER BY k.place) FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k(number, place)
       LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number)))
    FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid JOIN pg_am AS m ON m.oid = x.relam
    WHERE i.indrelid = c.oid AND i.indisvalid AND i.indexprs IS NULL)::text, '[]')
FROM unnest($1::text[]) AS n(name) JOIN pg_class AS c ON c.oid = to_regclass(quote_ident(n.name))
WHERE c.relkind IN ('r', 'p', 'S')`, names)
	if err != nil {
		return nil, err
	}
	found := catalog{}
	for rows.Next() {
		var r relation
		var oid int64
		var indexes string
		if err := rows.Scan(&r.name, &oid, &r.kind, &r.rows, &r.pages, &r.columns, &r.readable, &indexes); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(indexes), &r.indexes); err != nil {
			return nil, err
		}
		r.oid = uint32(oid)
		found[r.name] = &r
	}
	return found, rows.Err()
}

// readable returns the relation when it and all of these columns may be read, nil
// and no error when it is not there.
func (c catalog) readable(name string, columns ...string) (*relation, error) {
	r := c[name]
	if r == nil {
		return nil, nil
	}
	for _, column := range columns {
		switch {
		case !slices.Contains(r.columns, column):
			return nil, &Error{Kind: ErrMissing, Relation: name, Column: column}
		case len(r.readable) == 0:
			return nil, &Error{Kind: ErrDenied, Relation: name}
		case !slices.Contains(r.readable, column):
			return nil, &Error{Kind: ErrDenied, Relation: name, Column: column}
		}
	}
	return r, nil
}

// needed is readable for a table without which there is nothing to say.
func (c catalog) needed(name string, columns ...string) (*relation, error) {
	r, err := c.readable(name, columns...)
	if r == nil && err == nil {
		err = &Error{Kind: ErrMissing, Relation: name}
	}
	return r, err
}
