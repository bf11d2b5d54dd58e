package tokenredis_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/rueidis"

	"github.com/pawl-go/pawl/fsm/token"
	"github.com/pawl-go/pawl/fsm/token/tokenredis"
)

func Example() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	redis := rueidis.ClientOption{InitAddress: []string{os.Getenv("REDIS")}} // which may be away
	tokens, err := tokenredis.Open(redis, pool, tokenredis.Config{
		Lease:  10 * time.Second,
		Failed: func(err error) { fmt.Fprintln(os.Stderr, "PostgreSQL has the tokens:", err) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tokens.Close()

	kind := token.Kind{Name: "pay", TTL: 5 * time.Minute, Keep: 24 * time.Hour}
	tok, err := tokens.Issue(ctx, kind, "customer:1", "pay order 42")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := tokens.Use(ctx, token.From(tok.Reveal()), "customer:1", "pay order 42",
		func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
			_, err := tx.Exec(ctx, `INSERT INTO payments (order_id) VALUES (42)`)
			return []byte("paid"), err
		})
	switch {
	case errors.Is(err, tokenredis.ErrUnavailable):
		fmt.Println("503: try again")
	case err != nil:
		fmt.Println(err)
	default:
		fmt.Printf("%s, replayed: %v\n", r.Reply, r.Replayed)
	}
}
