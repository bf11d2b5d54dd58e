package live

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/internal/model"
)

// Window is how far back moves, deliveries and what was sent are read.
const Window = time.Hour

// recent is the condition that a time is within Window, and none that the clocks of those
// who write could not have shown yet.
func recent(column string) string {
	return fmt.Sprintf("%s >= now() - %s AND %[1]s <= now() + interval '1 minute'", column, window)
}

// window is Window in SQL.
var window = fmt.Sprintf("interval '%d seconds'", int(Window.Seconds()))

// tailPages are how many of the last pages of a table are read: the next number where
// the one before does not reach back over the window, and the last at most.
var tailPages = []int64{100, 500, 2000}

// Moves is how rows have moved of late.
type Moves struct {
	// Moves are counted by minute, event and edge; Compensated are facts that moved
	// nothing, by minute and event, with From and To the state that the row had.
	Moves, Compensated []Move
	// Latest are the last facts that moved nothing, the newest first.
	Latest []Fact
	// Reach is how far what was read of the history goes back, and Told that of the facts.
	Reach
	Told     Reach
	Policies []string
}

// Reach is how far back the newest rows of a table were read.
type Reach struct {
	// Back is Window, or less where the last pages hold less.
	Back time.Duration
	// Indexed says that an index on the time was used, so that nothing is missing.
	// Without one, rows that were written into pages which deleted ones had freed are
	// not seen; Freed says that there may be some.
	Indexed, Freed bool
}

// Move is how often one edge was taken within one minute.
type Move struct {
	// Minute counts back: 0 is the last 60 seconds.
	Minute int
	Event  string
	// From is empty for a creation.
	From, To string
	Forced   bool
	N        int64
}

// Fact is a fact that moved nothing.
type Fact struct {
	Key             []string
	Event, Identity string
	State           string
	At              time.Time
}

// rateMinutes are those that a flow per minute is the mean of.
const rateMinutes = 5

// PerMinute is the mean flow over an edge in the last minutes by one event.
func (m Moves) PerMinute(from, to, event string) float64 {
	return m.rate(func(v *Move) bool { return v.From == from && v.To == to && v.Event == event })
}

func (m Moves) rate(counts func(*Move) bool) float64 {
	over := min(rateMinutes, m.Back.Minutes())
	var n int64
	for i := range m.Moves {
		if v := &m.Moves[i]; v.Minute < rateMinutes && counts(v) {
			n += v.N
		}
	}
	if over < 1 {
		return float64(n)
	}
	return float64(n) / over
}

// latest is how many single facts or deliveries are shown.
const latest = 20

// Moves reads the newest entries of the history and the newest facts: by an index on
// the time, where somebody made one, else from the last pages of the tables, which
// only grow. The errors are *Error and ctx's.
func (d *Database) Moves(ctx context.Context, m *model.Machine) (Moves, error) {
	l := lifecycle{m}
	moves := Moves{Reach: Reach{Back: Window}, Told: Reach{Back: Window}}
	err := d.read(ctx, d.quick, "", func(ctx context.Context, tx pgx.Tx) error {
		found, err := lookUp(ctx, tx, l.history(), l.facts())
		if err != nil {
			return err
		}
		moves.Policies = found.policed(l.history(), l.facts())
		history, err := found.needed(l.history(), "event", "from_status", "to_status", "forced", "at")
		if err != nil {
			return err
		}
		for of, err := range tails(ctx, tx, history, &moves.Reach) {
			if err != nil {
				return err
			}
			if err := l.movesOf(ctx, tx, of, &moves); err != nil {
				return err
			}
		}
		facts, err := found.readable(l.facts(), append(l.keys(), "event", "identity", "fingerprint", "outcome", "to_status", "at")...)
		if facts == nil || err != nil {
			return err
		}
		for of, err := range tails(ctx, tx, facts, &moves.Told) {
			if err != nil {
				return err
			}
			if err := l.factsOf(ctx, tx, of, &moves); err != nil {
				return err
			}
		}
		return nil
	})
	return moves, err
}

const minute = "greatest(0, floor(extract(epoch FROM now() - h.at) / 60))::int"

func (l lifecycle) movesOf(ctx context.Context, tx pgx.Tx, of string, into *Moves) error {
	moves, err := all[Move](ctx, tx, fmt.Sprintf(`SELECT %s, h.event::text, COALESCE(%s, ''), %s, h.forced, count(*)
FROM %s AS h WHERE %s GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`, minute, begun("h", "from_status"), begun("h", "to_status"), ident(l.history()), of))
	for _, v := range moves {
		if v.From != "" {
			v.From = l.name(v.From, false)
		}
		v.To = l.name(v.To, false)
		into.Moves = append(into.Moves, v)
	}
	return err
}

