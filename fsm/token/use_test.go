package token_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/token"
)

func TestUseAndReplay(t *testing.T) {
	t.Parallel()
	pool := open(t)
	tok := issue(t, pool)
	first, err := token.Use(t.Context(), pool, tok, ann, order42, works("paid"))
	require.NoError(t, err)
	require.Equal(t, "paid", string(first.Reply))
	require.False(t, first.Replayed)
	require.WithinDuration(t, time.Now(), first.At, time.Minute)

	again, err := token.Use(t.Context(), pool, token.From(tok.Reveal()), ann, order42, never(t))
	require.NoError(t, err)
	require.Equal(t, "paid", string(again.Reply))
	require.True(t, again.Replayed)
	require.True(t, first.At.Equal(again.At), "the time of the first")
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM effects`))
}

// An empty reply is one.
func TestEmptyReply(t *testing.T) {
	t.Parallel()
	pool := open(t)
	tok := issue(t, pool)
	none := func(context.Context, pgx.Tx) ([]byte, error) { return nil, nil }
	for _, replayed := range []bool{false, true} {
		r, err := token.Use(t.Context(), pool, tok, ann, order42, none)
		require.NoError(t, err)
		require.Empty(t, r.Reply)
		require.Equal(t, replayed, r.Replayed)
	}
}

// The text is nowhere in the database.
func TestStoredAsHash(t *testing.T) {
	t.Parallel()
	pool := open(t)
	tok := issue(t, pool)
	var row string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT (t.*)::text FROM fsm_token t`).Scan(&row))
	require.NotContains(t, row, tok.Reveal()[len("pay_"):])
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM fsm_token WHERE hash = sha256('`+tok.Reveal()+`')`))
}

// Of 50 parallel uses one does something; the others get its reply.
func TestFiftyParallelUses(t *testing.T) {
	t.Parallel()
	pool := open(t)
	tok := issue(t, pool)
	const users = 50
	results, errs := make([]token.Result, users), make([]error, users)
	var wg sync.WaitGroup
	for i := range users {
		wg.Go(func() { results[i], errs[i] = token.Use(t.Context(), pool, tok, ann, order42, works("paid")) })
	}
	wg.Wait()
	replays := 0
	for i := range users {
		require.NoError(t, errs[i])
		require.Equal(t, "paid", string(results[i].Reply))
		require.True(t, results[0].At.Equal(results[i].At))
		if results[i].Replayed {
			replays++
		}
	}
	require.Equal(t, users-1, replays)
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM effects`))
}

