package token_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/token"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Leakless(m) }

var pay = token.Kind{Name: "pay", TTL: 30 * time.Minute, Keep: 24 * time.Hour}

const (
	ann     = "customer:1"
	bob     = "customer:2"
	order42 = "pay order 42"
)

var errBusiness = errors.New("out of stock")

// open returns a database with a table that counts what the business did.
func open(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	_, err := pool.Exec(t.Context(), `CREATE TABLE effects (id bigint GENERATED ALWAYS AS IDENTITY, note text NOT NULL)`)
	require.NoError(t, err)
	return pool
}

// works does something that can be counted, and replies.
func works(reply string) token.Business {
	return func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
		_, err := tx.Exec(ctx, `INSERT INTO effects (note) VALUES ($1)`, reply)
		return []byte(reply), err
	}
}

// fails does something, and fails afterwards.
func fails(ctx context.Context, tx pgx.Tx) ([]byte, error) {
	if _, err := tx.Exec(ctx, `INSERT INTO effects (note) VALUES ('half')`); err != nil {
		return nil, err
	}
	return nil, errBusiness
}

// never is the business of a use that must not come to it.
func never(t *testing.T) token.Business {
	return func(context.Context, pgx.Tx) ([]byte, error) {
		t.Error("the business ran")
		return nil, nil
	}
}

func count(t *testing.T, pool *pgxpool.Pool, query string) int {
	t.Helper()
	var n int
	require.NoError(t, pool.QueryRow(t.Context(), query).Scan(&n))
	return n
}

func issue(t *testing.T, pool *pgxpool.Pool) token.Token {
	t.Helper()
	tok, err := token.Issue(t.Context(), pool, pay, ann, order42)
	require.NoError(t, err)
	return tok
}

// reason is why a token was refused, for which the error alone says nothing.
func reason(t *testing.T, err error) token.Reason {
	t.Helper()
	require.ErrorIs(t, err, token.ErrInvalid)
	require.EqualError(t, err, "token is not valid")
	var invalid *token.InvalidError
	require.ErrorAs(t, err, &invalid)
	return invalid.Reason
}

// awaitWaiter returns when a statement waits for a lock.
func awaitWaiter(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	require.Eventually(t, func() bool {
		return count(t, pool, `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
	}, 20*time.Second, 5*time.Millisecond)
}
