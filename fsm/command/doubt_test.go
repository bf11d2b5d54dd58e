package command_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/internal/testdb"
)

// losing is a pool whose transactions lose the answer to their COMMIT, which took
// effect or not.
type losing struct {
	*pgxpool.Pool
	commits bool
}

func (l losing) BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error) {
	tx, err := l.Pool.BeginTx(ctx, o)
	return losingTx{tx, l.commits}, err
}

type losingTx struct {
	pgx.Tx
	commits bool
}

func (l losingTx) Commit(ctx context.Context) error {
	if l.commits {
		return errors.Join(l.Tx.Commit(ctx), io.ErrUnexpectedEOF)
	}
	return errors.Join(l.Rollback(ctx), io.ErrUnexpectedEOF)
}

// A lost COMMIT is told as unknown, and the same call again finds the truth.
func TestLostCommit(t *testing.T) {
	t.Parallel()
	for _, commits := range []bool{true, false} {
		pool := open(t)
		c := leased()
		lost := losing{pool, commits}
		_, err := c.Do(t.Context(), lost, payment("tx", `{}`), pay)
		require.ErrorIs(t, err, fsm.ErrUnknown)
		got, err := c.Do(t.Context(), pool, payment("tx", `{}`), pay)
		require.NoError(t, err)
		require.Equal(t, commits, got.Replayed)
		require.Equal(t, 1, ledger(t, pool))

		_, err = c.DoLeased(t.Context(), lost, payment("leased", `{}`), charge("first"))
		require.ErrorIs(t, err, fsm.ErrUnknown)
		got, err = c.DoLeased(t.Context(), pool, payment("leased", `{}`), charge("second"))
		require.NoError(t, err)
		require.Equal(t, commits, got.Replayed)
	}
}

// Keys that cannot be are refused before any SQL, without showing them.
func TestBadRequests(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{
		"empty": "", "10,000 characters": strings.Repeat("s", 10_000), "NUL": "sec\x00ret", "line feed": "secret\n",
		"C1 control": "secret\u0085", "no UTF-8": "secret\xff", "256 bytes": strings.Repeat("s", 256),
	} {
		for _, field := range []string{"scope", "key", "name"} {
			c, r := command.Command{Name: "pay"}, payment("k", `{}`)
			switch field {
			case "scope":
				r.Scope = bad
			case "key":
				r.Key = bad
			default:
				c.Name = bad
			}
			_, err := c.Do(t.Context(), nil, r, never)
			require.ErrorIs(t, err, fsm.ErrArgument, "%s %s", name, field)
			if field != "name" && bad != "" {
				require.NotContains(t, err.Error(), bad)
			}
		}
	}
	c := command.Command{Name: "pay"}
	_, err := c.Do(t.Context(), nil, payment("k", `{"a":1,"a":2}`), never)
	require.ErrorIs(t, err, command.ErrBody)
}

// What is missing altogether is refused, and panics nowhere.
func TestNil(t *testing.T) {
	t.Parallel()
	pool, c, r := open(t), leased(), payment("k", `{}`)
	for name, call := range map[string]func() error{
		"Do, no database":       func() error { _, err := c.Do(t.Context(), nil, r, never); return err },
		"Do, no work":           func() error { _, err := c.Do(t.Context(), pool, r, nil); return err },
		"DoTx, no database":     func() error { _, err := c.DoTx(t.Context(), nil, r, never); return err },
		"DoLeased, no database": func() error { _, err := c.DoLeased(t.Context(), nil, r, neverLeased); return err },
		"DoLeased, no work":     func() error { _, err := c.DoLeased(t.Context(), pool, r, nil); return err },
		"Status, no database":   func() error { _, err := c.Status(t.Context(), nil, r.Scope, r.Key); return err },
		"Sweep, no database":    func() error { _, err := c.Sweep(t.Context(), nil, 0); return err },
		"CompleteTx, no transaction": func() error {
			_, err := c.DoLeased(t.Context(), pool, r, func(ctx context.Context, l *command.Lease) (command.Reply, error) {
				return command.Reply{}, l.CompleteTx(ctx, nil, command.Reply{Status: 200})
			})
			return err
		},
	} {
		require.ErrorIs(t, call(), fsm.ErrArgument, name)
	}
}

