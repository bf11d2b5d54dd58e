package failover

import (
	"cmp"
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/internal/testpatroni"
	"github.com/pawl-go/pawl/migrations"
)

// setting is a number from the environment.
func setting(t testing.TB, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err, name)
	return n
}

// atLength reports whether more is asked for than the one round of every change.
func atLength() bool { return os.Getenv("PAWL_FAILOVER_ROUNDS") != "" }

// rounds and what they are drawn from: PAWL_FAILOVER_ROUNDS and PAWL_FAILOVER_SEED.
func rounds(t testing.TB) (n int, seed uint64) {
	t.Helper()
	seed = setting(t, "PAWL_FAILOVER_SEED", 1)
	n = int(setting(t, "PAWL_FAILOVER_ROUNDS", 1))
	t.Logf("seed %d, %d rounds", seed, n)
	return n, seed
}

// ttl is Patroni's, of the environment in seconds.
func ttl(t testing.TB) time.Duration {
	t.Helper()
	return time.Duration(setting(t, "PAWL_FAILOVER_TTL", 6)) * time.Second
}

// cluster is a cluster with the tables of the order machine.
func cluster(t testing.TB, o testpatroni.Options) (*testpatroni.Cluster, *pgxpool.Pool) {
	t.Helper()
	c := testpatroni.Start(t, o)
	config, err := pgxpool.ParseConfig(c.URL("postgres"))
	require.NoError(t, err)
	config.MaxConns = callers
	fsm.WatchSyncWaits(&config.ConnConfig.Config)
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	db := stdlib.OpenDBFromPool(pool)
	provider, err := goose.NewProvider(goose.DialectPostgres, db, migrations.FS, goose.WithDisableGlobalRegistry(true))
	require.NoError(t, err)
	_, err = provider.Up(t.Context())
	require.NoError(t, err)
	require.NoError(t, db.Close())
	return c, pool
}

// report says how long the rounds took to their first success.
func report(t testing.TB, what string, took []time.Duration) {
	t.Helper()
	slices.Sort(took)
	t.Logf("%s: time to the first success, of %d rounds: median %v, worst %v, best %v", what, len(took),
		took[len(took)/2].Round(10*time.Millisecond), took[len(took)-1].Round(10*time.Millisecond), took[0].Round(10*time.Millisecond))
}

// fault takes a primary away, and heal brings it back when another has taken over.
type fault struct {
	name       string
	take, heal func(*testpatroni.Node)
	doubtful   bool
}

var (
	killed = fault{"killed", (*testpatroni.Node).Kill, (*testpatroni.Node).Start, false}
	frozen = fault{"frozen", (*testpatroni.Node).Freeze, (*testpatroni.Node).Thaw, true}
)

// faults are those of PAWL_FAILOVER_FAULT: killed, frozen or both.
func faults(t testing.TB) (chosen []fault) {
	t.Helper()
	names := cmp.Or(os.Getenv("PAWL_FAILOVER_FAULT"), killed.name)
	for _, f := range []fault{killed, frozen} {
		if strings.Contains(names, f.name) {
			chosen = append(chosen, f)
		}
	}
	require.NotEmpty(t, chosen, "PAWL_FAILOVER_FAULT is killed, frozen or both, not %s", names)
	return chosen
}

// With synchronous replication a failover loses nothing that was acknowledged, doubles
// nothing, and the old primary comes back without anything of its own.
func TestNothingAcknowledgedIsLost(t *testing.T) { // one cluster at a time: they would slow one another down
	for _, f := range faults(t) {
		t.Run(f.name, func(t *testing.T) {
			n, seed := rounds(t)
			c, pool := cluster(t, testpatroni.Options{Synchronous: true, TTL: ttl(t)})
			l := newLoad(pool, delivered, returned, late, twice)
			l.doubtful = f.doubtful
			l.start(seed)
			t.Cleanup(l.drop)
			r := rand.New(rand.NewPCG(seed, callers))
			var took []time.Duration
			for round := range n {
				l.await(t, 200+r.IntN(400))
				primary := c.Primary()
				f.take(primary)
				l.failed()
				took = append(took, l.awaitFirst(t))
				t.Logf("round %d: %s was %s, first success after %v", round+1, primary.Name, f.name, took[round].Round(10*time.Millisecond))
				l.await(t, 100)
				f.heal(primary)
				c.AwaitWhole()
			}
			l.await(t, 100)
			l.finish()
			t.Log(l.totals())
			l.requireWhole(t, c.URL("postgres"))
			requireAudited(t, c.URL("postgres"))
			for _, standby := range c.Standbys() {
				awaitReplay(t, c.URL("postgres"), standby.URL("postgres"))
				l.requireWhole(t, standby.URL("postgres"))
			}
			report(t, f.name, took)
		})
	}
}
