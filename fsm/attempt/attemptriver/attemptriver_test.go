package attemptriver_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/attempt/attemptriver"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// patience fails a test that would hang; one that passes never waits it out.
const patience = 60 * time.Second

// provider does what it is asked once a key, and then fails to say so as often
// as it is told to.
type provider struct {
	mu    sync.Mutex
	fails []error
	paid  map[string]int
	sends int
}

var errCut = errors.New("connection cut")

func (p *provider) call(_ context.Context, a attempt.Attempt) (attempt.Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sends++
	if p.paid[a.ID] == 0 {
		p.paid[a.ID]++
	}
	return p.answer(a)
}

func (p *provider) query(_ context.Context, a attempt.Attempt) (attempt.Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paid[a.ID] == 0 {
		return attempt.Result{}, attempt.ErrNotThere
	}
	return p.answer(a)
}

func (p *provider) answer(a attempt.Attempt) (attempt.Result, error) {
	if len(p.fails) > 0 {
		err := p.fails[0]
		p.fails = p.fails[1:]
		return attempt.Result{}, err
	}
	return attempt.Result{Ref: "re_" + a.ID}, nil
}

// bench is a database with River's tables, a provider and a running client.
type bench struct {
	t        *testing.T
	pool     *pgxpool.Pool
	provider *provider
	kind     *attempt.Kind
	client   *river.Client[pgx.Tx]
	events   <-chan *river.Event
}

func newBench(t *testing.T, fails ...error) *bench {
	t.Helper()
	b := &bench{
		t: t, pool: testdb.New(t, testdb.WithMigrations(migrations.FS), testdb.WithMaxConns(16)),
		provider: &provider{fails: fails, paid: map[string]int{}},
	}
	require.NoError(t, attemptriver.Migrate(t.Context(), b.pool))
	b.exec(`CREATE TABLE done (business_key text NOT NULL, state text NOT NULL)`)
	b.kind = &attempt.Kind{
		Name: "refund", Call: b.provider.call, Query: b.provider.query,
		Complete: func(ctx context.Context, tx pgx.Tx, a attempt.Attempt) error {
			_, err := tx.Exec(ctx, `INSERT INTO done (business_key, state) VALUES ($1, $2)`, a.BusinessKey, a.State)
			return err
		},
		Policy: attempt.Policy{Base: time.Millisecond, Max: time.Millisecond},
	}
	return b
}

// atOnce is a retry policy without a wait.
type atOnce struct{}

func (atOnce) NextRetry(*rivertype.JobRow) time.Time { return time.Now() }

// run starts a River client on the bench's kind.
func (b *bench) run(periodic ...*river.PeriodicJob) {
	b.t.Helper()
	workers := river.NewWorkers()
	require.NoError(b.t, attemptriver.AddWorkers(workers, b.pool, b.kind))
	client, err := river.NewClient(riverpgxv5.New(b.pool), &river.Config{
		Workers: workers, Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 4}},
		FetchPollInterval: 100 * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
		RetryPolicy: atOnce{}, PeriodicJobs: periodic, TestOnly: true,
	})
	require.NoError(b.t, err)
	b.client = client
	events, stop := client.Subscribe(river.EventKindJobCompleted, river.EventKindJobFailed, river.EventKindJobCancelled, river.EventKindJobSnoozed)
	b.events = events
	require.NoError(b.t, client.Start(context.WithoutCancel(b.t.Context())))
	b.t.Cleanup(func() {
		stop()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(b.t, client.StopAndCancel(ctx))
	})
}

// next is the kind of what becomes of the next job.
func (b *bench) next() river.EventKind {
	b.t.Helper()
	select {
	case e := <-b.events:
		return e.Kind
	case <-time.After(patience):
		require.Fail(b.t, "no job ended")
	}
	return ""
}

func (b *bench) exec(sql string, args ...any) {
	b.t.Helper()
	_, err := b.pool.Exec(b.t.Context(), sql, args...)
	require.NoError(b.t, err)
}

func (b *bench) texts(sql string) []string {
	b.t.Helper()
	rows, err := b.pool.Query(b.t.Context(), sql)
	require.NoError(b.t, err)
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(b.t, err)
	return texts
}

func (b *bench) done() []string {
	b.t.Helper()
	return b.texts(`SELECT business_key || ' ' || state FROM done ORDER BY 1`)
}

