// Package shape has ways to write one event as SQL, payment_succeeded of the
// sample, and finds out what each costs and whether its answers are true.
package shape

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/record"
	"github.com/pawl-go/pawl/gen/order"
)

// Answer is what a shape says of a delivery: the outcome, and the row as it is.
type Answer struct {
	Outcome string
	Status  string
	Version int64
}

// Shape is a way to write the event.
type Shape struct {
	Name string
	// Trips are the round trips of a first delivery and of a duplicate.
	Trips [2]int
	// Setup makes what the shape needs in a database; empty for most.
	Setup string
	// Silent says that it has no answer but to a first delivery.
	Silent bool
	tell   tell
}

// tell tells of a delivery by the arguments of the generated statement, of which the
// first are the payment's number, its amount, the key and the expected version.
type tell func(ctx context.Context, conn *pgx.Conn, args []any) (Answer, error)

// Tell tells of a delivery.
func (s Shape) Tell(ctx context.Context, conn *pgx.Conn, d contender.Delivery) (Answer, error) {
	seen := &record.DB{}
	_, _ = order.PaymentSucceeded(ctx, seen, order.Key(d.Key), order.PaymentSucceededParams{PaymentNo: d.PaymentNo, PaidCents: d.Cents}) // record.Err
	return s.tell(ctx, conn, seen.Args)
}

//go:embed sql
var files embed.FS

// text joins files of the folder sql, less the comments that begin them.
func text(names ...string) string {
	var lines []string
	for _, name := range names {
		body, err := files.ReadFile("sql/" + name + ".sql")
		if err != nil { // a name that a test would have found
			return err.Error()
		}
		all := strings.Split(strings.TrimSpace(string(body)), "\n")
		lines = append(lines, slices.DeleteFunc(all, func(line string) bool { return strings.HasPrefix(line, "--") })...)
	}
	return strings.Join(lines, "\n")
}

// Generated is the shape that all others are compared with.
const Generated = "generated"

// All are the shapes, the generated one first.
func All(ctx context.Context) []Shape {
	seen := &record.DB{}
	_, _ = order.PaymentSucceeded(ctx, seen, order.Key(wanted[0].key), order.PaymentSucceededParams{PaymentNo: "P", PaidCents: 1})
	raced, write := text("write", "wrote", "raced"), text("write", "wrote")
	return []Shape{
		{Name: Generated, Trips: [2]int{1, 1}, tell: again(seen.SQL)},
		{Name: "as first designed", Trips: [2]int{1, 1}, tell: again(raced)},
		{Name: "update first, then the generated", Trips: [2]int{1, 2}, tell: updateFirst(text("updatefirst"), again(seen.SQL))},
		{Name: "second statement on demand", Trips: [2]int{1, 2}, tell: onDemand(write, text("judge"))},
		{Name: "two statements, one trip", Trips: [2]int{1, 1}, tell: pipelined(write, text("judge"))},
		{Name: "lock first, judge later", Trips: [2]int{1, 1}, tell: again(text("lockfirst", "wrote", "lockedsays"))},
		{Name: "PL/pgSQL function", Trips: [2]int{1, 1}, Setup: text("function"), tell: again(text("call"))},
		{Name: "written by hand", Trips: [2]int{1, 1}, Silent: true, tell: byHand},
	}
}

// attempts is how often a statement runs whose answer is raced.
const attempts = 10

var (
	errContended = errors.New("raced again and again")
	errNotFound  = errors.New("no row")
)

// again is one statement, which runs again when its answer cannot be trusted.
func again(sql string) tell {
	return func(ctx context.Context, conn *pgx.Conn, args []any) (Answer, error) {
		for range attempts {
			rows, err := conn.Query(ctx, sql, args...)
			if err != nil {
				return Answer{}, err
			}
			if a, err := answer(rows); err != nil || a.Outcome != "raced" {
				return a, err
			}
		}
		return Answer{}, errContended
	}
}

// answer reads what a statement says that always says something of a row.
func answer(rows pgx.Rows) (Answer, error) {
	a, ok, err := read(rows)
	if err == nil && !ok {
		err = errNotFound
	}
	return a, err
}

// updateFirst is a statement that moves the usual case, and others for the rest. A
// number that is known elsewhere fails it, which takes a transaction of the
// caller's with it.
func updateFirst(usual string, others tell) tell {
	return func(ctx context.Context, conn *pgx.Conn, args []any) (Answer, error) {
		rows, err := conn.Query(ctx, usual, args...)
		if err != nil {
			return Answer{}, err
		}
		a, ok, err := read(rows)
		if ok || err != nil && state(err) != "error 23505" {
			return a, err
		}
		return others(ctx, conn, args)
	}
}

// onDemand is a statement that writes, and another one that judges when it wrote
// nothing.
func onDemand(write, judge string) tell {
	return func(ctx context.Context, conn *pgx.Conn, args []any) (Answer, error) {
		for range attempts {
			rows, err := conn.Query(ctx, write, args...)
			if err != nil {
				return Answer{}, err
			}
			if a, ok, err := read(rows); ok || err != nil {
				return a, err
			}
			if rows, err = conn.Query(ctx, judge, args[:4]...); err != nil {
				return Answer{}, err
			}
			if a, err := answer(rows); err != nil || a.Outcome != "raced" {
				return a, err
			}
		}
		return Answer{}, errContended
	}
}

// pipelined sends both statements at once. They are one transaction, and each has
// a snapshot of its own.
func pipelined(write, judge string) tell {
	return func(ctx context.Context, conn *pgx.Conn, args []any) (Answer, error) {
		for range attempts {
			batch := &pgx.Batch{}
			batch.Queue(write, args...)
			batch.Queue(judge, args[:4]...)
			a, ok, err := both(conn.SendBatch(ctx, batch))
			switch {
			case err != nil:
				return a, err
			case !ok:
				return a, errNotFound
			case a.Outcome != "raced":
				return a, nil
			}
		}
		return Answer{}, errContended
	}
}

// both reads two answers, of which the first counts if there is one.
func both(results pgx.BatchResults) (a Answer, ok bool, err error) {
	defer func() { err = errors.Join(err, results.Close()) }()
	for range 2 {
		rows, err := results.Query()
		if err != nil {
			return a, ok, err
		}
		next, found, err := read(rows)
		if err != nil {
			return a, ok, err
		}
		if !ok && found {
			a, ok = next, true
		}
	}
	return a, ok, nil
}

// byHand knows that a row moved, or that it did not.
func byHand(ctx context.Context, conn *pgx.Conn, args []any) (Answer, error) {
	var version int64
	err := conn.QueryRow(ctx, contender.HandPaid(), args[2], args[1], args[0]).Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) {
		return Answer{Outcome: "nothing moved"}, nil
	}
	return Answer{Outcome: "Applied", Status: "PAID", Version: version}, err
}

// read reads all of a result of one row or none, whose first column is the outcome.
func read(rows pgx.Rows) (a Answer, ok bool, err error) {
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return a, ok, err
		}
		ok = true
		for i, field := range rows.FieldDescriptions() {
			switch {
			case i == 0:
				a.Outcome, _ = values[i].(string)
			case field.Name == "status":
				a.Status, _ = values[i].(string)
			case field.Name == "version":
				a.Version, _ = values[i].(int64)
			}
		}
	}
	return a, ok, rows.Err()
}

// state is the SQLSTATE of an error, for an answer that is none.
func state(err error) string {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return "error " + pg.Code
	}
	return fmt.Sprint(err)
}
