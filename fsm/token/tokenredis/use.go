package tokenredis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/token"
)

// Use is token.Use for a token of this store's: the same answers and errors, and
// ErrUnavailable.
func (s *Store) Use(ctx context.Context, t token.Token, principal, purpose string, fn token.Business) (token.Result, error) {
	if err := token.CheckBinding(principal, purpose); err != nil {
		return token.Result{}, err
	}
	if _, ok := t.Hash(); !ok {
		return token.Result{}, &token.InvalidError{Reason: token.Malformed}
	}
	u := &use{store: s, token: t, principal: principal, purpose: purpose, owner: rand.Text()}
	answer, err := u.reserve(ctx)
	switch {
	case errors.Is(err, errDown):
		return u.withoutRedis(ctx, fn, err)
	case err != nil:
		return token.Result{}, err
	}
	switch answer[0] {
	case "principal":
		return token.Result{}, &token.InvalidError{Reason: token.WrongPrincipal}
	case "purpose":
		return token.Result{}, &token.InvalidError{Reason: token.WrongPurpose}
	case "reserved":
		return u.reserved(ctx, u.record(answer), fn)
	case "held": // for longer than it is waited for here
		return token.UseRecord(ctx, s.db, t, principal, purpose, u.record(answer), fn)
	}
	// Used or not known: its row, if it has one, says what it is worth.
	return token.UseRecord(ctx, s.db, t, principal, purpose, nil, fn)
}

// use is one use of a token.
type use struct {
	store              *Store
	token              token.Token
	principal, purpose string
	owner              string
}

// reserve reserves the token, and waits while another use has it. The answer is
// the script's.
func (u *use) reserve(ctx context.Context) ([]string, error) {
	s := u.store
	over := time.NewTimer(s.config.Wait)
	defer over.Stop()
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		answer, err := s.call(ctx, reserveScript, s.key(u.token), u.owner, millis(s.config.Lease), u.principal, u.purpose)
		if ctx.Err() != nil { // Redis may have reserved it, with nobody there to hear of it
			u.release(ctx)
			return nil, ctx.Err()
		}
		if err != nil || answer[0] != "held" || len(answer) < 4 {
			return answer, err
		}
		next := time.NewTimer(pause/2 + mathrand.N(pause))
		select {
		case <-ctx.Done():
			next.Stop()
			return nil, ctx.Err()
		case <-over.C:
			next.Stop()
			return answer, nil
		case <-next.C:
		}
	}
}

// record is what the script knows of the token. What is left is a duration: it
// does not matter how far Redis's clock is from PostgreSQL's.
func (u *use) record(answer []string) *token.Record {
	return &token.Record{
		Kind: answer[1], Principal: u.principal, Purpose: u.purpose,
		Keep: duration(answer[2]), Left: duration(answer[3]),
	}
}

// reserved runs the business and tells Redis what came of it: a token that was
// used is consumed, any other is given back. When Redis is not to be told, the
// lease ends, and the next use learns from the row.
func (u *use) reserved(ctx context.Context, record *token.Record, fn token.Business) (r token.Result, err error) {
	s := u.store
	done := false
	defer func() { // after a panic too
		if !done {
			u.release(ctx)
			return
		}
		detached := context.WithoutCancel(ctx) // call has its bound
		_, _ = s.call(detached, consumeScript, s.key(u.token), r.At.UTC().Format(time.RFC3339Nano))
	}()
	if err := fault.At(ctx, PointReserved); err != nil {
		return token.Result{}, err
	}
	r, err = token.UseRecord(ctx, s.db, u.token, u.principal, u.purpose, record, fn)
	done = err == nil
	return r, err
}

// release gives the token back, if this use has it, though ctx may have ended.
func (u *use) release(ctx context.Context) {
	_, _ = u.store.call(context.WithoutCancel(ctx), releaseScript, u.store.key(u.token), u.owner)
}

// withoutRedis uses a token that has a row. One without may be in Redis.
func (u *use) withoutRedis(ctx context.Context, fn token.Business, down error) (token.Result, error) {
	r, err := token.UseRecord(ctx, u.store.db, u.token, u.principal, u.purpose, nil, fn)
	var invalid *token.InvalidError
	if errors.As(err, &invalid) && invalid.Reason == token.Unknown {
		return token.Result{}, fmt.Errorf("%w: %w", ErrUnavailable, down)
	}
	return r, err
}
