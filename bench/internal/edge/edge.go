// Package edge measures what the check of edges costs an UPDATE, in the function of
// the trigger, as generated, and in its WHEN, as generated before.
package edge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/bench/internal/place"
	"github.com/pawl-go/pawl/bench/internal/rounds"
	"github.com/pawl-go/pawl/bench/internal/stat"
	"github.com/pawl-go/pawl/bench/internal/stock"
	"github.com/pawl-go/pawl/migrations"
)

// Size is how much is measured.
type Size struct{ Rounds, Rows int }

// ways are where the check can be; the first is what the others are compared with.
var ways = []string{"none", "in the function", "in WHEN"}

// Cost is one way's microseconds a row, round by round.
type Cost struct {
	Way string
	// Single is by a statement for each row, Set by one for all of them.
	Single, Set []float64
}

// Measure moves rows from PENDING to PAYING, each way as many, in shuffled rounds.
func Measure(ctx context.Context, server string, random *rand.Rand, size Size) (costs []Cost, err error) {
	p, err := place.New(ctx, server)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Drop(ctx)) }()
	before, err := former()
	if err != nil {
		return nil, err
	}
	orders := stock.New(p.Pool)
	if err := orders.Have(ctx, 2*size.Rounds*size.Rows*len(ways)); err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, p.URL)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	next := 1
	turn := func(way int, update string) (float64, error) {
		from := next
		next += size.Rows
		return micros(ctx, conn, before, ways[way], update, from, size.Rows)
	}
	costs = make([]Cost, len(ways))
	single, err := rounds.Run(random, size.Rounds, len(ways), func(_, i int) (float64, error) { return turn(i, eachAlone) })
	if err != nil {
		return nil, err
	}
	set, err := rounds.Run(random, size.Rounds, len(ways), func(_, i int) (float64, error) { return turn(i, allAtOnce) })
	for i, way := range ways {
		costs[i] = Cost{way, single[i], set[i]}
	}
	return costs, err
}

// The updates, of the orders from the first number to the second.
const (
	eachAlone = `FOR i IN %d..%d LOOP
    UPDATE orders SET status = 'PAYING', version = version + 1 WHERE order_id = md5('order ' || i)::uuid;
  END LOOP;`
	allAtOnce = `UPDATE orders SET status = 'PAYING', version = version + 1
  WHERE order_id = ANY(ARRAY(SELECT md5('order ' || i)::uuid FROM generate_series(%d, %d) AS i));`
)

// micros runs an update and returns the microseconds a row, as the server's clock
// has them. All of it is one transaction, and the commit is not in them.
func micros(ctx context.Context, conn *pgx.Conn, before, way, update string, from, n int) (float64, error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	switch way {
	case "none":
		_, err = tx.Exec(ctx, "ALTER TABLE orders DISABLE TRIGGER order_edge")
	case "in WHEN":
		_, err = tx.Exec(ctx, "DROP TRIGGER order_edge ON orders; "+before)
	}
	if err != nil {
		return 0, err
	}
	// The first row finds plans and functions not yet made.
	warm := "DO $$ BEGIN " + fmt.Sprintf(update, from, from) + " END $$"
	timed := fmt.Sprintf("DO $$ DECLARE began timestamptz := clock_timestamp(); BEGIN\n  %s\n  PERFORM set_config('pawl.took', extract(epoch FROM clock_timestamp() - began)::text, true); END $$",
		fmt.Sprintf(update, from+1, from+n-1))
	for _, sql := range []string{warm, timed} {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return 0, err
		}
	}
	var moved int
	var took float64
	err = tx.QueryRow(ctx, `SELECT current_setting('pawl.took')::float8, (SELECT count(*) FROM orders AS o
  WHERE o.order_id = ANY(ARRAY(SELECT md5('order ' || i)::uuid FROM generate_series($1::bigint, $2::bigint) AS i)) AND o.status = 'PAYING')`, from, from+n-1).Scan(&took, &moved)
	if err == nil && moved != n {
		err = fmt.Errorf("of %d orders %d moved", n, moved)
	}
	if err != nil {
		return 0, err
	}
	if way == "in the function" {
		return took * 1e6 / float64(n-1), tx.Commit(ctx)
	}
	return took * 1e6 / float64(n-1), nil
}

var trigger = regexp.MustCompile(`(?s)CREATE TRIGGER order_edge AFTER UPDATE ON orders FOR EACH ROW\nWHEN .*?;`)

// former is the trigger with its WHEN, as the migration that replaced it brings it
// back.
func former() (string, error) {
	text, err := fs.ReadFile(migrations.FS, "00020_order.sql")
	if err != nil {
		return "", err
	}
	_, down, _ := strings.Cut(string(text), "-- +goose Down")
	sql := trigger.FindString(down)
	if sql == "" {
		return "", errors.New("the migration 00020_order.sql has no trigger with a WHEN")
	}
	return sql, nil
}

// Markdown is the table.
func Markdown(costs []Cost) string {
	var b strings.Builder
	b.WriteString("| the check of edges | µs a row, a statement each | × | µs a row, one statement | × |\n| --- | --: | --: | --: | --: |\n")
	for _, c := range costs {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c.Way, spread(c.Single), ratio(c.Single, costs[0].Single), spread(c.Set), ratio(c.Set, costs[0].Set))
	}
	return b.String()
}

func spread(samples []float64) string {
	s := stat.Of(samples)
	return fmt.Sprintf("%.1f (%.1f – %.1f)", s.Median, s.Low, s.High)
}

func ratio(a, b []float64) string { return fmt.Sprintf("%.2f", stat.Of(stat.Ratios(a, b)).Median) }
