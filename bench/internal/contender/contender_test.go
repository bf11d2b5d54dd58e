package contender_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/load"
	"github.com/pawl-go/pawl/bench/internal/stock"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// What a contender says it writes is there, and a second telling moves nothing.
func TestContendersMoveAnOrderOnce(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		of  contender.Contender
		pay bool
		// traces says that all of history, facts and outbox are written.
		traces bool
	}{
		{contender.Bare(), true, false},
		{contender.Hand(), true, true},
		{contender.Usual(), true, true},
		{contender.Retry(), true, true},
		{contender.Looplab(), false, false},
		{contender.Stateless(), false, false},
		{contender.River(), true, true},
		{contender.DBOS(), true, true},
		{contender.Pawl(), true, true},
		{contender.PawlTx(), true, true},
		{contender.PawlBatch(), true, true},
		{contender.PawlCoalesced(), true, true},
	} {
		events := []contender.Event{contender.Paid}
		if tc.pay {
			events = append(events, contender.Pay)
		}
		for _, event := range events {
			t.Run(tc.of.Name+", "+string(event), func(t *testing.T) {
				t.Parallel()
				url := testdb.URL(t, testdb.WithMigrations(migrations.FS))
				pool := open(t, url)
				orders, err := stock.New(pool).Peek(t.Context(), 3)
				require.NoError(t, err)
				opened, err := tc.of.Open(t.Context(), contender.Env{URL: url, Conns: 1, Callers: 1, Event: event})
				require.NoError(t, err)
				defer opened.Close()
				moved := 0
				for i := range orders {
					n, err := opened.Call(t.Context(), orders[i:i+1])
					require.NoError(t, err)
					moved += n
				}
				require.Equal(t, len(orders), moved)
				again, err := opened.Call(t.Context(), orders[:1])
				require.NoError(t, err)
				if tc.of.Name != "DBOS workflow" { // which answers a second telling as the first
					require.Zero(t, again)
				}
				counts, err := stock.Count(t.Context(), pool, event, load.Numbers(orders))
				require.NoError(t, err)
				require.EqualValues(t, len(orders), counts.Moved)
				require.Zero(t, counts.Again)
				require.Equal(t, tc.traces, counts.Err() == nil, "%v", counts)
			})
		}
	}
}

func TestKnownReadsRowAndFact(t *testing.T) {
	t.Parallel()
	url := testdb.URL(t, testdb.WithMigrations(migrations.FS))
	orders, err := stock.New(open(t, url)).Peek(t.Context(), 1)
	require.NoError(t, err)
	env := contender.Env{URL: url, Conns: 1, Callers: 1, Event: contender.Paid}
	for _, of := range []contender.Contender{contender.Known(), contender.Pawl(), contender.Known()} {
		opened, err := of.Open(t.Context(), env)
		require.NoError(t, err)
		_, err = opened.Call(t.Context(), orders)
		require.NoError(t, err)
		opened.Close()
	}
	missing := stock.Of(77)
	opened, err := contender.Known().Open(t.Context(), env)
	require.NoError(t, err)
	defer opened.Close()
	_, err = opened.Call(t.Context(), []contender.Delivery{missing})
	require.Error(t, err)
}
