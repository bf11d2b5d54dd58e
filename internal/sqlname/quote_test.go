package sqlname

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

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
		require.Equal(t, `"`+word+`"`, Ident(word))
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
		require.Equal(t, want, Ident(name))
	}
}

// A state may be called anything printable; as a constant it is only text.
func TestLiteralsAreOnlyText(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	for _, text := range []string{"PAID", "it's", `back\slash`, `'; DROP TABLE x; --`, "待支付", "$1 @x %s", `\'`} {
		var got string
		require.NoError(t, pool.QueryRow(context.Background(), "SELECT "+Literal(text)).Scan(&got))
		require.Equal(t, text, got)
	}
}

// The key of a row is one text, whatever the session's settings.
func TestAKeyIsOneText(t *testing.T) {
	t.Parallel()
	tx, err := testdb.New(t).Begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(context.WithoutCancel(t.Context()))) }()
	_, err = tx.Exec(t.Context(), "SET LOCAL DateStyle = 'German'")
	require.NoError(t, err)
	for want, sql := range map[string]string{
		"7":                         KeyText([]string{"7"}, false),
		"2024-02-29":                KeyText([]string{"date '2024-02-29'"}, true),
		`["a\"b", 7, "2024-02-29"]`: KeyText([]string{`text 'a"b'`, "7", "date '2024-02-29'"}, false),
	} {
		var got string
		require.NoError(t, tx.QueryRow(t.Context(), "SELECT "+sql).Scan(&got))
		require.Equal(t, want, got)
	}
}
