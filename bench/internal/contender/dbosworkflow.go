package contender

import (
	"context"
	"log/slog"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// DBOS is a workflow a transition, named after the payment, whose one step is the
// usual transaction as DBOS offers it: with its record in the same commit.
func DBOS() Contender {
	return Contender{Name: "DBOS workflow", Writes: everything + ", workflow", Once: true, Size: 1, Open: openDBOS}
}

type transitionInput struct {
	Delivery Delivery
	Event    Event
}

func openDBOS(ctx context.Context, env Env) (Opened, error) {
	env.Conns += 4 // DBOS's own: notifications, queues, schedules
	pool, err := open(ctx, env)
	if err != nil {
		return Opened{}, err
	}
	quiet := slog.New(slog.DiscardHandler)
	root, err := dbos.NewContext(ctx, dbos.Config{AppName: "bench", SystemDBPool: pool, Logger: quiet})
	if err != nil {
		shut(pool)
		return Opened{}, err
	}
	fail := func(err error) (Opened, error) {
		dbos.Shutdown(root, time.Second)
		shut(pool)
		return Opened{}, err
	}
	source, err := dbos.NewDataSource(root, pool)
	if err != nil {
		return fail(err)
	}
	workflow := func(ctx dbos.Context, in transitionInput) (bool, error) {
		return dbos.RunAsTransaction(ctx, source, func(ctx context.Context, tx dbos.Tx) (bool, error) {
			return usual(ctx, dbosTx{tx}, in.Event, in.Delivery)
		})
	}
	dbos.RegisterWorkflow(root, workflow, dbos.WithWorkflowName("transition"))
	if err := dbos.Launch(root); err != nil {
		return fail(err)
	}
	call := each(func(_ context.Context, d Delivery) (bool, error) {
		handle, err := dbos.RunWorkflow(root, workflow, transitionInput{d, env.Event}, dbos.WithWorkflowID(d.PaymentNo))
		if err != nil {
			return false, err
		}
		return handle.GetResult()
	})
	return Opened{call, func() {
		dbos.Shutdown(root, time.Minute)
		shut(pool)
	}}, nil
}

// dbosTx is a transaction of DBOS in pgx's words.
type dbosTx struct{ tx dbos.Tx }

// Exec runs a statement.
func (t dbosTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	_, err := t.tx.Exec(ctx, sql, args...)
	return pgconn.CommandTag{}, err
}

// QueryRow runs a query of one row.
func (t dbosTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return t.tx.QueryRow(ctx, sql, args...)
}
