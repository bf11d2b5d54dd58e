package failover

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/testpatroni"
)

// has reports whether a server has the step of a life, by the version that was
// acknowledged.
func (k kept) has(s step, version int64) bool {
	entries := strings.Fields(k.History)
	return version > 0 && int(version) <= len(entries) && strings.HasPrefix(entries[version-1], s.event+":")
}

// lost counts the acknowledged steps that a server does not have.
func (l *load) lost(have map[order.Key]kept) (lost, acknowledged int) {
	for _, one := range l.lives {
		for i, a := range one.acks {
			if a.answered {
				acknowledged++
				if !have[one.key].has(one.steps[i], a.version) {
					lost++
				}
			}
		}
	}
	return lost, acknowledged
}

// Without synchronous replication a failover loses what the standbys have not got yet,
// acknowledged or not. Told again from the beginning, as providers do, each fact that is
// gone has its effect once more, and each that is there has none.
func TestWhatIsLostWithoutSynchronousReplication(t *testing.T) {
	if !atLength() {
		t.Skip("make failover runs it")
	}
	n, seed := rounds(t)
	c, pool := cluster(t, testpatroni.Options{Nodes: 2, TTL: ttl(t)})
	for round := range n {
		_, err := pool.Exec(t.Context(), "TRUNCATE orders, order_history, order_facts, fsm_outbox")
		require.NoError(t, err)
		primary := c.Primary()
		awaitReplay(t, primary.URL("postgres"), c.Standbys()[0].URL("postgres"))
		l := newLoad(pool, returned)
		l.start(seed + uint64(round))
		l.await(t, 300)
		primary.HoldSenders() // the standby gets nothing from here on
		l.await(t, 300)
		primary.Kill()
		l.drop()
		require.Empty(t, l.wrong)

		after := c.Primary()
		require.NotEqual(t, primary.Name, after.Name)
		lost, acknowledged := l.lost(keptBy(t, after.URL("postgres")))
		require.GreaterOrEqual(t, lost, 150, "of what was acknowledged while the standby got nothing; some was told twice")
		require.Less(t, lost, acknowledged)

		again := l.toldAgain(t)
		t.Logf("round %d: %d of %d acknowledged steps were gone; told again, %d had their effect, %d of them a second time", round+1, lost, acknowledged, again.effects, again.second)
		require.Equal(t, lost, again.second)
		primary.Start()
		c.AwaitWhole()
		l.requireAgain(t, c.URL("postgres"))
		requireAudited(t, c.URL("postgres"))
		awaitReplay(t, after.URL("postgres"), primary.URL("postgres"))
		l.requireAgain(t, primary.URL("postgres"))
	}
}

// retold counts what telling all lives again did.
type retold struct{ effects, second int }

// toldAgain tells each life from its beginning, to its end.
func (l *load) toldAgain(t testing.TB) (r retold) {
	t.Helper()
	l.pool.Reset() // of connections to a primary that is dead
	for _, one := range l.lives {
		for i, s := range one.steps {
			for {
				result, err := s.call(t.Context(), l.pool)
				if errors.Is(err, fsm.ErrNothingDone) { // the new one does not take connections yet
					continue
				}
				require.NoError(t, err)
				require.Contains(t, []fsm.Outcome{s.effect, fsm.Replayed}, result.Outcome, "%s of %s", s.event, one.key)
				if result.Outcome == s.effect {
					if r.effects++; one.acks[i].answered {
						r.second++
					}
				}
				break
			}
		}
	}
	return r
}

// requireAgain requires that a server has each order whole, once.
func (l *load) requireAgain(t testing.TB, url string) {
	t.Helper()
	have := keptBy(t, url)
	require.Len(t, have, len(l.lives))
	for _, one := range l.lives {
		require.Equal(t, one.want, have[one.key], "order %s", one.key)
	}
}
