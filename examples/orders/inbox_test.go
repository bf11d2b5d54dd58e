package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/internal/testredis"
)

// Redis, which has the locks of orders, is killed while callbacks come in through
// the inbox, and stays away: the provider hears nothing but yes, and every payment
// has its effects once.
func TestRedisIsKilledUnderTheInbox(t *testing.T) {
	redis := testredis.Start(t)
	l := newLoad(t, redis, quickTimes)
	l.orders()
	verifier, err := webhook.NewStandard([]webhook.Secret{killSecret})
	require.NoError(t, err)
	locker, stop, err := openLock(t.Context(), "redis://"+redis.Addr, quickTimes, l.pool, slog.New(slog.NewTextHandler(l.log, nil)), func(error) {})
	require.NoError(t, err)
	t.Cleanup(stop)
	l.service, err = shop.New(shop.Config{Pool: l.pool, Standard: verifier, Inbox: true, Lock: locker, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	l.handler = l.service.Handler()

	tell := func(n, times int) int {
		body := fmt.Sprintf(`{"id":"evt_%d","type":"payment.succeeded","data":{"order_id":%q,"payment_no":"p-%d","amount_cents":100}}`, n, orderOf(n), n)
		header, err := l.signer.Sign(fmt.Sprintf("msg_%d_%d", n, times), time.Now(), []byte(body))
		if err != nil {
			return 0
		}
		header.Set("Content-Type", "application/json")
		status, _ := l.do("POST", "/callbacks/standard", body, header)
		return status
	}
	tellAll := func(from, to int) {
		statuses := make([]int, (to-from)*loadTold)
		var callers sync.WaitGroup
		for i := range loadCallers {
			callers.Go(func() {
				for k := i; k < len(statuses); k += loadCallers {
					statuses[k] = tell(from+k/loadTold, k%loadTold%2) // under two ids, each twice
				}
			})
		}
		callers.Wait()
		for _, status := range statuses {
			require.Equal(t, http.StatusOK, status)
		}
	}
	tellAll(0, loadOrders/2)
	redis.Kill()
	tellAll(loadOrders/2, loadOrders)
	require.True(t, l.switched())

	for n := range loadOrders { // what had to wait, if anything did
		l.applied[orderOf(n)] = 1
	}
	_, err = l.pool.Exec(t.Context(), "UPDATE fsm_inbox SET due_at = clock_timestamp() WHERE due_at IS NOT NULL")
	require.NoError(t, err)
	_, err = l.service.Retry().Once(t.Context())
	require.NoError(t, err)
	l.once()
	var events string
	require.NoError(t, l.pool.QueryRow(t.Context(), "SELECT json_object_agg(state, n)::text FROM (SELECT state, count(*) AS n FROM fsm_inbox GROUP BY state) AS s").Scan(&events))
	require.JSONEq(t, fmt.Sprintf(`{"done": %d}`, loadOrders), events)
	turns, err := json.Marshal(l.turns())
	require.NoError(t, err)
	t.Logf("turns %s", turns)
}
