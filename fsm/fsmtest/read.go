package fsmtest

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// typedRow reads the row into the generated type, by a statement of its own.
func (e *engine) typedRow(ctx context.Context, r *row) (any, error) {
	m := e.m
	var list []string
	for _, k := range m.Key {
		list = append(list, asGo("o."+quoted(k.Name), k, true))
	}
	status := "CASE o." + quoted(m.Status) + "::text"
	for _, s := range m.States {
		for _, stored := range s.Stored {
			status += fmt.Sprintf(" WHEN %s THEN %s", literal(stored), literal(s.Name))
		}
	}
	list = append(list, status+" END", "o."+quoted(m.Version)+"::bigint")
	if m.Deadline != "" {
		list = append(list, "o."+quoted(m.Deadline))
	}
	if m.Runs != "" {
		list = append(list, "o."+quoted(m.Runs)+"::integer")
	}
	as := once
	for _, c := range m.Columns {
		list = append(list, asGo("o."+quoted(c.Name), c, false))
		if base(c.Type) == "numeric" {
			as = pgx.QueryExecModeDescribeExec // pgx reads 0.00 as another zero from text than from binary, as calls have it
		}
	}
	return m.Row(e.pool.QueryRow(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+quoted(m.Table)+" AS o WHERE "+e.where(r, "o"), as).Scan)
}

// leave takes from an expectation the columns that the machine does not know: a
// trigger of the table's owner may set them whenever a row is written. A call
// that writes nothing leaves them too.
func (e *engine) leave(before, must, after snapshot) {
	if before.Tuple == after.Tuple {
		return
	}
	known := map[string]bool{e.m.Status: true, e.m.Version: true, e.m.Deadline: true, e.m.Runs: true}
	for _, c := range e.m.Key {
		known[c.Name] = true
	}
	for _, c := range e.m.Columns {
		known[c.Name] = true
	}
	for name, value := range after.Row {
		if !known[name] && must.Row != nil {
			must.Row[name] = value
		}
	}
}