func (l lifecycle) factsOf(ctx context.Context, tx pgx.Tx, of string, into *Moves) error {
	facts := ident(l.facts())
	counted, err := all[Move](ctx, tx, fmt.Sprintf(`SELECT %s, h.event::text, %[2]s, %[2]s, false, count(*)
FROM %[3]s AS h WHERE h.outcome = 'Compensated' AND %[4]s GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`, minute, begun("h", "to_status"), facts, of))
	if err != nil {
		return err
	}
	for _, v := range counted {
		v.From, v.To = l.name(v.From, false), l.name(v.To, false)
		into.Compensated = append(into.Compensated, v)
	}
	newest, err := all[Fact](ctx, tx, fmt.Sprintf(`SELECT %s, h.event::text, h.identity, %s, h.at
FROM %s AS h WHERE h.outcome = 'Compensated' AND %s ORDER BY h.at DESC LIMIT %d`, l.keyTexts("h"), begun("h", "to_status"), facts, of, latest))
	for _, f := range newest {
		f.State = l.name(f.State, false)
		into.Latest = append(into.Latest, f)
	}
	slices.SortStableFunc(into.Latest, func(a, b Fact) int { return b.At.Compare(a.At) })
	into.Latest = into.Latest[:min(len(into.Latest), latest)]
	return err
}

// leaf is a table without partitions, or one partition.
type leaf struct {
	OID   int64
	Pages int64
	Freed bool
}

// parts are the tables that hold the rows of $1.
const parts = `SELECT t.relid FROM pg_partition_tree($1::oid) AS t WHERE t.isleaf UNION SELECT c.oid FROM pg_class AS c WHERE c.oid = $1::oid AND c.relkind = 'r'`

// leaves are those in which entries of the window may be, the default partition among
// them: it is one query of the catalog, and opens the files of those alone.
var leaves = `SELECT p.oid::bigint, pg_relation_size(p.oid) / current_setting('block_size')::bigint,
  COALESCE(pg_stat_get_tuples_deleted(p.oid) > 0 OR pg_stat_get_tuples_inserted(p.oid) > 1.05 * pg_stat_get_live_tuples(p.oid) + 1000, false)
FROM (SELECT c.oid, regexp_match(pg_get_expr(c.relpartbound, c.oid), $r$FROM \('([^']+)'\)$r$) AS low, regexp_match(pg_get_expr(c.relpartbound, c.oid), $r$TO \('([^']+)'\)$r$) AS high
      FROM (` + parts + `) AS t JOIN pg_class AS c ON c.oid = t.relid) AS p
WHERE (p.high IS NULL OR p.high[1]::timestamptz > now() - ` + window + `) AND (p.low IS NULL OR p.low[1]::timestamptz <= now() + ` + window + `)
ORDER BY p.oid LIMIT 8`

// tails yields a condition for each part of a table that is read for its newest rows,
// for the alias h, and says how far they reach. A partition is read
// through its parent, since the role may not read it by itself.
func tails(ctx context.Context, tx pgx.Tx, table *relation, reached *Reach) func(func(string, error) bool) {
	within := recent("h.at")
	return func(yield func(string, error) bool) {
		if table.ordered("at", "btree", "brin") {
			reached.Indexed = true
			yield(within, nil)
			return
		}
		parts, err := all[leaf](ctx, tx, leaves, int64(table.oid))
		if err != nil {
			yield("", err)
			return
		}
		for _, p := range parts {
			reached.Freed = reached.Freed || p.Freed
			here := func(from, to int64) string {
				return fmt.Sprintf("%s AND h.ctid >= '(%d,0)' AND h.ctid < '(%d,0)' AND h.tableoid = %d", within, from, to, p.OID)
			}
			var first int64
			var reach *float64
			for _, n := range tailPages {
				if first, reach = max(0, p.Pages-n), nil; first == 0 {
					break
				}
				// What the first of these pages has of the window says how far back they reach.
				reach, err = pick[*float64](ctx, tx, fmt.Sprintf("SELECT extract(epoch FROM now() - max(h.at))::float8 FROM %s AS h WHERE %s", ident(table.name), here(first, first+4)))
				if err != nil {
					yield("", err)
					return
				}
				if reach == nil { // all that is of the window lies behind
					break
				}
			}
			if reach != nil {
				reached.Back = min(reached.Back, seconds(max(0, *reach)))
			}
			if !yield(here(first, p.Pages), nil) {
				return
			}
		}
	}
}

// Rate is the mean flow over all edges in the last minutes, corrections included.
func (m Moves) Rate() float64 { return m.rate(func(*Move) bool { return true }) }
