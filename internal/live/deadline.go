package live

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/internal/model"
)

// Most is what counts of a queue end at: that many or more.
const Most = 10_000

// Deadlines are what is due.
type Deadlines struct {
	// Indexed says that there is an index on the deadline; without one nothing is asked.
	Indexed bool
	// Overdue are the rows whose deadline has passed, Most meaning that many or
	// more, and States has the first Most of them by state.
	Overdue int64
	States  []StateCount
	// Late are the first of them, Next the first that are to come: those at a time, so
	// that one of -infinity is counted and not listed.
	Late, Next []Due
	Policies   []string
}

// Of returns how many rows of a state are overdue.
func (d Deadlines) Of(state string) int64 {
	for _, s := range d.States {
		if s.State == state {
			return s.Rows
		}
	}
	return 0
}

// Due is a row with a deadline. State is what it is called today.
type Due struct {
	Key   []string
	State string
	At    time.Time
	// In is how long it is until then, negative for how long it has passed, by the
	// database's clock.
	In time.Duration
}

type due struct {
	Key     []string
	Status  string
	At      time.Time
	Seconds float64
}

// Deadlines reads what is due, by the index on the deadline. A machine without
// deadlines has none. The errors are *Error and ctx's.
func (d *Database) Deadlines(ctx context.Context, m *model.Machine) (Deadlines, error) {
	l := lifecycle{m}
	var of Deadlines
	if !m.Deadlines() {
		return of, nil
	}
	err := d.read(ctx, d.quick, probing, func(ctx context.Context, tx pgx.Tx) error {
		found, err := lookUp(ctx, tx, l.Table.Name)
		if err != nil {
			return err
		}
		table, err := found.needed(l.Table.Name, append(l.keys(), l.Table.Status.Column, l.Table.Deadline)...)
		if err != nil {
			return err
		}
		if of.Indexed = table.ordered(l.Table.Deadline, "btree"); !of.Indexed {
			return nil
		}
		name, at, status := ident(l.Table.Name), "t."+ident(l.Table.Deadline), "t."+ident(l.Table.Status.Column)
		states, err := l.stored(ctx, tx, fmt.Sprintf(`SELECT f.status, count(*) AS n
FROM (SELECT %[2]s AS status FROM %[1]s AS t WHERE %[3]s < now() ORDER BY %[3]s LIMIT %[4]d) AS f GROUP BY 1`, name, status, at, Most))
		if err != nil {
			return err
		}
		counts := l.counts(states, true, table)
		of.Overdue, of.Policies = counts.Total, counts.Policies
		for _, s := range counts.States {
			if s.Rows > 0 {
				of.States = append(of.States, s)
			}
		}
		list := func(condition string) ([]Due, error) {
			rows, err := all[due](ctx, tx, fmt.Sprintf(`SELECT %[2]s, COALESCE(left(%[3]s::text, %[6]d), 'NULL'), %[4]s, extract(epoch FROM %[4]s - now())::float8
FROM %[1]s AS t WHERE %[4]s %[5]s now() AND isfinite(%[4]s) ORDER BY %[4]s LIMIT 10`, name, l.keyTexts("t"), status, at, condition, maxValue+1))
			list := make([]Due, len(rows))
			for i, r := range rows {
				list[i] = Due{r.Key, l.name(r.Status, true), r.At, seconds(r.Seconds)}
			}
			return list, err
		}
		if of.Late, err = list("<"); err != nil {
			return err
		}
		of.Next, err = list(">=")
		return err
	})
	return of, err
}

// maybe is a duration of seconds, nil for NULL.
func maybe(s *float64) *time.Duration {
	if s == nil {
		return nil
	}
	d := seconds(*s)
	return &d
}

// seconds are a duration; what does not fit is the longest or shortest.
func seconds(s float64) time.Duration {
	const most = float64(1 << 33) // 272 years
	return time.Duration(min(max(s, -most), most) * float64(time.Second))
}