func (b *bench) jobs() []string {
	b.t.Helper()
	return b.texts(`SELECT state::text || ' ' || attempt FROM river_job WHERE kind = 'fsm_attempt' ORDER BY id`)
}

// start starts a refund with a job, and commits unless told otherwise.
func (b *bench) start(key string, commit bool) (attempt.Attempt, bool) {
	b.t.Helper()
	tx, err := b.pool.Begin(b.t.Context())
	require.NoError(b.t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(b.t.Context())) }()
	a, started, err := attemptriver.Start(b.t.Context(), b.client, tx, b.kind, key, nil)
	require.NoError(b.t, err)
	if commit {
		require.NoError(b.t, tx.Commit(b.t.Context()))
	}
	return a, started
}

// Attempt and job commit together or not at all, and one attempt has one job.
func TestStart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run()
	_, started := b.start("rolled back", false)
	require.True(t, started)
	require.Empty(t, b.jobs())
	require.Empty(t, b.texts(`SELECT business_key FROM fsm_attempts`))

	a, started := b.start("r1", true)
	require.True(t, started)
	require.Equal(t, river.EventKindJobCompleted, b.next())
	again, started := b.start("r1", true)
	require.False(t, started)
	require.Equal(t, a.ID, again.ID)
	require.Equal(t, []string{"completed 1"}, b.jobs(), "nothing is left to do, so there is no job")
	require.Equal(t, []string{"r1 SUCCEEDED"}, b.done())
	require.Equal(t, map[string]int{a.ID: 1}, b.provider.paid)
}

// While a job lives the attempt gets no other. It covers the unique insert that
// is skipped, or that is in conflict with itself.
func TestOneLiveJob(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client, err := river.NewClient(riverpgxv5.New(b.pool), &river.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	b.client = client // inserts, and works nothing
	b.start("r1", true)
	b.start("r1", true)
	b.start("r2", true)
	require.Equal(t, []string{"available 0", "available 0"}, b.jobs())
	b.exec(`UPDATE river_job SET state = 'discarded', finalized_at = now()`)
	b.start("r1", true)
	require.Equal(t, []string{"discarded 0", "discarded 0", "available 0"}, b.jobs())
}

// The connection is cut after the provider did it: River tries again, which looks
// the attempt up, and nothing is sent twice.
func TestRiverRetries(t *testing.T) {
	t.Parallel()
	b := newBench(t, errCut, errCut)
	b.run()
	a, _ := b.start("r1", true)
	require.Equal(t, river.EventKindJobFailed, b.next())
	require.Equal(t, river.EventKindJobFailed, b.next())
	require.Equal(t, river.EventKindJobCompleted, b.next())
	require.Equal(t, []string{"completed 3"}, b.jobs())
	require.Equal(t, 1, b.provider.sends)
	require.Equal(t, map[string]int{a.ID: 1}, b.provider.paid)
	require.Equal(t, []string{"r1 SUCCEEDED"}, b.done())
}

// A provider that is not done is no failure, and uses up no attempt of the job.
func TestPendingSnoozes(t *testing.T) {
	t.Parallel()
	b := newBench(t, attempt.ErrPending, attempt.ErrPending)
	b.run()
	b.start("r1", true)
	require.Equal(t, river.EventKindJobSnoozed, b.next())
	require.Equal(t, river.EventKindJobSnoozed, b.next())
	require.Equal(t, river.EventKindJobCompleted, b.next())
	require.Equal(t, []string{"completed 1"}, b.jobs())
	require.Equal(t, 1, b.provider.sends)
	require.Equal(t, []string{"r1 SUCCEEDED"}, b.done())
}

// An attempt that waits for a person ends its job; Resume and Enqueue go on.
func TestStuckCancels(t *testing.T) {
	t.Parallel()
	b := newBench(t, errCut)
	b.kind.Policy.MaxRounds = 1
	b.run()
	a, _ := b.start("r1", true)
	require.Equal(t, river.EventKindJobCancelled, b.next())
	require.Empty(t, b.done())

	tx, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, attempt.Resume(t.Context(), tx, a.ID, fsm.Correction{Actor: "ann", Reason: "the provider is back"}))
	require.NoError(t, attemptriver.Enqueue(t.Context(), b.client, tx, a))
	require.NoError(t, tx.Commit(t.Context()))
	require.Equal(t, river.EventKindJobCompleted, b.next())
	require.Equal(t, []string{"r1 SUCCEEDED"}, b.done())
	require.Equal(t, 1, b.provider.sends)
}

