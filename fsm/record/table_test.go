package record_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/record"
	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// Rows are written in one spelling, and the session keeps its own.
func TestNoSettingOfTheSessionIsWritten(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), testdb.URL(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.Background())) })
	_, err = conn.Exec(t.Context(), `
		SET DateStyle = 'German'; SET TimeZone = 'Asia/Shanghai'; SET IntervalStyle = 'iso_8601'; SET extra_float_digits = -15; SET bytea_output = 'escape';
		CREATE TABLE days (day date PRIMARY KEY, status text, version bigint, at timestamptz, rate float8, raw bytea, wait interval);
		CREATE TABLE day_history (day date, version bigint, event text, from_status text, to_status text);
		INSERT INTO days VALUES ('2026-01-02', 'NEW', 1, '0001-01-01 00:00:00+00', 0.1::float8 + 0.2::float8, 'a\\', '1 day 02:00:00');
		INSERT INTO day_history VALUES ('2026-01-02', 1, 'create', NULL, 'NEW')`)
	require.NoError(t, err)
	var b bytes.Buffer
	rec := record.New(&b, "day", step())
	require.NoError(t, rec.Found(t.Context(), conn, record.Table{Name: "days", Key: []string{"day"}, NoFacts: true, Columns: []string{"day", "at", "rate", "raw", "wait"}}))
	require.Equal(t, []string{
		`{"type":"read","at":2,"machine":"day","key":"2026-01-02","since":1,"state":"NEW","version":1,` +
			`"columns":{"at":"0001-01-01T00:00:00+00:00","day":"2026-01-02","rate":0.30000000000000004,"raw":"\\x615c","wait":"1 day 02:00:00"},` +
			`"history":[{"event":"create","to":"NEW","version":1}]}`,
		`{"type":"read","at":3,"machine":"day","since":1,"gone":true}`,
	}, lines(t, &b))
	var settings []string
	for _, s := range []string{"DateStyle", "TimeZone", "IntervalStyle", "extra_float_digits", "bytea_output"} {
		var is string
		require.NoError(t, conn.QueryRow(t.Context(), "SHOW "+s).Scan(&is))
		settings = append(settings, is)
	}
	require.Equal(t, "German, DMY|Asia/Shanghai|iso_8601|-15|escape", strings.Join(settings, "|"))
}

func TestARowWithAnEmptyKeyIsFound(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	_, err := pool.Exec(t.Context(), `CREATE TABLE notes (id text PRIMARY KEY, status text, version bigint);
		CREATE TABLE note_history (id text, version bigint, event text, from_status text, to_status text);
		INSERT INTO notes VALUES ('', 'NEW', 1)`)
	require.NoError(t, err)
	var b bytes.Buffer
	rec, notes := record.New(&b, "note", step()), record.Table{Name: "notes", Key: []string{"id"}, NoFacts: true}
	require.NoError(t, rec.Began(t.Context(), pool, notes))
	require.NoError(t, rec.Found(t.Context(), pool, notes))
	require.Equal(t, []string{
		`{"type":"row","at":1,"machine":"note","key":"","state":"NEW","version":1,"history":[]}`,
		`{"type":"row","at":2,"machine":"note","gone":true}`,
		`{"type":"read","at":4,"machine":"note","key":"","since":3,"state":"NEW","version":1,"history":[]}`,
		`{"type":"read","at":5,"machine":"note","since":3,"gone":true}`,
	}, lines(t, &b))
}