// naiveUse looks and deletes in two statements, and has them take effect before
// the business does: what a public report and both seeds of this package did.
func naiveUse(ctx context.Context, pool fsm.DB, tok token.Token, looked func(), fn func() error) (bool, error) {
	hash, _ := tok.Hash()
	var there bool
	if err := pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM fsm_token WHERE hash = $1)`, hash[:]).Scan(&there); err != nil || !there {
		return false, err
	}
	looked()
	if _, err := pool.Exec(ctx, `DELETE FROM fsm_token WHERE hash = $1`, hash[:]); err != nil {
		return false, err
	}
	return true, fn()
}

// Check and consumption apart: two uses pass the check, and both do it.
func TestNaiveUseDoesItTwice(t *testing.T) {
	t.Parallel()
	pool := open(t)
	tok := issue(t, pool)
	var both, done sync.WaitGroup
	both.Add(2)
	effects := make(chan struct{}, 2)
	for range 2 {
		done.Go(func() {
			_, _ = naiveUse(t.Context(), pool, tok, func() { both.Done(); both.Wait() }, func() error {
				effects <- struct{}{}
				return nil
			})
		})
	}
	done.Wait()
	require.Len(t, effects, 2)
}

// The token consumed before the change: a change that fails costs the token. Here
// it does not.
func TestFailedBusinessKeepsTheToken(t *testing.T) {
	t.Parallel()
	pool := open(t)

	lost := issue(t, pool)
	_, err := naiveUse(t.Context(), pool, lost, func() {}, func() error { return errBusiness })
	require.ErrorIs(t, err, errBusiness)
	again, err := naiveUse(t.Context(), pool, lost, func() {}, func() error { return nil })
	require.NoError(t, err)
	require.False(t, again, "the naive one has lost its token")

	tok := issue(t, pool)
	for range 2 {
		_, err := token.Use(t.Context(), pool, tok, ann, order42, fails)
		require.Equal(t, errBusiness, err)
	}
	require.Panics(t, func() {
		_, _ = token.Use(t.Context(), pool, tok, ann, order42, func(context.Context, pgx.Tx) ([]byte, error) { panic("bug") })
	})
	_, err = token.Use(t.Context(), pool, tok, ann, order42, func(context.Context, pgx.Tx) ([]byte, error) {
		return make([]byte, token.MaxReply+1), nil
	})
	require.ErrorIs(t, err, token.ErrReply)
	require.Zero(t, count(t, pool, `SELECT count(*) FROM effects`))
	r, err := token.Use(t.Context(), pool, tok, ann, order42, works("paid"))
	require.NoError(t, err)
	require.False(t, r.Replayed)
}

// A second use waits for the first, and takes over when that fails.
func TestSecondUseTakesOverFromOneThatFails(t *testing.T) {
	t.Parallel()
	pool := open(t)
	tok := issue(t, pool)
	inside, fail := make(chan struct{}), make(chan struct{})
	first := make(chan error)
	go func() {
		_, err := token.Use(t.Context(), pool, tok, ann, order42, func(context.Context, pgx.Tx) ([]byte, error) {
			close(inside)
			<-fail
			return nil, errBusiness
		})
		first <- err
	}()
	<-inside
	second := make(chan token.Result)
	go func() {
		r, err := token.Use(t.Context(), pool, tok, ann, order42, works("second"))
		if err != nil {
			t.Error(err)
		}
		second <- r
	}()
	awaitWaiter(t, pool)
	close(fail)
	require.ErrorIs(t, <-first, errBusiness)
	r := <-second
	require.False(t, r.Replayed)
	require.Equal(t, "second", string(r.Reply))
}

// Whatever is wrong, the error says the same, changes nothing, and leaves the
// token to its principal.
func TestRefusals(t *testing.T) {
	t.Parallel()
	pool := open(t)
	tok := issue(t, pool)
	unknown, err := token.New(pay)
	require.NoError(t, err)
	expired := issue(t, pool)
	usedUp := issue(t, pool)
	_, err = token.Use(t.Context(), pool, usedUp, ann, order42, works("old"))
	require.NoError(t, err)
	for old, column := range map[token.Token]string{expired: "expires_at", usedUp: "sweep_at"} {
		hash, _ := old.Hash()
		_, err := pool.Exec(t.Context(), `UPDATE fsm_token SET `+column+` = now() WHERE hash = $1`, hash[:])
		require.NoError(t, err)
	}
	for _, tc := range []struct {
		name               string
		token              token.Token
		principal, purpose string
		want               token.Reason
	}{
		{"nothing", token.Token{}, ann, order42, token.Malformed},
		{"some text", token.From("pay_x"), ann, order42, token.Malformed},
		{"never issued", unknown, ann, order42, token.Unknown},
		{"somebody else", tok, bob, order42, token.WrongPrincipal},
		{"something else", tok, ann, "pay order 43", token.WrongPurpose},
		{"both", tok, bob, "pay order 43", token.WrongPrincipal},
		{"too late", expired, ann, order42, token.Expired},
		{"too late, somebody else", expired, bob, order42, token.WrongPrincipal},
		{"reply is gone", usedUp, ann, order42, token.Expired},
		{"used, somebody else", usedUp, bob, order42, token.WrongPrincipal},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := token.Use(t.Context(), pool, tc.token, tc.principal, tc.purpose, never(t))
			require.Equal(t, tc.want, reason(t, err))
			require.Zero(t, r)
		})
	}
	_, err = token.Use(t.Context(), pool, tok, ann, order42, works("still good"))
	require.NoError(t, err)
}

func TestArgumentsOfAUse(t *testing.T) {
	t.Parallel()
	for name, text := range badTexts { // no database: nothing is sent
		_, err := token.Use(t.Context(), nil, token.Token{}, text, order42, never(t))
		require.ErrorIs(t, err, fsm.ErrArgument, name)
		_, err = token.Issue(t.Context(), nil, pay, ann, text)
		require.ErrorIs(t, err, fsm.ErrArgument, name)
	}
	_, err := token.Use(t.Context(), nil, token.Token{}, ann, order42, nil)
	require.ErrorIs(t, err, fsm.ErrArgument)
	_, err = token.Issue(t.Context(), nil, token.Kind{}, ann, order42)
	require.ErrorIs(t, err, fsm.ErrArgument)
}

// A process that ends before the commit has done nothing; one that ends between
// the commit and the reply has, and the next use says so.
func TestEndsAtPoints(t *testing.T) {
	t.Parallel()
	pool := open(t)
	tok := issue(t, pool)
	for _, point := range []fault.Point{token.PointReserved, token.PointUsed} {
		_, err := token.Use(fault.With(t.Context(), point, fault.Fail), pool, tok, ann, order42, works(string(point)))
		require.ErrorIs(t, err, fault.ErrInjected)
	}
	r, err := token.Use(t.Context(), pool, tok, ann, order42, never(t))
	require.NoError(t, err)
	require.True(t, r.Replayed)
	require.Equal(t, "token.used", string(r.Reply))
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM effects`))
}

