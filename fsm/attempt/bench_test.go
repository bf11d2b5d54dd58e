package attempt_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Leakless(m) }

// refundKind is the kind that the tests drive: it refunds at a provider, and
// leaves one row in done for each time that it was completed.
func refundKind(url string) *attempt.Kind {
	// On kept connections net/http sends a request again by itself.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return &attempt.Kind{
		Name: "refund",
		Call: func(ctx context.Context, a attempt.Attempt) (attempt.Result, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/refunds", strings.NewReader(string(a.Request)))
			if err != nil {
				return attempt.Result{}, err
			}
			req.Header.Set("Idempotency-Key", a.ID)
			return exchange(client, req)
		},
		Query: func(ctx context.Context, a attempt.Attempt) (attempt.Result, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/refunds/"+a.ID, nil)
			if err != nil {
				return attempt.Result{}, err
			}
			return exchange(client, req)
		},
		Complete: func(ctx context.Context, tx pgx.Tx, a attempt.Attempt) error {
			_, err := tx.Exec(ctx, `INSERT INTO done (business_key, state, ref) VALUES ($1, $2, $3)`, a.BusinessKey, a.State, a.Result.Ref)
			return err
		},
		// A test takes over by ending the lease itself; nothing waits for it.
		Policy: attempt.Policy{CallTimeout: 10 * time.Second, Lease: time.Minute},
	}
}

// exchange makes the request and reads the provider's words.
func exchange(client *http.Client, req *http.Request) (attempt.Result, error) {
	resp, err := attempt.Do(client, req)
	if err != nil {
		return attempt.Result{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusAccepted:
		return attempt.Result{}, attempt.ErrPending
	case resp.StatusCode == http.StatusNotFound && req.Method == http.MethodGet:
		return attempt.Result{}, attempt.ErrNotThere
	}
	if err := attempt.FromStatus(resp.StatusCode); err != nil {
		return attempt.Result{}, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return attempt.Result{}, err
	}
	var said struct{ Number string }
	if err := json.Unmarshal(body, &said); err != nil {
		return attempt.Result{}, err
	}
	return attempt.Result{Ref: said.Number, Data: body}, nil
}

// bench is a database and a provider.
type bench struct {
	t        *testing.T
	pool     *pgxpool.Pool
	provider *provider
	kind     *attempt.Kind

	mu   sync.Mutex
	told []attempt.What
}

const doneTable = `CREATE TABLE done (business_key text NOT NULL, state text NOT NULL, ref text NOT NULL)`

func newBench(t *testing.T, script ...mode) *bench {
	t.Helper()
	b := &bench{t: t, pool: testdb.New(t, testdb.WithMigrations(migrations.FS)), provider: newProvider(t, script...)}
	b.exec(doneTable)
	b.kind = refundKind(b.provider.url)
	b.kind.Notify = func(n attempt.Notice) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.told = append(b.told, n.What)
	}
	return b
}

type money struct {
	Cents int64 `json:"cents"`
}

// start starts an attempt of 500 cents.
func (b *bench) start(key string) attempt.Attempt {
	b.t.Helper()
	a, started, err := attempt.Start(b.t.Context(), b.pool, b.kind, key, money{500})
	require.NoError(b.t, err)
	require.True(b.t, started)
	return a
}

func (b *bench) drive(id string) (attempt.Attempt, error) {
	return attempt.Drive(b.t.Context(), b.pool, b.kind, id)
}

// driven drives rounds until the attempt is completed.
func (b *bench) driven(id string) attempt.Attempt {
	b.t.Helper()
	for range 10 {
		a, err := b.drive(id)
		if err == nil {
			return a
		}
		require.ErrorIs(b.t, err, attempt.ErrUnfinished)
	}
	require.Fail(b.t, "ten rounds completed nothing")
	return attempt.Attempt{}
}

func (b *bench) get(id string) attempt.Attempt {
	b.t.Helper()
	a, err := attempt.Get(b.t.Context(), b.pool, id)
	require.NoError(b.t, err)
	return a
}

func (b *bench) exec(sql string, args ...any) {
	b.t.Helper()
	_, err := b.pool.Exec(b.t.Context(), sql, args...)
	require.NoError(b.t, err)
}

// endLeases lets the time pass after which others may take over.
func (b *bench) endLeases() {
	b.t.Helper()
	b.exec(`UPDATE fsm_attempts SET leased_until = clock_timestamp(), due = clock_timestamp() WHERE owner <> ''`)
}

// done says what was completed, as "key STATE" in order.
func (b *bench) done() []string {
	b.t.Helper()
	return b.texts(`SELECT business_key || ' ' || state FROM done ORDER BY 1`)
}

func (b *bench) texts(sql string, args ...any) []string {
	b.t.Helper()
	rows, err := b.pool.Query(b.t.Context(), sql, args...)
	require.NoError(b.t, err)
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(b.t, err)
	return texts
}

func (b *bench) count(sql string, args ...any) int {
	b.t.Helper()
	var n int
	require.NoError(b.t, b.pool.QueryRow(b.t.Context(), sql, args...).Scan(&n))
	return n
}

func (b *bench) notices() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Trim(fmt.Sprint(b.told), "[]")
}

// answering is a call that always has the same answer.
func answering(r attempt.Result, err error) func(context.Context, attempt.Attempt) (attempt.Result, error) {
	return func(context.Context, attempt.Attempt) (attempt.Result, error) { return r, err }
}
