package rowcount_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/rowcount"
	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func table(name, column string, storage model.Storage) *model.Table {
	return &model.Table{Name: name, Status: model.Status{Column: column, Storage: storage}}
}

func TestCount(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	url := testdb.URL(t)
	c, err := rowcount.Open(ctx, url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close(ctx)) })
	exec := execIn(t, url)
	exec(`CREATE TABLE orders (status text); INSERT INTO orders VALUES ('PAID'), ('PAID'), ('it''s')`)
	exec(`CREATE TYPE door_state AS ENUM ('OPEN', 'SHUT'); CREATE TABLE doors (state door_state); INSERT INTO doors VALUES ('OPEN')`)
	exec(`CREATE TABLE "order" (code smallint); INSERT INTO "order" VALUES (10), (20), (20), (20)`)
	exec(`CREATE SCHEMA shop; CREATE TABLE shop.lamps (status text); INSERT INTO shop.lamps VALUES ('LIT')`)

	for _, want := range []struct {
		state rowcount.State
		n     int64
	}{
		{rowcount.State{Table: table("orders", "status", model.StoredText), Name: "PAID"}, 2},
		{rowcount.State{Table: table("orders", "status", model.StoredText), Name: "it's"}, 1},
		{rowcount.State{Table: table("orders", "status", model.StoredText), Name: "GONE"}, 0},
		{rowcount.State{Table: table("doors", "state", model.StoredEnum), Name: "OPEN"}, 1},
		{rowcount.State{Table: table("doors", "state", model.StoredEnum), Name: "AJAR"}, 0}, // no value of the enum
		{rowcount.State{Table: table("order", "code", model.StoredCode), Name: "PAID", Code: 20}, 3},
	} {
		n, err := c.Count(ctx, want.state)
		require.NoError(t, err, want.state.Name)
		require.Equal(t, want.n, n, want.state.Name)
	}

	for _, missing := range []*model.Table{table("lamps", "status", model.StoredText), table("orders", "state", model.StoredText)} {
		_, err = c.Count(ctx, rowcount.State{Table: missing, Name: "LIT"})
		require.ErrorIs(t, err, rowcount.ErrMissing)
	}
	// A table is the one that the search_path finds.
	exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = shop, public', current_database()); END $$`)
	there, err := rowcount.Open(ctx, url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, there.Close(ctx)) })
	n, err := there.Count(ctx, rowcount.State{Table: table("lamps", "status", model.StoredText), Name: "LIT"})
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	_, err := rowcount.Open(context.Background(), "postgres://u:secret@127.0.0.1:x/db")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
}
