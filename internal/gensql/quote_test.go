package gensql

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
)

// The words that PostgreSQL does not take as a bare name are all quoted.
func TestReservedWordsAreQuoted(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	rows, err := pool.Query(context.Background(), `SELECT word FROM pg_get_keywords() WHERE catcode IN ('R', 'T', 'C')`)
	require.NoError(t, err)
	defer rows.Close()
	n := 0
	for rows.Next() {
		var word string
		require.NoError(t, rows.Scan(&word))
		require.Equal(t, `"`+word+`"`, ident(word))
		n++
	}
	require.NoError(t, rows.Err())
	require.Greater(t, n, 100)
}

func TestIdentifiers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"orders": "orders", "order": `"order"`, "a1_b": "a1_b", "1a": `"1a"`, "Orders": `"Orders"`, `a"b`: `"a""b"`, "": `""`, "ä": `"ä"`,
	} {
		require.Equal(t, want, ident(name))
	}
}

// A state may be called anything printable; as a constant it is only text.
func TestLiteralsAreOnlyText(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	for _, text := range []string{"PAID", "it's", `back\slash`, `'; DROP TABLE x; --`, "待支付", "$1 @x %s", `\'`} {
		var got string
		require.NoError(t, pool.QueryRow(context.Background(), "SELECT "+literal(text)).Scan(&got))
		require.Equal(t, text, got)
	}
}

func TestIntervals(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		240 * time.Hour: "240 hours", 30 * time.Minute: "30 minutes", 90 * time.Minute: "90 minutes", 90 * time.Second: "90 seconds", 1500 * time.Millisecond: "1500000 microseconds",
	} {
		require.Equal(t, "interval '"+want+"'", interval(d))
	}
}
