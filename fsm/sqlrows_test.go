package fsm

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// fakeDriver answers "numbers" with the rows (1, one) and (2, two), "broken"
// with the first of them and an error, and everything else with no row.
type fakeDriver struct{ driver.Conn }

func (d fakeDriver) Connect(context.Context) (driver.Conn, error) { return d, nil }
func (fakeDriver) Driver() driver.Driver                          { return nil }
func (fakeDriver) Close() error                                   { return nil }

func (fakeDriver) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	switch query {
	case "numbers":
		return &fakeRows{left: [][]driver.Value{{int64(1), "one"}, {int64(2), "two"}}, end: io.EOF}, nil
	case "broken":
		return &fakeRows{left: [][]driver.Value{{int64(1), "one"}}, end: errTest}, nil
	case "refused":
		return nil, errTest
	}
	return &fakeRows{end: io.EOF}, nil
}

type fakeRows struct {
	left [][]driver.Value
	end  error
}

func (*fakeRows) Columns() []string { return []string{"n", "word"} }
func (*fakeRows) Close() error      { return nil }
func (r *fakeRows) Next(dest []driver.Value) error {
	if len(r.left) == 0 {
		return r.end
	}
	copy(dest, r.left[0])
	r.left = r.left[1:]
	return nil
}

// numbered is a row of "numbers".
type numbered struct {
	n    int
	word string
}

func openFake(t *testing.T) DB {
	t.Helper()
	db := sql.OpenDB(fakeDriver{})
	db.SetMaxOpenConns(1) // rows that are left open would block the next query
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return SQLTx(db)
}

func TestSQLRows(t *testing.T) {
	t.Parallel()
	db := openFake(t)
	rows, err := db.Query(t.Context(), "numbers")
	require.NoError(t, err)
	got, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (x numbered, err error) {
		err = r.Scan(&x.n, &x.word)
		return x, err
	})
	require.NoError(t, err)
	require.Equal(t, []numbered{{1, "one"}, {2, "two"}}, got)

	rows, err = db.Query(t.Context(), "numbers")
	require.NoError(t, err)
	require.True(t, rows.Next())
	values, err := rows.Values()
	require.NoError(t, err)
	require.Equal(t, []any{int64(1), "one"}, values)
	rows.Close()
	require.False(t, rows.Next())
	require.NoError(t, rows.Err())
}

func TestSQLRowsFail(t *testing.T) {
	t.Parallel()
	db := openFake(t)
	rows, err := db.Query(t.Context(), "broken")
	require.NoError(t, err)
	require.True(t, rows.Next())
	require.False(t, rows.Next())
	require.ErrorIs(t, rows.Err(), errTest, "an end by a failure is no end")

	rows, err = db.Query(t.Context(), "numbers")
	require.NoError(t, err)
	require.True(t, rows.Next())
	scanned := rows.Scan(new(int), new(int))
	require.Error(t, scanned)
	require.False(t, rows.Next(), "a failed Scan ends the rows")
	require.Equal(t, scanned, rows.Err())
	_, err = rows.Values()
	require.Equal(t, scanned, err)

	rows, err = db.Query(t.Context(), "refused")
	require.ErrorIs(t, err, errTest)
	_, err = pgx.CollectRows(rows, pgx.RowTo[int]) // pgx lets callers leave the error to the rows
	require.ErrorIs(t, err, errTest)
	_, err = rows.Values()
	require.ErrorIs(t, err, errTest)
	require.ErrorIs(t, rows.Scan(), errTest)
}

func TestSQLRow(t *testing.T) {
	t.Parallel()
	db := openFake(t)
	var n int
	var word string
	require.NoError(t, db.QueryRow(t.Context(), "numbers").Scan(&n, &word))
	require.Equal(t, numbered{1, "one"}, numbered{n, word})
	require.Equal(t, pgx.ErrNoRows, db.QueryRow(t.Context(), "nothing").Scan(&n, &word))
	require.ErrorIs(t, db.QueryRow(t.Context(), "refused").Scan(&n, &word), errTest)
}
