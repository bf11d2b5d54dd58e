package nemesis

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/internal/torture/wire"
)

// cut breaks connections on their way.
type cut struct {
	kinds []wire.Kind
	oneIn int
}

func (c cut) Strike(_ context.Context, t *Target, r *rand.Rand) (Mend, error) {
	heal := t.Proxy.Inject(wire.Fault{Kinds: c.kinds, OneIn: c.oneIn, Late: sessionTimeout / 10, Seed: r.Uint64()})
	return func(context.Context) (int, error) {
		hits := 0
		for _, n := range heal() {
			hits += n
		}
		return hits, nil
	}, nil
}

// service ends a service as kill -9 would.
type service struct{}

func (service) Strike(_ context.Context, t *Target, r *rand.Rand) (Mend, error) {
	return restarted(t.Services[r.IntN(len(t.Services))])
}

// redis ends Redis as kill -9 would.
type redis struct{}

func (redis) Strike(_ context.Context, t *Target, _ *rand.Rand) (Mend, error) {
	if t.Redis == nil {
		return nil, errNobody
	}
	return restarted(t.Redis)
}

func restarted(who Restarter) (Mend, error) {
	if err := who.Kill(); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (int, error) { return 1, who.Restart(ctx) }, nil
}

// hold holds rows that others want, for longer than they wait.
type hold struct{}

func (hold) Strike(ctx context.Context, t *Target, r *rand.Rand) (Mend, error) {
	keys := t.Keys()
	if len(keys) == 0 {
		return nil, errNobody
	}
	conn, err := t.session(ctx)
	if err != nil {
		return nil, err
	}
	r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	keys = keys[:1+r.IntN(len(keys))]
	ctx, cancel := context.WithTimeout(ctx, sessionTimeout)
	defer cancel()
	_, err = conn.Exec(ctx, `BEGIN`)
	if err == nil {
		_, err = conn.Exec(ctx, `SELECT FROM orders WHERE order_id = ANY ($1::uuid[]) ORDER BY order_id FOR UPDATE`, keys)
	}
	if err != nil {
		shut(conn)
		return nil, err
	}
	return func(context.Context) (int, error) {
		shut(conn)
		return len(keys), nil
	}, nil
}

// deadlock locks two rows in the order in which nobody else does, again and again.
type deadlock struct{}

func (deadlock) Strike(ctx context.Context, t *Target, r *rand.Rand) (Mend, error) {
	keys := t.Keys()
	if len(keys) < 2 {
		return nil, errNobody
	}
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	var tried atomic.Int64
	for range 4 {
		own := rand.New(rand.NewPCG(r.Uint64(), 0))
		all.Go(func() {
			for ctx.Err() == nil {
				i := own.IntN(len(keys) - 1)
				j := i + 1 + own.IntN(len(keys)-1-i)
				if err := crosswise(ctx, t, keys[j], keys[i]); err == nil {
					tried.Add(1)
				}
			}
		})
	}
	return func(context.Context) (int, error) {
		cancel()
		all.Wait()
		return int(tried.Load()), nil
	}, nil
}

// crosswise locks one row, gives others the time to lock the other one, and then wants
// that too. A deadlock is no error, whoever is its victim.
func crosswise(ctx context.Context, t *Target, first, second string) error {
	bounded, cancel := context.WithTimeout(ctx, sessionTimeout)
	defer cancel()
	conn, err := t.session(bounded)
	if err != nil {
		<-bounded.Done() // a server that is away is not asked in a circle
		return err
	}
	defer shut(conn)
	_, err = conn.Exec(bounded, `BEGIN`)
	for _, key := range []string{first, second} {
		if err == nil {
			_, err = conn.Exec(bounded, `SELECT pg_sleep(0.05) FROM (SELECT FROM orders WHERE order_id = $1 FOR UPDATE) AS o`, key)
		}
	}
	var refused interface{ SQLState() string }
	if errors.As(err, &refused) && refused.SQLState() == "40P01" {
		return nil
	}
	return err
}

// crowd takes all connections that the server has left.
type crowd struct{}

const crowdSize = 200

func (crowd) Strike(ctx context.Context, t *Target, _ *rand.Rand) (Mend, error) {
	var conns []*pgx.Conn
	var refused error
	for len(conns) < crowdSize && refused == nil {
		var conn *pgx.Conn
		if conn, refused = t.session(ctx); refused == nil {
			conns = append(conns, conn)
		}
	}
	if len(conns) == 0 {
		return nil, refused
	}
	return func(context.Context) (int, error) {
		for _, conn := range conns {
			shut(conn)
		}
		return len(conns), nil
	}, nil
}
