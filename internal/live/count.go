package live

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/internal/model"
)

// Counts are the rows of a machine's table.
type Counts struct {
	// Exact says that all rows were counted; else they are estimated.
	Exact bool
	// Total is the number of rows, and States has it by state, in the order declared,
	// those that no state is declared for behind: the most frequent of them, and the
	// others together.
	Total  int64
	States []StateCount
	// Policies names the table where row-level security decides which rows the role sees:
	// all of this is of those rows then, and not of the table. Here and below.
	Policies []string
}

// StateCount is the rows in one state.
type StateCount struct {
	// State is a declared name where Declared is true, else what the column holds, cut
	// to maxValue characters.
	State    string
	Declared bool
	Rows     int64
	// Others is of how many values this is, where there are more than are named; State
	// is empty then.
	Others int64
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
		size, err := extentOf(ctx, tx, table)
		if err != nil {
			return err
		}
		if size.Bytes <= small {
			counts, err = l.count(ctx, tx, table)
			return err
		}
		counts, err = l.estimate(ctx, tx, table, size)
		return err
	})
	return counts, err
}

// extent is how large a table is with its partitions: now, and when VACUUM or ANALYZE last
// looked, at those that it has looked at.
type extent struct {
	Bytes, Pages int64
	Rows         float64
	Counted      int64 // pages that Rows were in
}

func extentOf(ctx context.Context, tx pgx.Tx, table *relation) (extent, error) {
	rows, err := all[extent](ctx, tx, `SELECT COALESCE(sum(p.size), 0)::bigint, COALESCE(sum(p.size), 0)::bigint / current_setting('block_size')::bigint,
  COALESCE(sum(p.reltuples) FILTER (WHERE p.relpages > 0), 0)::float8, COALESCE(sum(p.relpages), 0)::bigint
FROM (SELECT pg_relation_size(c.oid) AS size, c.reltuples::float8, c.relpages::bigint FROM (`+parts+`) AS t JOIN pg_class AS c ON c.oid = t.relid) AS p`, int64(table.oid))
	if err != nil || len(rows) == 0 {
		return extent{}, err
	}
	return rows[0], nil
}

// rows is about how many rows there are now, 0 where that was never looked at.
func (e extent) rows() float64 {
	if e.Counted == 0 {
		return 0
	}
	return e.Rows * float64(e.Pages) / float64(e.Counted) // it may have grown since
}

// samplePercent is the part of the table that samplePages are.
func (e extent) samplePercent() float64 {
	return min(100, 100*float64(samplePages)/float64(max(1, e.Pages)))
}

// estimate goes by the statistics, which the role sees if it may read the column, or by a
// sample where they do not have nearly all of the rows: a column that is no status has
// more values than they keep. Where policies hide rows from the role it is always a sample: statistics are of
// the rows that it may not see, too.
func (l lifecycle) estimate(ctx context.Context, tx pgx.Tx, table *relation, size extent) (Counts, error) {
	const known = `SELECT v.status, ($4 * v.part)::bigint AS n FROM pg_stats AS s JOIN pg_class AS c ON c.relname = s.tablename JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = s.schemaname,
  LATERAL (SELECT m.status, m.part FROM unnest(s.most_common_vals::text::text[], s.most_common_freqs) AS m(status, part) UNION ALL SELECT NULL, s.null_frac WHERE s.null_frac > 0) AS v
WHERE c.oid = $2::oid AND s.attname = $3 AND s.inherited = (c.relkind = 'p')
  AND s.null_frac + COALESCE((SELECT sum(f.part) FROM unnest(s.most_common_freqs) AS f(part)), 0) >= 0.99`
	if total := size.rows(); total > 0 && !table.policies {
		rows, err := l.stored(ctx, tx, known, int64(table.oid), l.Table.Status.Column, total)
		if err != nil || len(rows) > 0 {
			return l.counts(rows, false, table), err
		}
	}
	percent := size.samplePercent()
	sampled, err := l.stored(ctx, tx, l.byStatus()+fmt.Sprintf(" TABLESAMPLE SYSTEM (%g) GROUP BY 1", percent))
	for i := range sampled {
		sampled[i].Rows = int64(float64(sampled[i].Rows) * 100 / percent)
	}
	return l.counts(sampled, false, table), err
}

// stored is the rows of one value of the status column, or of so many others.
type stored struct {
	Status *string
	Rows   int64
	Others int64
}

// maxStatuses are the values of a status column that are named, beside those declared: a
// column that is no status at all has as many as rows.
const maxStatuses = 20

// byStatus begins a count of the table's rows by status.
func (l lifecycle) byStatus() string {
	return fmt.Sprintf("SELECT s.%s AS status, count(*) AS n FROM %s AS s", ident(l.Table.Status.Column), ident(l.Table.Name))
}

// stored are the rows of each status and n of a query, whose arguments begin with $2: of
// those declared, of the most frequent others, and of the rest in one.
func (l lifecycle) stored(ctx context.Context, tx pgx.Tx, counted string, args ...any) ([]stored, error) {
	var declared []string
	for _, s := range l.States {
		declared = append(declared, l.Table.Status.Text(s.Name, s.Code))
		if s.Was != "" {
			declared = append(declared, s.Was)
		}
	}
	return all[stored](ctx, tx, fmt.Sprintf(`WITH counted AS (%[1]s),
known AS (SELECT c.status::text AS status, c.n, COALESCE(c.status::text = ANY ($1::text[]), false) AS declared FROM counted AS c),
placed AS (SELECT k.*, row_number() OVER (PARTITION BY k.declared ORDER BY k.n DESC, k.status) AS place FROM known AS k)
SELECT left(p.status, %[2]d), p.n, 0::bigint AS others FROM placed AS p WHERE p.declared OR p.place <= %[3]d
UNION ALL SELECT NULL, sum(p.n)::bigint, count(*) FROM placed AS p WHERE NOT p.declared AND p.place > %[3]d HAVING count(*) > 0
ORDER BY 3, 2 DESC, 1`, counted, maxValue+1, maxStatuses), append([]any{declared}, args...)...)
}

// counts puts rows of the table by their status into the order of the states.
func (l lifecycle) counts(rows []stored, exact bool, of *relation) Counts {
	c := Counts{Exact: exact, States: make([]StateCount, len(l.States)), Policies: catalog{of.name: of}.policed(of.name)}
	for i, s := range l.States {
		c.States[i] = StateCount{State: s.Name, Declared: true}
	}
	for _, r := range rows {
		c.Total += r.Rows
		if r.Others > 0 {
			c.States = append(c.States, StateCount{Rows: r.Rows, Others: r.Others})
			continue
		}
		text := "NULL"
		if r.Status != nil {
			text = *r.Status
		}
		s := l.state(text, true)
		if s == nil {
			c.States = append(c.States, StateCount{State: cut(text, maxValue), Rows: r.Rows})
			continue
		}
		c.States[s.Index].Rows += r.Rows // two values may be one state: its name, and the one before
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

// count is a count of all rows.
func (l lifecycle) count(ctx context.Context, tx pgx.Tx, table *relation) (Counts, error) {
	rows, err := l.stored(ctx, tx, l.byStatus()+" GROUP BY 1")
	return l.counts(rows, true, table), err
}