func TestBadDeclarations(t *testing.T) {
	t.Parallel()
	for _, c := range []command.Command{
		{}, {Name: "x", Retention: -1}, {Name: "x", MaxReply: -1}, {Name: "x", Lease: -1}, {Name: "x", MaxLease: -1},
		{Name: "x", Headers: []string{"set-cookie"}}, {Name: "x", Headers: []string{"Authorization"}},
		{Name: "x", Headers: []string{"proxy-authenticate"}}, {Name: "x", Headers: []string{"Connection"}},
	} {
		require.ErrorIs(t, c.Check(), fsm.ErrArgument, "%+v", c.Headers)
	}
	require.NoError(t, (&command.Command{Name: "x"}).Check())
}

// Of keys as long as they may be, and of all characters, one is one.
func TestLongKeys(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := command.Command{Name: strings.Repeat("n", command.MaxText)}
	r := payment(strings.Repeat("支", command.MaxText/3), `{}`)
	r.Scope = strings.Repeat("s", command.MaxText)
	_, err := c.Do(t.Context(), pool, r, pay)
	require.NoError(t, err)
	again, err := c.Do(t.Context(), pool, r, never)
	require.NoError(t, err)
	require.True(t, again.Replayed)
}

func TestMissingTables(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	c := leased()
	_, err := c.Do(t.Context(), pool, payment("k", `{}`), never)
	require.ErrorIs(t, err, command.ErrTables)
	_, err = c.Status(t.Context(), pool, "acme", "k")
	require.ErrorIs(t, err, command.ErrTables)
	_, err = c.Sweep(t.Context(), pool, 0)
	require.ErrorIs(t, err, command.ErrTables)
	require.ErrorContains(t, err, "fsmgen tables command")
}

// A record whose fingerprint is of an algorithm of the future is neither a match
// nor a mismatch.
func TestAlgorithmOfTheFuture(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := command.Command{Name: "pay"}
	_, err := c.Do(t.Context(), pool, payment("k", `{}`), pay)
	require.NoError(t, err)
	run(t, pool, `UPDATE fsm_command SET algorithm = 3`)
	_, err = c.Do(t.Context(), pool, payment("k", `{}`), never)
	require.ErrorIs(t, err, command.ErrAlgorithm)
	require.NotErrorIs(t, err, command.ErrMismatch)
}

// A record of the first algorithm, which knew of no condition, is compared by that one:
// its request is found again, with the condition that it had, and no other.
func TestAlgorithmOfThePast(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := command.Command{Name: "pay"}
	r := command.Request{
		Scope: "acme", Key: "k", Principal: "ann", Method: "POST", Path: "/x", ContentType: "text/plain", Body: []byte(`{"a": 1}`),
		Condition: "If-Match: \"1\"",
	}
	_, err := c.Do(t.Context(), pool, r, pay)
	require.NoError(t, err)
	require.EqualValues(t, 2, ask[int16](t, pool, `SELECT algorithm FROM fsm_command`))
	run(t, pool, `UPDATE fsm_command SET algorithm = 1,
		fingerprint = '\xd1a23dfcdfd843fdf723c7b8c0dbed3bb13490e1a8430a05765f124d847f6e74'`)
	again, err := c.Do(t.Context(), pool, r, never)
	require.NoError(t, err)
	require.True(t, again.Replayed)
	r.Body = []byte(`{"a": 2}`)
	_, err = c.Do(t.Context(), pool, r, never)
	require.ErrorIs(t, err, command.ErrMismatch)
}
