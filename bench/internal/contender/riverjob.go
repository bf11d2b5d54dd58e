package contender

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

type transitionArgs struct {
	Delivery Delivery `json:"delivery"`
	Event    Event    `json:"event"`
}

// Kind is the job's name at River.
func (transitionArgs) Kind() string { return "transition" }

// InsertOpts make a delivery that is told again the same job.
func (transitionArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

// transitionWorker runs the usual transaction, and completes the job in it.
type transitionWorker struct {
	river.WorkerDefaults[transitionArgs]
	pool *pgxpool.Pool
	// done has a channel for each caller that waits, by order.
	done sync.Map
}

// Work is one job.
func (w *transitionWorker) Work(ctx context.Context, job *river.Job[transitionArgs]) error {
	err := pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error {
		if _, err := usual(ctx, tx, job.Args.Event, job.Args.Delivery); err != nil {
			return err
		}
		_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
		return err
	})
	if waits, ok := w.done.Load(job.Args.Delivery.Key); ok {
		waits.(chan error) <- err
	}
	return err
}

// River is a job a transition, from its insertion until it is done. Its pauses
// between fetches are as short as River lets them be.
func River() Contender {
	return Contender{Name: "River job", Writes: everything + ", job", Once: true, Size: 1, Open: openRiver}
}

func openRiver(ctx context.Context, env Env) (Opened, error) {
	env.Conns += 4 // River's own: notifications, elections, fetches, completions
	pool, err := open(ctx, env)
	if err != nil {
		return Opened{}, err
	}
	worker := &transitionWorker{pool: pool}
	client, err := startRiver(ctx, pool, worker, min(max(env.Callers, 1), 1000))
	if err != nil {
		shut(pool)
		return Opened{}, err
	}
	call := each(func(ctx context.Context, d Delivery) (bool, error) {
		done := make(chan error, 1)
		if _, told := worker.done.LoadOrStore(d.Key, done); told {
			return false, errors.New("two deliveries of one order at once")
		}
		defer worker.done.Delete(d.Key)
		inserted, err := client.Insert(ctx, transitionArgs{d, env.Event}, nil)
		if err != nil || inserted.UniqueSkippedAsDuplicate {
			return false, err
		}
		select {
		case err := <-done:
			return err == nil, err
		case <-ctx.Done():
			return false, ctx.Err()
		}
	})
	return Opened{call, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = client.Stop(ctx)
		shut(pool)
	}}, nil
}

func startRiver(ctx context.Context, pool *pgxpool.Pool, worker *transitionWorker, workers int) (*river.Client[pgx.Tx], error) {
	quiet := slog.New(slog.DiscardHandler)
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet})
	if err != nil {
		return nil, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, fmt.Errorf("migrate River: %w", err)
	}
	known := river.NewWorkers()
	if err := river.AddWorkerSafely(known, worker); err != nil {
		return nil, err
	}
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}},
		Workers:           known,
		FetchCooldown:     river.FetchCooldownMin,
		FetchPollInterval: 100 * time.Millisecond,
		Logger:            quiet,
	})
	if err != nil {
		return nil, err
	}
	return client, client.Start(ctx)
}