// A job of a kind that this program does not have waits for one that has.
func TestUnknownKindWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run()
	mine := b.kind
	other := *mine
	other.Name = "payout"
	b.kind = &other
	b.start("p1", true)
	require.Equal(t, river.EventKindJobSnoozed, b.next())
	require.Zero(t, b.provider.sends)
}

// A worker died in its round: its job stays "running" until River rescues it, an
// hour later, and no other may be inserted meanwhile. The completer does not wait
// for that.
func TestCompleterTakesOverFromADeadWorker(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client, err := river.NewClient(riverpgxv5.New(b.pool), &river.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	b.client = client
	a, _ := b.start("r1", true)
	b.exec(`UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now(), attempted_by = '{dead}'`)
	_, err = b.provider.call(t.Context(), a)
	require.NoError(t, err)
	b.exec(`UPDATE fsm_attempts SET state = 'SENT', sends = 1, first_sent_at = now(), owner = 'dead', fence = 1, rounds = 1,
		leased_until = clock_timestamp() - interval '2 minutes', due = clock_timestamp() - interval '2 minutes'`)
	b.run(attemptriver.Periodic(time.Hour))
	require.Equal(t, river.EventKindJobCompleted, b.next())
	require.Equal(t, []string{"r1 SUCCEEDED"}, b.done())
	require.Equal(t, map[string]int{a.ID: 1}, b.provider.paid)
	require.Equal(t, []string{"running 1"}, b.jobs(), "which then finds nothing to do")
}

func TestMigrateTogether(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t, testdb.WithMaxConns(16))
	errs := make(chan error, 4)
	for range 4 {
		go func() { errs <- attemptriver.Migrate(t.Context(), pool) }()
	}
	for range 4 {
		require.NoError(t, <-errs)
	}
	_, err := pool.Exec(t.Context(), `SELECT FROM river_job`)
	require.NoError(t, err)
	var locks int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&locks))
	require.Zero(t, locks)

	require.ErrorIs(t, attemptriver.Migrate(t.Context(), nil), attempt.ErrArgument)
	single := testdb.New(t, testdb.WithMaxConns(1))
	require.ErrorIs(t, attemptriver.Migrate(t.Context(), single), attempt.ErrArgument)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, kinds := range map[string][]*attempt.Kind{
		"nil": {nil}, "empty": {{}}, "twice": {b.kind, b.kind},
	} {
		require.ErrorIs(t, attemptriver.AddWorkers(river.NewWorkers(), b.pool, kinds...), attempt.ErrArgument, name)
	}
	require.ErrorIs(t, attemptriver.AddWorkers(nil, b.pool, b.kind), attempt.ErrArgument)
	require.ErrorIs(t, attemptriver.AddWorkers(river.NewWorkers(), nil, b.kind), attempt.ErrArgument)
	workers := river.NewWorkers()
	require.NoError(t, attemptriver.AddWorkers(workers, b.pool, b.kind))
	require.Error(t, attemptriver.AddWorkers(workers, b.pool, b.kind), "they are there already")
	_, _, err := attemptriver.Start(t.Context(), nil, nil, b.kind, "r1", nil)
	require.ErrorIs(t, err, attempt.ErrArgument)
	require.ErrorIs(t, attemptriver.Enqueue(t.Context(), nil, nil, attempt.Attempt{}), attempt.ErrArgument)
}

// River must not rescue a job whose round may still be at work, and must rescue
// every job some day.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	kind := &attempt.Kind{
		Name: "refund", RepeatIsQuery: true,
		Call:     func(context.Context, attempt.Attempt) (attempt.Result, error) { return attempt.Result{}, nil },
		Complete: func(context.Context, pgx.Tx, attempt.Attempt) error { return nil },
		Policy:   attempt.Policy{CallTimeout: time.Minute, Lease: 3 * time.Minute},
	}
	require.Equal(t, 3*time.Minute+2*time.Minute+20*time.Second, kind.MaxRound())
	require.Zero(t, (&attempt.Kind{}).MaxRound())
}
