package meter

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// Every tenth row of a page that has room for all of them; an index on what is
// updated leaves none HOT.
func TestUpdatesAreCounted(t *testing.T) {
	t.Parallel()
	url := testdb.URL(t)
	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	defer pool.Close()
	for _, sql := range []string{
		"CREATE TABLE things (n int PRIMARY KEY, a int, b int) WITH (fillfactor = 50)", "CREATE INDEX ON things (b)",
		"INSERT INTO things SELECT n, 0, 0 FROM generate_series(1, 1000) AS n",
	} {
		_, err := pool.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	require.NoError(t, Rest(t.Context(), url, pool))
	for column, hot := range map[string]float64{"a": 1, "b": 0} {
		c, err := Of(t.Context(), url, "things", func(conn *pgx.Conn) error {
			_, err := conn.Exec(t.Context(), "UPDATE things SET "+column+" = 1 WHERE n % 10 = 0")
			return err
		})
		require.NoError(t, err)
		require.Equal(t, 100.0, c.Updates)
		require.Equal(t, hot, c.HOTShare(), column)
		require.GreaterOrEqual(t, c.WALRecords, 100.0)
		require.Greater(t, c.WALBytes, 1000.0)
		require.Positive(t, c.Buffers)
	}
}

func TestNothingIsCountedOfOthersBefore(t *testing.T) {
	t.Parallel()
	c, err := Of(t.Context(), testdb.URL(t), "no_such_table", func(*pgx.Conn) error { return nil })
	require.NoError(t, err)
	require.Zero(t, c.Updates)
	require.Zero(t, c.HOTShare())
}

func TestSums(t *testing.T) {
	t.Parallel()
	c := Counts{1, 2, 3, 4, 10, 5}.Plus(Counts{1, 2, 3, 4, 10, 5})
	require.Equal(t, Counts{2, 4, 6, 8, 20, 10}, c)
	require.Equal(t, Counts{1, 2, 3, 4, 10, 5}, c.Per(2))
	require.Equal(t, c, c.Per(0))
	require.Equal(t, 0.5, c.HOTShare())
}
