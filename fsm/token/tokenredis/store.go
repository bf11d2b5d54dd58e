package tokenredis

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/redis/rueidis"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/internal/redisconn"
	"github.com/pawl-go/pawl/fsm/token"
)

// PointReserved is a point to fail at: the token is reserved in Redis, and nothing
// is done in PostgreSQL. token.PointReserved and token.PointUsed come after it.
const PointReserved fault.Point = "tokenredis.reserved"

// ErrUnavailable: Redis does not answer, and PostgreSQL does not know the token,
// which Redis may. Nothing was done; try again later, as after an HTTP 503.
var ErrUnavailable = errors.New("token cannot be looked up now")

// DB is what a store needs of PostgreSQL: *pgxpool.Pool, *pgxpool.Conn, *pgx.Conn.
type DB interface {
	fsm.DB
	fsm.TxBeginner
}

// Config says how a store works.
type Config struct {
	// Lease is how long a use has a token for itself in Redis; required. A
	// business that takes longer is still the only one: its duplicates wait in
	// PostgreSQL then.
	Lease time.Duration
	// Wait is how long a use waits in Redis for another one under way, before it
	// waits in PostgreSQL; 0 means Lease.
	Wait time.Duration
	// Call bounds each call of Redis; 0 means 200 ms.
	Call time.Duration
	// Down is how long Redis is not asked again after it failed; 0 means 2 s.
	Down time.Duration
	// Prefix begins each key; empty means "pawl:token:".
	Prefix string
	// Failed is told of each failure of Redis, nil for nobody. PostgreSQL did the
	// work, so nobody else hears of it. It is called by many goroutines at once.
	Failed func(error)
}

// Store has tokens in Redis. It is safe for concurrent use.
type Store struct {
	conn    *redisconn.Conn
	db      DB
	config  Config
	circuit circuit
}

// New returns a store. It asks neither server. The error is fsm.ErrArgument for a
// duration that cannot be, and without a client.
func New(client rueidis.Client, db DB, c Config) (*Store, error) {
	if client == nil {
		return nil, fmt.Errorf("%w: a token store without a client", fsm.ErrArgument)
	}
	return by(redisconn.Of(client), db, c)
}

func by(conn *redisconn.Conn, db DB, c Config) (*Store, error) {
	if c.Lease < time.Millisecond {
		return nil, fmt.Errorf("%w: the lease of a token store is not positive", fsm.ErrArgument)
	}
	if c.Wait < 0 || c.Call < 0 || c.Down < 0 {
		return nil, fmt.Errorf("%w: a duration of a token store is negative", fsm.ErrArgument)
	}
	if c.Wait == 0 {
		c.Wait = c.Lease
	}
	if c.Call == 0 {
		c.Call = 200 * time.Millisecond
	}
	if c.Down == 0 {
		c.Down = 2 * time.Second
	}
	if c.Prefix == "" {
		c.Prefix = "pawl:token:"
	}
	return &Store{conn: conn, db: db, config: c, circuit: circuit{stay: c.Down, now: time.Now}}, nil
}

// Open is New for a program that has to start while Redis is away: the store connects
// when it is first asked, and again after Redis was away. Until then PostgreSQL does
// its work, as whenever Redis fails. The option's cache is switched off; its
// Dialer.Timeout bounds one attempt. Close ends the connection.
func Open(option rueidis.ClientOption, db DB, c Config) (*Store, error) {
	return by(redisconn.To(option), db, c)
}

// Close closes the connection of a store of Open. That of New has its client from its
// user, who closes it.
func (s *Store) Close() { s.conn.Close() }

// Issue is token.Issue, in Redis; in PostgreSQL while Redis fails.
func (s *Store) Issue(ctx context.Context, k token.Kind, principal, purpose string) (token.Token, error) {
	if err := token.CheckBinding(principal, purpose); err != nil {
		return token.Token{}, err
	}
	t, err := token.New(k)
	if err != nil {
		return token.Token{}, err
	}
	_, err = s.call(ctx, issueScript, s.key(t), k.Name, principal, purpose, millis(k.TTL), millis(k.Keep))
	switch {
	case err == nil:
		return t, nil
	case errors.Is(err, errDown):
		return token.Issue(ctx, s.db, k, principal, purpose)
	}
	return token.Token{}, err
}

// Revoke makes a token that was not used invalid, and reports whether it did:
// false says that it was used, is being used, or is not known. It waits for a use
// whose lease has run out. The error is ErrUnavailable while Redis fails and
// PostgreSQL does not know the token.
//
// That it was revoked is a row in PostgreSQL until the token would have expired: a
// Redis that is restored from before, or a use that has reserved the token there
// already, does not make it valid again.
func (s *Store) Revoke(ctx context.Context, t token.Token) (bool, error) {
	if _, ok := t.Hash(); !ok {
		return false, nil
	}
	answer, down := s.call(ctx, lookScript, s.key(t))
	if down != nil && !errors.Is(down, errDown) {
		return false, down
	}
	var record *token.Record
	switch {
	case down == nil && answer[0] == "used":
		return false, nil
	case down == nil && answer[0] == "free" && len(answer) == 6:
		record = &token.Record{
			Kind: answer[1], Keep: duration(answer[2]), Left: duration(answer[3]),
			Principal: answer[4], Purpose: answer[5],
		}
	}
	revoked, err := token.RevokeRecord(ctx, s.db, t, record)
	switch {
	case err != nil:
		return false, err
	case revoked && record != nil:
		_, _ = s.call(context.WithoutCancel(ctx), forgetScript, s.key(t)) // the row is what counts
	case !revoked && down != nil:
		return false, fmt.Errorf("%w: %w", ErrUnavailable, down)
	}
	return revoked, nil
}

// key is the token's key, which has its hash and not its text.
func (s *Store) key(t token.Token) string {
	hash, _ := t.Hash()
	return s.config.Prefix + hex.EncodeToString(hash[:])
}
