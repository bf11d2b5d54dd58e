package command_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// A double click pays once, and both clicks are told the same.
func ExampleCommand_Do() {
	payOrder := command.Command{Name: "orders.pay"}

	ctx := context.Background()
	pool, done := database(ctx)
	defer done()
	click := command.Request{
		Scope: "customer 7", Key: "8e03978e", Method: "POST", Path: "/orders/17/pay",
		ContentType: "application/json", Body: []byte(`{"cents":100}`),
	}
	for range 2 {
		answer, err := payOrder.Do(ctx, pool, click, func(ctx context.Context, tx pgx.Tx) (command.Reply, error) {
			if _, err := tx.Exec(ctx, `INSERT INTO ledger (order_id, cents) VALUES (17, 100)`); err != nil {
				return command.Reply{}, err
			}
			return command.Reply{Status: 201, Body: []byte("paid")}, nil
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(answer.Status, string(answer.Body), answer.Replayed)
	}
	// Output:
	// 201 paid false
	// 201 paid true
}

// With a provider's call in the middle, what must not happen twice shares a
// transaction with the reply.
func ExampleCommand_DoLeased() {
	charge := command.Command{Name: "orders.charge", Lease: 30 * time.Second}

	ctx := context.Background()
	pool, done := database(ctx)
	defer done()
	click := command.Request{Scope: "customer 7", Key: "8e03978e"}
	answer, err := charge.DoLeased(ctx, pool, click, func(ctx context.Context, lease *command.Lease) (command.Reply, error) {
		// Call the provider here, with ctx, and with a key of its own.
		reply := command.Reply{Status: 201, Body: []byte("charged")}
		// What was charged is booked for a caller who has hung up, too.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return reply, fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `INSERT INTO ledger (order_id, cents) VALUES (17, 100)`); err != nil {
				return err
			}
			return lease.CompleteTx(ctx, tx, reply)
		})
	})
	fmt.Println(string(answer.Body), err)

	status, err := charge.Status(ctx, pool, "customer 7", "8e03978e")
	fmt.Println(status.Progress, err)
	// Output:
	// charged <nil>
	// Finished <nil>
}

// database is a migrated database with a ledger.
func database(ctx context.Context) (pool *pgxpool.Pool, done func()) {
	t := &exampleTB{ctx: ctx}
	pool = testdb.New(t, testdb.WithMigrations(migrations.FS))
	if _, err := pool.Exec(ctx, `CREATE TABLE ledger (order_id bigint NOT NULL, cents bigint NOT NULL)`); err != nil {
		t.Fatalf("%v", err)
	}
	return pool, t.done
}

// exampleTB is as much of a test as a database needs, since an example has none.
type exampleTB struct {
	testing.TB
	ctx      context.Context
	cleanups []func()
}

func (e *exampleTB) Helper()                      {}
func (e *exampleTB) Context() context.Context     { return e.ctx }
func (e *exampleTB) Cleanup(f func())             { e.cleanups = append(e.cleanups, f) }
func (e *exampleTB) Errorf(text string, a ...any) { fmt.Printf(text+"\n", a...) }
func (e *exampleTB) Skipf(text string, a ...any)  { e.Fatalf(text, a...) }
func (e *exampleTB) Fatalf(text string, a ...any) { panic(fmt.Sprintf(text, a...)) }

func (e *exampleTB) done() {
	for _, f := range slices.Backward(e.cleanups) {
		f()
	}
}
