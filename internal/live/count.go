package live

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/internal/model"
)

// Counts are the rows of a machine's table.
type Counts struct {
	// Exact says that all rows were counted; else they are estimated.
	Exact bool
	// Total is the number of rows, and States has it by state, in the order declared,
	// those that no state is declared for behind.
	Total  int64
	States []StateCount
}

// StateCount is the rows in one state.
type StateCount struct {
	// State is a declared name where Declared is true, else what the column holds.
	State    string
	Declared bool
	Rows     int64
	// First is the smallest deadline, of an exact count alone; nil where none is set.
	First *time.Time
}

// Of returns the count of a state, zero for none.
func (c Counts) Of(state string) int64 {
	for _, s := range c.States {
		if s.State == state && s.Declared {
			return s.Rows
		}
	}
	return 0
}

// small is a table that is counted rather than estimated: it takes a few
// milliseconds. samplePages are read of a large one that nobody analysed.
const (
	small       = 4 << 20
	samplePages = 200
)

// Estimate says at once about how many rows stand in each state: by what the last
// ANALYZE found, or by a sample of some pages where there was none. A small table is
// counted. The errors are *Error and ctx's.
func (d *Database) Estimate(ctx context.Context, m *model.Machine) (Counts, error) {
	l := lifecycle{m}
	var counts Counts
	err := d.read(ctx, d.quick, "", func(ctx context.Context, tx pgx.Tx) error {
		found, err := lookUp(ctx, tx, l.Table.Name)
		if err != nil {
			return err
		}
		table, err := found.needed(l.Table.Name, l.Table.Status.Column)
		if err != nil {
			return err
		}
		size, err := sizeOf(ctx, tx, table)
		if err != nil {
			return err
		}
		if size <= small {
			counts, err = l.count(ctx, tx, table)
			return err
		}
		counts, err = l.estimate(ctx, tx, table, size)
		return err
	})
	return counts, err
}

// sizeOf is how many bytes a table has now, with its partitions.
func sizeOf(ctx context.Context, tx pgx.Tx, table *relation) (int64, error) {
	return pick[int64](ctx, tx, "SELECT COALESCE(sum(pg_relation_size(t.relid)), 0)::bigint FROM ("+parts+") AS t", int64(table.oid))
}

// samplePercent is the part of a table of that size that samplePages are.
func samplePercent(size int64) float64 {
	return min(100, 100*float64(samplePages)*8192/float64(max(1, size)))
}

// share is how much of a table is in a state.
type share struct {
	Status string
	Part   float64
}

// estimate goes by the statistics, which the role sees if it may read the column, or
// by a sample.
func (l lifecycle) estimate(ctx context.Context, tx pgx.Tx, table *relation, size int64) (Counts, error) {
	const known = `SELECT v.status, v.part::float8 FROM pg_stats AS s JOIN pg_class AS c ON c.relname = s.tablename JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = s.schemaname,
  unnest(s.most_common_vals::text::text[], s.most_common_freqs) AS v(status, part)
WHERE c.oid = $1::oid AND s.attname = $2 AND s.inherited = (c.relkind = 'p')`
	shares, err := all[share](ctx, tx, known, int64(table.oid), l.Table.Status.Column)
	if err != nil {
		return Counts{}, err
	}
	total := table.rows
	if table.pages > 0 && total > 0 && table.kind == "r" { // the table has grown since
		total *= float64(size/8192) / float64(table.pages)
	}
	if len(shares) == 0 || table.rows < 0 {
		percent := samplePercent(size)
		sampled, err := all[share](ctx, tx, fmt.Sprintf("SELECT s.%[1]s::text, count(*)::float8 FROM %[2]s AS s TABLESAMPLE SYSTEM (%[3]g) GROUP BY 1",
			ident(l.Table.Status.Column), ident(l.Table.Name), percent))
		if err != nil {
			return Counts{}, err
		}
		total, shares = 0, sampled
		for _, s := range sampled {
			total += s.Part * 100 / percent
		}
		for i := range shares {
			shares[i].Part *= 100 / percent / max(total, 1)
		}
	}
	rows := make([]stored, len(shares))
	for i, s := range shares {
		rows[i] = stored{Status: &s.Status, Rows: int64(s.Part * total)}
	}
	return l.counts(rows, false), nil
}

// stored is the rows of one value of the status column.
type stored struct {
	Status *string
	Rows   int64
	First  *time.Time
}

// counts puts rows by their status into the order of the states.
func (l lifecycle) counts(rows []stored, exact bool) Counts {
	c := Counts{Exact: exact, States: make([]StateCount, len(l.States))}
	for i, s := range l.States {
		c.States[i] = StateCount{State: s.Name, Declared: true}
	}
	for _, r := range rows {
		c.Total += r.Rows
		text := "NULL"
		if r.Status != nil {
			text = *r.Status
		}
		s := l.state(text, true)
		if s == nil {
			c.States = append(c.States, StateCount{State: text, Rows: r.Rows, First: r.First})
			continue
		}
		at := &c.States[s.Index] // two values may be one state: its name, and the one before
		at.Rows += r.Rows
		if r.First != nil && (at.First == nil || r.First.Before(*at.First)) {
			at.First = r.First
		}
	}
	return c
}

// Count counts all rows of the table, by reading it whole: a million in a few
// tenths of a second. The errors are *Error and ctx's.
func (d *Database) Count(ctx context.Context, m *model.Machine) (Counts, error) {
	l := lifecycle{m}
	var counts Counts
	err := d.readWhole(ctx, l.Table.Name, func(ctx context.Context, tx pgx.Tx) error {
		found, err := lookUp(ctx, tx, l.Table.Name)
		if err != nil {
			return err
		}
		table, err := found.needed(l.Table.Name, l.Table.Status.Column)
		if err != nil {
			return err
		}
		counts, err = l.count(ctx, tx, table)
		return err
	})
	return counts, err
}

// count is a count of all rows, with the smallest deadline of each state.
func (l lifecycle) count(ctx context.Context, tx pgx.Tx, table *relation) (Counts, error) {
	first := "NULL::timestamptz"
	if l.Deadlines() {
		if _, err := (catalog{table.name: table}).readable(table.name, l.Table.Deadline); err != nil {
			return Counts{}, err
		}
		first = "min(s." + ident(l.Table.Deadline) + ") FILTER (WHERE isfinite(s." + ident(l.Table.Deadline) + "))"
	}
	rows, err := all[stored](ctx, tx, fmt.Sprintf("SELECT s.%s::text, count(*), %s FROM %s AS s GROUP BY 1 ORDER BY 1", ident(l.Table.Status.Column), first, ident(l.Table.Name)))
	return l.counts(rows, true), err
}
