package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/internal/model"
)

// Oldest is one of the rows that have stood longest in a state, as far as that can be
// known.
type Oldest struct {
	State string
	Key   []string
	Since time.Time
	For   time.Duration
	// Of is how many rows of the state were looked at; Whole says that these were all.
	Of    int64
	Whole bool
}

// oldestRows are shown of each state.
const oldestRows = 5

// fewRows are so few that each of them is looked up in the history; of a state with
// more a sample of sampleRows is.
const (
	fewRows    = 1000
	sampleRows = 100
)

// Oldest says which few rows have stood longest in each of the states that a row should
// leave, not in final or resting ones, in the order of states and the oldest first: since
// they entered it, whatever led from the state to itself since. No index tells that. Where a state has few rows, by counts, all are looked up in the
// history by its key; where it has many, those of a sample of pages are. Rows of few are found by one more reading of the table, so
// it is asked as rarely as Count. The errors are *Error and ctx's.
func (d *Database) Oldest(ctx context.Context, m *model.Machine, counts Counts) ([]Oldest, error) {
	l := lifecycle{m}
	var few, many []string
	for _, s := range l.States {
		n := counts.Of(s.Name)
		switch {
		case s.Final || s.Resting || n == 0:
		case n <= fewRows && counts.Exact:
			few = append(few, l.storedAs(s)...)
		default:
			many = append(many, l.storedAs(s)...)
		}
	}
	var oldest []Oldest
	ask := func(statuses []string, whole bool) error {
		if len(statuses) == 0 {
			return nil
		}
		read := d.readWhole
		if !whole {
			read = func(ctx context.Context, _ string, do func(context.Context, pgx.Tx) error) error {
				return d.read(ctx, d.quick, "", do)
			}
		}
		return read(ctx, l.Table.Name, func(ctx context.Context, tx pgx.Tx) error {
			found, err := lookUp(ctx, tx, l.Table.Name, l.history())
			if err != nil {
				return err
			}
			table, err := found.needed(l.Table.Name, append(l.keys(), l.Table.Status.Column, l.Table.Version)...)
			if err != nil {
				return err
			}
			if _, err := found.needed(l.history(), append(l.keys(), "version", "from_status", "to_status", "at")...); err != nil {
				return err
			}
			rows, err := l.oldest(ctx, tx, table, statuses, whole)
			for _, r := range rows {
				if s := l.state(r.Status, true); s != nil {
					oldest = append(oldest, Oldest{s.Name, r.Key, r.At, seconds(r.Seconds), r.Of, whole && r.Of <= fewRows})
				}
			}
			return err
		})
	}
	if err := ask(few, true); err != nil {
		return nil, err
	}
	if err := ask(many, false); err != nil {
		return nil, err
	}
	order := map[string]int{}
	for _, s := range l.States {
		order[s.Name] = s.Index
	}
	slices.SortStableFunc(oldest, func(a, b Oldest) int {
		return cmp.Or(order[a.State]-order[b.State], a.Since.Compare(b.Since))
	})
	shown := map[string]int{} // two values of the column may be one state
	return slices.DeleteFunc(oldest, func(o Oldest) bool {
		shown[o.State]++
		return shown[o.State] > oldestRows
	}), nil
}

// storedAs are the values of the status column for a state.
func (l lifecycle) storedAs(s *model.State) []string {
	values := []string{l.Table.Status.Text(s.Name, s.Code)}
	if s.Was != "" && l.Table.Status.Storage != model.StoredCode {
		values = append(values, s.Was)
	}
	return values
}

type standing struct {
	Status  string
	Key     []string
	At      time.Time
	Seconds float64
	Of      int64
}

func (l lifecycle) oldest(ctx context.Context, tx pgx.Tx, table *relation, statuses []string, whole bool) ([]standing, error) {
	from, most := ident(table.name)+" AS t", fewRows+1 // there may be more by now
	if !whole {
		size, err := extentOf(ctx, tx, table)
		if err != nil {
			return nil, err
		}
		from += fmt.Sprintf(" TABLESAMPLE SYSTEM (%g)", size.samplePercent())
		most = sampleRows
	}
	status := "t." + ident(l.Table.Status.Column) + "::text"
	// The subselects are not flattened, so that the history is asked for its rows alone, and
	// once: OFFSET 0.
	return all[standing](ctx, tx, fmt.Sprintf(`SELECT o.fsm_status, o.fsm_key, o.fsm_at, extract(epoch FROM now() - o.fsm_at)::float8, o.fsm_of
FROM (SELECT s.fsm_status, s.fsm_key, s.fsm_at, count(*) OVER (PARTITION BY s.fsm_status) AS fsm_of, row_number() OVER (PARTITION BY s.fsm_status ORDER BY s.fsm_at) AS fsm_nth
FROM (SELECT r.fsm_status, r.fsm_key, (SELECT h.at FROM %[1]s AS h WHERE %[2]s AND h.version <= r.fsm_version AND h.from_status IS DISTINCT FROM h.to_status ORDER BY h.version DESC LIMIT 1) AS fsm_at
  FROM (SELECT %[3]s AS fsm_status, %[4]s AS fsm_key, t.%[5]s AS fsm_version, %[6]s, row_number() OVER (PARTITION BY %[3]s) AS fsm_n FROM %[7]s WHERE %[3]s = ANY ($1::text[])) AS r
  WHERE r.fsm_n <= %[8]d OFFSET 0) AS s
WHERE isfinite(s.fsm_at)) AS o WHERE o.fsm_nth <= %[9]d ORDER BY o.fsm_status, o.fsm_at`,
		ident(l.history()), l.joined("h", "r"), status, l.keyTexts("t"), ident(l.Table.Version), l.columns("t", l.keys()), from, most, oldestRows), statuses)
}

// columns selects columns of a table.
func (l lifecycle) columns(alias string, names []string) string {
	var text string
	for i, n := range names {
		if i > 0 {
			text += ", "
		}
		text += alias + "." + ident(n)
	}
	return text
}
