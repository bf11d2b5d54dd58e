package hostile

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"
)

// recorder is a database that takes every statement and does none.
type recorder struct{ statements []string }

func (r *recorder) Connect(context.Context) (driver.Conn, error) { return r, nil }
func (r *recorder) Driver() driver.Driver                        { return nil }

func (r *recorder) ExecContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	r.statements = append(r.statements, query)
	return driver.ResultNoRows, nil
}

func (r *recorder) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (r *recorder) Close() error                        { return nil }
func (r *recorder) Begin() (driver.Tx, error)           { return r, nil }
func (r *recorder) Commit() error                       { return nil }
func (r *recorder) Rollback() error                     { return nil }

// run returns what goose itself sends to a database for a migration, up and down.
func run(t testing.TB, migration []byte) (up, down []string) {
	t.Helper()
	r := &recorder{}
	db := sql.OpenDB(r)
	defer func() { _ = db.Close() }()
	files := fstest.MapFS{"00001_x.sql": {Data: migration}}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithDisableVersioning(true), goose.WithDisableGlobalRegistry(true))
	require.NoError(t, err)
	_, err = provider.Up(context.Background())
	require.NoError(t, err, "%s", migration)
	up, r.statements = r.statements, nil
	_, err = provider.Down(context.Background())
	require.NoError(t, err, "%s", migration)
	return up, r.statements
}