// A transaction that is to be repeated runs the business again, once for good.
func TestRepeatedTransaction(t *testing.T) {
	t.Parallel()
	pool := open(t)
	tok := issue(t, pool)
	runs := 0
	r, err := token.Use(t.Context(), pool, tok, ann, order42, func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
		if runs++; runs == 1 {
			_, err := tx.Exec(ctx, `DO $$ BEGIN RAISE EXCEPTION SQLSTATE '40001'; END $$`)
			return nil, err
		}
		return works("paid")(ctx, tx)
	})
	require.NoError(t, err)
	require.False(t, r.Replayed)
	require.Equal(t, 2, runs)
}

func TestUseTx(t *testing.T) {
	t.Parallel()
	pool := open(t)
	tok := issue(t, pool)
	in := func(options pgx.TxOptions, end func(pgx.Tx), fn token.Business) (token.Result, error) {
		tx, err := pool.BeginTx(t.Context(), options)
		require.NoError(t, err)
		defer end(tx)
		return token.UseTx(t.Context(), tx, tok, ann, order42, fn)
	}
	commit := func(tx pgx.Tx) { require.NoError(t, tx.Commit(t.Context())) }
	rollback := func(tx pgx.Tx) { require.NoError(t, tx.Rollback(t.Context())) }

	_, err := in(pgx.TxOptions{}, commit, fails) // the caller commits all the same
	require.Equal(t, errBusiness, err)
	_, err = in(pgx.TxOptions{}, rollback, works("rolled back"))
	require.NoError(t, err)
	require.Zero(t, count(t, pool, `SELECT count(*) FROM effects`))
	for _, level := range []pgx.TxIsoLevel{pgx.RepeatableRead, pgx.Serializable} {
		_, err = in(pgx.TxOptions{IsoLevel: level}, rollback, never(t))
		require.ErrorIs(t, err, token.ErrIsolation)
	}
	r, err := in(pgx.TxOptions{}, commit, works("paid"))
	require.NoError(t, err)
	require.False(t, r.Replayed)
	r, err = in(pgx.TxOptions{}, commit, never(t))
	require.NoError(t, err)
	require.True(t, r.Replayed)
}

// A token that expires while the caller's transaction is open is expired: the
// transaction's own now() is of before.
func TestExpiresWhileATransactionIsOpen(t *testing.T) {
	t.Parallel()
	pool := open(t)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(t.Context())) }()
	var open bool
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT now() IS NOT NULL`).Scan(&open))
	kind := token.Kind{Name: "a", TTL: time.Millisecond, AnyTTL: true, Keep: time.Hour}
	tok, err := token.Issue(t.Context(), pool, kind, ann, order42)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		return count(t, pool, `SELECT count(*) FROM fsm_token WHERE expires_at < now()`) == 1
	}, 20*time.Second, time.Millisecond)
	_, err = token.UseTx(t.Context(), tx, tok, ann, order42, never(t))
	require.Equal(t, token.Expired, reason(t, err))
}

// The caller's context ends as the business is done, or as the savepoint is to be
// released, and the caller commits under another one. Either nothing of the use is
// there, as the error says, or all of it without an error.
func TestUseTxContextEnds(t *testing.T) {
	t.Parallel()
	pool := open(t)
	tok := issue(t, pool)
	in := func(early bool) (token.Result, error) {
		tx, err := pool.Begin(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Commit(t.Context())) }()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		return token.UseTx(ctx, ending{tx, early, cancel}, tok, ann, order42, works("paid"))
	}

	_, err := in(true)
	require.ErrorIs(t, err, fsm.ErrNothingDone)
	require.Zero(t, count(t, pool, `SELECT count(*) FROM effects`))
	require.Zero(t, count(t, pool, `SELECT count(*) FROM fsm_token WHERE used_at IS NOT NULL`))
	for _, replayed := range []bool{false, true} {
		r, err := in(false)
		require.NoError(t, err)
		require.Equal(t, replayed, r.Replayed)
		require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM effects`))
	}
}

// ending is a transaction in a savepoint of which the caller's context ends: after the
// last statement, or else as the savepoint's RELEASE is to be sent.
type ending struct {
	pgx.Tx
	early bool
	end   context.CancelFunc
}

func (e ending) Begin(ctx context.Context) (pgx.Tx, error) {
	inner, err := e.Tx.Begin(ctx)
	return endingPoint{inner, e}, err
}

type endingPoint struct {
	pgx.Tx
	of ending
}

// Exec runs the statement that keeps the reply, the last one.
func (p endingPoint) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	tag, err := p.Tx.Exec(ctx, sql, args...)
	if p.of.early && strings.HasPrefix(sql, "UPDATE fsm_token") {
		p.of.end()
	}
	return tag, err
}

func (p endingPoint) Commit(ctx context.Context) error {
	p.of.end()
	return p.Tx.Commit(ctx)
}
