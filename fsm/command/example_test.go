package command_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command"
)

// A double click pays once, and both clicks are told the same.
func ExampleCommand_Do() {
	payOrder := command.Command{Name: "orders.pay"}

	pool, ctx := database(), context.Background()
	defer pool.Close()
	click := command.Request{
		Scope: "customer 7", Key: "8e03978e", Method: "POST", Path: "/orders/17/pay",
		ContentType: "application/json", Body: []byte(`{"cents":100}`),
	}
	for range 2 {
		answer, err := payOrder.Do(ctx, pool, click, func(ctx context.Context, tx pgx.Tx) (command.Reply, error) {
			if _, err := tx.Exec(ctx, `INSERT INTO payments (order_id, cents) VALUES (17, 100)`); err != nil {
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

	pool, ctx := database(), context.Background()
	defer pool.Close()
	click := command.Request{Scope: "customer 7", Key: "8e03978e"}
	answer, err := charge.DoLeased(ctx, pool, click, func(ctx context.Context, lease *command.Lease) (command.Reply, error) {
		// Call the provider here, with ctx, and with a key of its own.
		reply := command.Reply{Status: 201, Body: []byte("charged")}
		return reply, fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `INSERT INTO payments (order_id, cents) VALUES (17, 100)`); err != nil {
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
