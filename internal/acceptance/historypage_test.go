package acceptance

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/record"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/linear"
)

// The code of the page about histories.
func pageHistory(ctx context.Context, pool *pgxpool.Pool, file *os.File, keys []order.Key) error {
	rec := record.New(file, "order")
	var clients sync.WaitGroup
	for n := range 8 {
		clients.Go(func() {
			for _, key := range keys { // everything that may go wrong goes wrong meanwhile: see faults.md
				_, _ = record.Call(rec, fmt.Sprint("client ", n), key, "pay", nil, func() (order.Result, error) { return order.Pay(ctx, pool, key) })
			}
		})
	}
	clients.Wait()
	return rec.Found(ctx, pool, record.Table{Name: "orders", Key: []string{"order_id"}, Outbox: true})
}

// What the page's program records of orders that are there is accepted.
func TestTheHistoryOfThePage(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2)
	path := t.TempDir() + "/history.jsonl"
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, record.New(file, "order").Began(t.Context(), s.pool, orders))
	require.NoError(t, pageHistory(t.Context(), s.pool, file, []order.Key{key1, key2, key3}))
	require.NoError(t, file.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	v := s.verdict(bytes.NewBuffer(text))
	require.Equal(t, linear.Accepted, v.Result(), "%s", v.Findings())
	require.Equal(t, []int{26, 3, 0}, []int{v.Operations, v.Rows, v.Either}) // 8 clients, 3 rows of which 2 are there and looked at
}
