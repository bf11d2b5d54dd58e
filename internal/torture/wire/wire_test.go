package wire

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// road is a database with a proxy before it.
type road struct {
	t           *testing.T
	proxy       *Proxy
	near, there string
}

func open(t *testing.T) *road {
	t.Helper()
	there := testdb.URL(t)
	u, err := url.Parse(there)
	require.NoError(t, err)
	p, err := New(u.Host)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	u.Host = p.Addr()
	r := &road{t, p, u.String(), there}
	r.direct("CREATE TABLE t (n int)")
	return r
}

// connect connects by the proxy.
func (r *road) connect() *pgx.Conn {
	r.t.Helper()
	conn, err := pgx.Connect(r.t.Context(), r.near)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func (r *road) direct(sql string) {
	r.t.Helper()
	conn, err := pgx.Connect(r.t.Context(), r.there)
	require.NoError(r.t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.Exec(r.t.Context(), sql)
	require.NoError(r.t, err)
}

// rows is how many there are, whatever the proxy does, once nobody else is there who
// could add some.
func (r *road) rows() (n int) {
	r.t.Helper()
	conn, err := pgx.Connect(r.t.Context(), r.there)
	require.NoError(r.t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	for others := 1; others > 0; {
		require.NoError(r.t, conn.QueryRow(r.t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`).Scan(&others))
	}
	require.NoError(r.t, conn.QueryRow(r.t.Context(), `SELECT count(*) FROM t`).Scan(&n))
	return n
}

// What is cut in the middle of the request is not done; what is cut in the answer is.
func TestCutRequestAndReply(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		kind Kind
		want int
	}{{Request, 0}, {Reply, 1}} {
		for seed := range uint64(12) {
			r := open(t)
			conn := r.connect()
			// The simple protocol: one message asks for one answer.
			_, err := conn.Exec(t.Context(), `SELECT 1`)
			require.NoError(t, err)
			heal := r.proxy.Inject(Fault{Kinds: []Kind{tc.kind}, Seed: seed})
			_, err = conn.Exec(t.Context(), `INSERT INTO t VALUES (1) RETURNING n, repeat('x', 200)`)
			require.Error(t, err)
			require.Equal(t, map[Kind]int{tc.kind: 1}, heal())
			require.Equal(t, tc.want, r.rows(), "%s, seed %d", tc.kind, seed)
			_, err = r.connect().Exec(t.Context(), `SELECT 1`)
			require.NoError(t, err, "it is healed")
		}
	}
}

// A COMMIT is done and not answered. What is no COMMIT is let be.
func TestCutCommit(t *testing.T) {
	t.Parallel()
	r := open(t)
	conn := r.connect()
	heal := r.proxy.Inject(Fault{Kinds: []Kind{Commit}, Seed: 1})
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `INSERT INTO t VALUES ($1)`, 1)
	require.NoError(t, err)
	require.Error(t, tx.Commit(t.Context()))
	require.Equal(t, map[Kind]int{Commit: 1}, heal())
	require.Equal(t, 1, r.rows())
}

// On a connection that is half open nothing arrives, and nobody is told, until it is
// healed; then it is gone.
func TestHalfOpen(t *testing.T) {
	t.Parallel()
	r := open(t)
	conn := r.connect()
	heal := r.proxy.Inject(Fault{Kinds: []Kind{Half}, Seed: 1})
	answered := make(chan error, 1)
	go func() {
		_, err := conn.Exec(context.Background(), `INSERT INTO t VALUES (1)`)
		answered <- err
	}()
	select {
	case err := <-answered:
		require.Fail(t, "it answered", "%v", err)
	case <-time.After(100 * time.Millisecond):
	}
	heal()
	require.Error(t, <-answered)
	require.Zero(t, r.rows())
}

func TestDelay(t *testing.T) {
	t.Parallel()
	r := open(t)
	conn := r.connect()
	heal := r.proxy.Inject(Fault{Kinds: []Kind{Delay}, Late: 40 * time.Millisecond, Seed: 1})
	begun := time.Now()
	for range 10 {
		_, err := conn.Exec(t.Context(), `SELECT 1`)
		require.NoError(t, err)
	}
	require.Greater(t, time.Since(begun), 50*time.Millisecond)
	require.Equal(t, 10, heal()[Delay])
}

// One in so many is hit, and the same ones for the same seed.
func TestRate(t *testing.T) {
	t.Parallel()
	p, err := New("127.0.0.1:1")
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close()) }()
	draw := func(seed uint64) (drawn []hit) {
		heal := p.Inject(Fault{Kinds: []Kind{Request, Reply}, OneIn: 10, Seed: seed})
		for range 1000 {
			h := p.draw(false, 100)
			h.healed = nil
			drawn = append(drawn, h)
		}
		n := 0
		for _, hits := range heal() {
			n += hits
		}
		require.InDelta(t, 100, n, 40)
		return drawn
	}
	require.Equal(t, draw(1), draw(1))
	require.NotEqual(t, draw(1), draw(2))
	require.Empty(t, p.draw(true, 100).kind, "healed")
}

// Messages are read by the length that they give themselves, and no further.
func TestMessage(t *testing.T) {
	t.Parallel()
	in := strings.NewReader("Q\x00\x00\x00\x0bcommit\x00S\x00\x00\x00\x04Q\x00\x00\x00\x03")
	m, err := message(in, 1)
	require.NoError(t, err)
	asks, commits := reading(m)
	require.True(t, asks && commits)
	m, err = message(in, 1)
	require.NoError(t, err)
	asks, commits = reading(m)
	require.True(t, asks)
	require.False(t, commits)
	_, err = message(in, 1)
	require.ErrorIs(t, err, errMessage)
}
