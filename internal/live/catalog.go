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
	// policies says that row-level security decides which rows the role sees.
	policies bool
	// columns are those that there are, readable those that the role may read.
	columns, readable []string
	indexes           []index
}

// index is one that is valid and not of expressions, of all rows or of those whose first
// column is set, and that orders by the column's own collation.
type index struct {
	Method  string   `json:"method"`
	Columns []string `json:"columns"`
	// Partial says that it is of the rows whose first column is set.
	Partial bool `json:"partial"`
}

// lead reports whether a whole B-tree begins with the column, so that looking for
// one value of it reads few pages.
func (r *relation) lead(column string) bool {
	return slices.ContainsFunc(r.indexes, func(i index) bool { return i.Method == "btree" && !i.Partial && i.Columns[0] == column })
}

// ordered reports whether an index finds what is newest or smallest in the column, of the
// rows where it is set.
func (r *relation) ordered(column string, methods ...string) bool {
	return slices.ContainsFunc(r.indexes, func(i index) bool { return i.Columns[0] == column && slices.Contains(methods, i.Method) })
}

// catalog are the relations that are there, by name.
type catalog map[string]*relation

// lookUp reads what the catalog says of tables. It opens none of them, so it waits
// for nobody's lock.
func lookUp(ctx context.Context, tx pgx.Tx, names ...string) (catalog, error) {
	rows, err := tx.Query(ctx, `SELECT n.name, c.oid::bigint, row_security_active(c.oid),
  ARRAY(SELECT a.attname::text FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum),
  ARRAY(SELECT a.attname::text FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(c.oid, a.attnum, 'SELECT') ORDER BY a.attnum),
  COALESCE((SELECT json_agg(json_build_object('method', m.amname, 'partial', i.indpred IS NOT NULL, 'columns',
      (SELECT json_agg(COALESCE(a.attname::text, '') ORDER BY k.place) FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k(number, place)
       LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number)))
    FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid JOIN pg_am AS m ON m.oid = x.relam
    JOIN pg_attribute AS f ON f.attrelid = i.indrelid AND f.attnum = i.indkey[0]
    WHERE i.indrelid = c.oid AND i.indisvalid AND i.indexprs IS NULL AND i.indcollation[0] = f.attcollation
      AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) = format('(%I IS NOT NULL)', f.attname)))::text, '[]')
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
		if err := rows.Scan(&r.name, &oid, &r.policies, &r.columns, &r.readable, &indexes); err != nil {
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

// policed are those of the names whose rows a policy of row-level security may hide from
// the role.
func (c catalog) policed(names ...string) []string {
	var of []string
	for _, name := range names {
		if r := c[name]; r != nil && r.policies {
			of = append(of, name)
		}
	}
	return of
}

// needed is readable for a table without which there is nothing to say.
func (c catalog) needed(name string, columns ...string) (*relation, error) {
	r, err := c.readable(name, columns...)
	if r == nil && err == nil {
		err = &Error{Kind: ErrMissing, Relation: name}
	}
	return r, err
}
