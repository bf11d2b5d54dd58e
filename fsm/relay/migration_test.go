package relay_test

import (
	"database/sql"
	"io/fs"
	"testing"
	"testing/fstest"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver that goose is given
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// Rows that are there before the relay's tables are delivered by it, and rows that
// are there when the tables go stay, those of held keys too.
func TestTheTablesComeAndGo(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for _, name := range []string{"00001_fsm_core.sql", "00012_fsm_relay.sql"} {
		data, err := fs.ReadFile(migrations.FS, name)
		require.NoError(t, err)
		files[name] = &fstest.MapFile{Data: data}
	}
	url := testdb.URL(t)
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files)
	require.NoError(t, err)
	_, err = provider.UpTo(t.Context(), 1)
	require.NoError(t, err)
	pool := connect(t, url)
	emit(t, pool, "before", 1)

	_, err = provider.Up(t.Context())
	require.NoError(t, err)
	emit(t, pool, "poison", 1)
	b := &broker{judge: refuse("poison")}
	require.Equal(t, 1, once(t, &relay.Relay{DB: pool, Publisher: b}))
	require.Equal(t, []string{"before 1"}, b.all())

	_, err = provider.DownTo(t.Context(), 1)
	require.NoError(t, err)
	var left string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT string_agg(to_jsonb(o) ->> 'key' || (SELECT count(*) FROM jsonb_object_keys(to_jsonb(o))), ',') FROM fsm_outbox AS o`).Scan(&left))
	require.Equal(t, "poison8", left, "with its eight columns as before")
	_, err = provider.Up(t.Context())
	require.NoError(t, err)
	b.judge = nil
	require.Equal(t, 1, once(t, &relay.Relay{DB: connect(t, url), Publisher: b}))
}
