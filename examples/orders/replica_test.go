package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/localpg"
)

// follower is a shop with a replica whose replay the test holds up.
type follower struct {
	t                *testing.T
	primary, replica *pgxpool.Pool
	server           *localpg.Server // the replica's
	handler          http.Handler
}

func newFollower(t *testing.T) *follower {
	t.Helper()
	ctx := t.Context()
	primary, err := localpg.Start(ctx, localpg.Options{Fast: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = primary.Stop() })
	pool, stop, err := openDatabase(ctx, databaseOptions{URL: primary.URL})
	require.NoError(t, err)
	t.Cleanup(stop)
	replica, err := localpg.Start(ctx, localpg.Options{Fast: true, ReplicaOf: primary})
	require.NoError(t, err)
	t.Cleanup(func() { _ = replica.Stop() })
	following, err := pgxpool.New(ctx, replica.URL)
	require.NoError(t, err)
	t.Cleanup(following.Close)
	service, err := shop.New(shop.Config{Pool: pool, Replica: following})
	require.NoError(t, err)
	return &follower{t, pool, following, replica, service.Handler()}
}

// do sends a request and returns the status, and the state and version told.
func (f *follower) do(method, path, body string) (status int, state string, version int64) {
	f.t.Helper()
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, httptest.NewRequestWithContext(f.t.Context(), method, path, strings.NewReader(body)))
	var told struct {
		State   string
		Version int64
		Order   struct {
			State   string
			Version int64
		}
	}
	require.NoError(f.t, json.Unmarshal(w.Body.Bytes(), &told), "%s", w.Body)
	if told.Order.State != "" {
		return w.Code, told.Order.State, told.Order.Version
	}
	return w.Code, told.State, told.Version
}

// told requires the state and version of a 200.
func (f *follower) told(path, state string, version int64) {
	f.t.Helper()
	status, gotState, gotVersion := f.do("GET", path, "")
	require.Equal(f.t, []any{http.StatusOK, state, version}, []any{status, gotState, gotVersion}, path)
}

// catchUp returns when the replica has replayed all that the primary wrote.
func (f *follower) catchUp() {
	f.t.Helper()
	var lsn string
	require.NoError(f.t, f.primary.QueryRow(f.t.Context(), "SELECT pg_current_wal_insert_lsn()::text").Scan(&lsn))
	for behind := true; behind; {
		require.NoError(f.t, f.replica.QueryRow(f.t.Context(), "SELECT pg_last_wal_replay_lsn() < $1::pg_lsn", lsn).Scan(&behind))
	}
}

// hold stops the replay: from now on the replica is behind.
func (f *follower) hold() {
	f.t.Helper()
	_, err := f.replica.Exec(f.t.Context(), "SELECT pg_wal_replay_pause()")
	require.NoError(f.t, err)
	for state := ""; state != "paused"; {
		require.NoError(f.t, f.replica.QueryRow(f.t.Context(), "SELECT pg_get_wal_replay_pause_state()").Scan(&state))
	}
}

// A replica that is behind shows an old order to those who look. It never judges
// a call, and never hides from a reader what the reader has seen.
func TestAReplicaThatIsBehind(t *testing.T) {
	t.Parallel()
	const (
		first  = "0a000000-0000-4000-8000-00000000000a"
		second = "0b000000-0000-4000-8000-00000000000b"
	)
	f := newFollower(t)
	create := func(id string) string {
		return `{"order_id":"` + id + `","customer_id":"ann","sku":"mug","quantity":1,"total_cents":100}`
	}
	status, _, _ := f.do("POST", "/orders", create(first))
	require.Equal(t, http.StatusCreated, status)
	f.catchUp()
	f.hold()

	status, state, version := f.do("POST", "/orders/"+first+"/pay", `{"payment_no":"p-1"}`)
	require.Equal(t, []any{http.StatusOK, "PAYING", int64(2)}, []any{status, state, version})
	f.told("/orders/"+first, "PENDING", 1)             // from the replica: old, and true a moment ago
	f.told("/orders/"+first+"?version=2", "PAYING", 2) // the reader has seen version 2

	// Who asks the replica whether a payment may begin hears yes, a second time.
	naive, err := order.Get(t.Context(), f.replica, first)
	require.NoError(t, err)
	require.Contains(t, order.Allowed(naive.Status), order.EventPay)
	status, state, version = f.do("POST", "/orders/"+first+"/pay", `{"payment_no":"p-1"}`)
	require.Equal(t, []any{http.StatusOK, "PAYING", int64(2)}, []any{status, state, version}, "judged on the primary: nothing moved")

	status, _, _ = f.do("POST", "/orders", create(second))
	require.Equal(t, http.StatusCreated, status)
	f.told("/orders/"+second, "PENDING", 1) // the replica has never heard of it
	for _, bad := range []string{"0", "-1", "x", "1e3"} {
		status, _, _ = f.do("GET", "/orders/"+first+"?version="+bad, "")
		require.Equal(t, http.StatusBadRequest, status, bad)
	}

	_, err = f.replica.Exec(t.Context(), "SELECT pg_wal_replay_resume()")
	require.NoError(t, err)
	f.catchUp()
	f.told("/orders/"+first, "PAYING", 2)

	require.NoError(t, f.server.Stop())
	f.told("/orders/"+first, "PAYING", 2) // no replica, no harm
	require.ErrorContains(t, f.replica.Ping(context.WithoutCancel(t.Context())), "connect")
}
