package live

import (
	"context"
	_ "embed"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/pipeline"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Leakless(m) }

// crowd makes SIZE orders over the last SPAN.
//
//go:embed testdata/crowd.sql
var crowd string

// bed is a database with the repository's migrations.
type bed struct {
	t    testing.TB
	pool *pgxpool.Pool
	url  string
}

func newBed(t testing.TB) bed {
	t.Helper()
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	return bed{t, pool, pool.Config().ConnString()}
}

func (b bed) exec(sql string, args ...any) {
	b.t.Helper()
	_, err := b.pool.Exec(b.t.Context(), sql, args...)
	require.NoError(b.t, err, sql)
}

// fill fills it with orders, and has statistics made of them.
func (b bed) fill(size int, span string) {
	b.t.Helper()
	b.exec(strings.NewReplacer("SIZE", strconv.Itoa(size), "SPAN", span).Replace(crowd))
	b.exec("VACUUM (ANALYZE) orders, order_history, order_facts, fsm_outbox, fsm_outbox_sent, fsm_inbox, fsm_deliveries, fsm_command, fsm_attempts, fsm_attempt_keys, fsm_dead_letters, fsm_token, fsm_outbox_holds, fsm_outbox_aside")
}

func (b bed) open() *Database {
	b.t.Helper()
	db, err := Open(b.url)
	require.NoError(b.t, err)
	b.t.Cleanup(db.Close)
	return db
}

func (b bed) count(sql string, args ...any) (n int64) {
	b.t.Helper()
	require.NoError(b.t, b.pool.QueryRow(b.t.Context(), sql, args...).Scan(&n))
	return n
}

// machines are those of the repository.
func machines(t testing.TB) []*model.Machine {
	t.Helper()
	var problems diag.List
	all, err := pipeline.Lint(t.Context(), os.DirFS("../.."), []string{"definitions"}, &problems)
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

// define is the machine of a definition.
func define(t testing.TB, yaml string) *model.Machine {
	t.Helper()
	var problems diag.List
	all, err := pipeline.Lint(context.Background(), fstest.MapFS{"definitions/m.yaml": {Data: []byte(yaml)}}, []string{"definitions"}, &problems)
	require.NoError(t, err)
	require.Len(t, all, 1, problems.Sorted())
	return all[0]
}

func named(t testing.TB, all []*model.Machine, name string) *model.Machine {
	t.Helper()
	for _, m := range all {
		if m.Name == name {
			return m
		}
	}
	require.Fail(t, "no machine", name)
	return nil
}
