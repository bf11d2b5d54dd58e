package trial

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/load"
	"github.com/pawl-go/pawl/bench/internal/stock"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func TestTimings(t *testing.T) {
	t.Parallel()
	times, err := timings("Time: 12.345 ms\nsomething else\nTime: 1234.500 ms (00:01.234)\nTime: 0.1 ms\n")
	require.NoError(t, err)
	require.Equal(t, []float64{12.345, 1234.5, 0.1}, times)
	times, err = timings("no Time: 1 ms")
	require.NoError(t, err)
	require.Empty(t, times)
}

func TestLiteral(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		arg  any
		want string
	}{
		{[]int32{0, 1}, "'{0,1}'"},
		{[]int64{}, "'{}'"},
		{[]bool{true, false}, "'{true,false}'"},
		{[]string{"a", `b"c`, `d\e`, "f'g", ""}, `'{"a","b\"c","d\\e","f''g",""}'`},
		{nil, "NULL"},
	} {
		require.Equal(t, tc.want, literal(tc.arg))
	}
}

// What is recorded does what the generated batch does.
func TestRecordedBatchesMoveTheOrders(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	s := stock.New(pool)
	orders, err := s.Peek(t.Context(), 1002)
	require.NoError(t, err)
	prepare, executes := recorded(t.Context(), orders)
	require.Len(t, executes, 2)
	conn, err := pgx.ConnectConfig(t.Context(), pool.Config().ConnConfig)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.PgConn().Exec(t.Context(), prepare).ReadAll()
	require.NoError(t, err)
	for _, sql := range executes {
		_, err = conn.PgConn().Exec(t.Context(), sql).ReadAll()
		require.NoError(t, err)
	}
	counts, err := stock.Count(t.Context(), pool, contender.Paid, load.Numbers(orders))
	require.NoError(t, err)
	require.NoError(t, counts.Err())
	require.EqualValues(t, 1002, counts.Moved)
}

func TestRoundTripsAreCounted(t *testing.T) {
	t.Parallel()
	pool, conn, err := counting(t.Context(), testdb.URL(t))
	require.NoError(t, err)
	defer pool.Close()
	_, err = pool.Exec(t.Context(), "SELECT $1::int", 1) // prepares it
	require.NoError(t, err)
	before := conn.Trips()
	for range 10 {
		_, err = pool.Exec(t.Context(), "SELECT $1::int", 1)
		require.NoError(t, err)
	}
	require.EqualValues(t, 10, conn.Trips()-before)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(t.Context()))
	require.EqualValues(t, 12, conn.Trips()-before)
}

func TestQuietlySeesWhoWrites(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	wrote, err := quietly(t.Context(), pool, func() error {
		_, err := pool.Exec(t.Context(), "SELECT pg_current_xact_id()")
		return err
	})
	require.NoError(t, err)
	require.Positive(t, wrote)
}

func TestSomeAreDifferent(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	numbers := some(random, 50, 60)
	require.Len(t, numbers, 50)
	seen := map[int]bool{}
	for _, n := range numbers {
		require.True(t, n >= 0 && n < 60 && !seen[n])
		seen[n] = true
	}
	require.Len(t, some(random, 10, 3), 3)
}

func TestGrowthIsNotThatOfAMoment(t *testing.T) {
	t.Parallel()
	require.Equal(t, 1.0, growth([]float64{2, 2, 9, 5, 5, 5, 5, 2, 2, 7}))
	require.Equal(t, 3.0, growth([]float64{2, 2, 2, 3, 3, 3, 4, 5, 6, 7}))
}
