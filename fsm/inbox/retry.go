package inbox

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/internal/sleep"
	"github.com/pawl-go/pawl/fsm/webhook"
)

// Retry processes what waits: parked events whose time has come, those that there
// was no time for, and those whose processor died. Many may run at once, in one
// process or in several: an event is one's at a time.
type Retry struct {
	Inbox *Inbox
	// Every is the pause after a round; 0 means 1 s.
	Every time.Duration
	// Workers is how many events a round has at work at once; 0 means 4. One that
	// waits for a locked row then holds up no others.
	Workers int
	// Failed is told of the errors of Run, which goes on; nil for nobody.
	Failed func(error)
	// Wait waits between rounds and returns an error when ctx ends; nil means a
	// timer. Tests put theirs here.
	Wait func(ctx context.Context, d time.Duration) error
}

// Run works until ctx ends and returns ctx's error, or that of Wait.
func (r *Retry) Run(ctx context.Context) error {
	wait, every := r.Wait, r.Every
	if wait == nil {
		wait = sleep.For
	}
	if every <= 0 {
		every = time.Second
	}
	for {
		_, err := r.Once(ctx)
		if err != nil && ctx.Err() == nil && r.Failed != nil {
			r.Failed(err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := wait(ctx, every); err != nil {
			return err
		}
	}
}

// Once tries each event that is due now once, those due first before the others, as
// many at once as there are workers, and returns how many it tried; 0 and nil when
// nothing is due. It also closes the records of deliveries that a crash interrupted,
// and writes counts of refusals that wait. An error is the database's; an event that
// fails is parked again and keeps no other from its turn. Its handler has twice the
// provider's limit on the second try, and twice as long on each further one, up to half
// of the lease.
func (r *Retry) Once(ctx context.Context) (int, error) {
	i := r.Inbox
	i.flushRefusals(ctx)
	var now time.Time
	if err := i.Pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
		return 0, stored("retry", err)
	}
	if err := i.closeInterrupted(ctx); err != nil {
		return 0, err
	}
	workers := r.Workers
	if workers <= 0 {
		workers = defaultWorkers
	}
	var (
		tried atomic.Int64
		first atomic.Pointer[error]
		all   sync.WaitGroup
	)
	for range workers {
		all.Go(func() {
			for first.Load() == nil {
				w, found, err := i.due(ctx, now)
				if err == nil && found {
					if _, err = i.work(ctx, w, i.patience(w)); err == nil {
						tried.Add(1)
						continue
					}
				}
				if err != nil {
					first.CompareAndSwap(nil, &err)
				}
				return
			}
		})
	}
	all.Wait()
	if err := first.Load(); err != nil {
		return int(tried.Load()), *err
	}
	return int(tried.Load()), nil
}

const defaultWorkers = 4

// patience is how long a retry's handler may take: little at first, so that events that
// wait for one row do not take up the workers, and half of the lease in the end.
func (i *Inbox) patience(w waiting) time.Duration {
	limit := i.providers[w.provider].Limit
	for range w.attempts - 1 {
		if limit >= i.Lease/4 {
			return i.Lease / 2
		}
		limit *= 2
	}
	return min(limit, i.Lease/2)
}

// waiting is a claimed event with what it was told in.
type waiting struct {
	claim
	provider string
	signed   webhook.Delivery
	body     []byte
}

const (
	// One at a time, so that no lease runs while others are worked on. What is
	// parked again is due after now, and so is not met twice in a round.
	claimDue = `UPDATE fsm_inbox i SET state = 'received', owner = $3, due_at = clock_timestamp() + $4::interval, attempts = i.attempts + 1
FROM fsm_deliveries d
WHERE d.id = i.delivery_id AND i.id = (SELECT k.id FROM fsm_inbox k
  WHERE k.provider = ANY ($1) AND k.due_at <= $2
  ORDER BY k.due_at, k.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)` + returnWaiting

	returnWaiting = `
RETURNING i.id, i.attempts, i.provider, i.event_id, i.type, i.object, i.status, i.fingerprint, d.message_id, d.signed_at, d.body`

	// A delivery whose outcome was never recorded, long after its lease.
	interrupted = `UPDATE fsm_deliveries d SET verdicts = '{interrupted}', recorded_at = now()
WHERE d.id IN (SELECT k.id FROM fsm_deliveries k WHERE k.recorded_at IS NULL AND k.received_at < now() - $1::interval
  ORDER BY k.received_at, k.id LIMIT $2 FOR UPDATE SKIP LOCKED)`
)

const page = 1000

func (i *Inbox) due(ctx context.Context, now time.Time) (w waiting, found bool, err error) {
	err = i.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		owner := newOwner()
		w = waiting{claim: claim{owner: owner}}
		err := w.scan(tx.QueryRow(ctx, claimDue, i.names, now, owner, i.Lease))
		found = err == nil
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return w, found && err == nil, stored("retry", err)
}

func (w *waiting) scan(row pgx.Row) error {
	var at *time.Time
	e := &w.event
	err := row.Scan(&w.id, &w.attempts, &w.provider, &e.ID, &e.Type, &e.Object, &e.Status, &e.Fingerprint, &w.signed.ID, &at, &w.body)
	if at != nil {
		w.signed.Timestamp = at.UTC()
	}
	e.Provider = w.provider
	return err
}

// work processes a claimed event again, from the body as it came, within patience.
func (i *Inbox) work(ctx context.Context, w waiting, patience time.Duration) (Told, error) {
	if err := fault.At(ctx, PointReceived); err != nil {
		return Told{}, err
	}
	p := i.providers[w.provider]
	var (
		told Told
		f    *failure
	)
	event, err := w.read(p)
	if err != nil {
		told, f = i.failed(Told{Event: w.id, Provider: p.Name, ID: w.event.ID}, w.claim, Parked, reasonOf(err))
	} else {
		w.event = event
		inner, cancel := context.WithTimeout(ctx, patience)
		told, f = i.process(inner, p, w.claim)
		cancel()
		if f != nil && f.state == Received && ctx.Err() == nil { // no time will be enough at once
			told, f = i.failed(told, w.claim, Parked, "its time was up")
		}
	}
	if err := fault.At(ctx, PointProcessed); err != nil {
		return told, err
	}
	r := Receipt{Told: []Told{told}}
	if f != nil {
		if err := i.record(ctx, time.Time{}, &r, []failure{*f}); err != nil {
			return told, err
		}
	}
	i.observe(r.Told...)
	return r.Told[0], fault.At(ctx, PointRecorded)
}

// read finds the event in the body that first told it.
func (w *waiting) read(p *Provider) (Event, error) {
	if w.body == nil {
		return Event{}, errors.New("the body is gone")
	}
	events, err := p.events(w.signed, w.body)
	if err != nil {
		return Event{}, err
	}
	for _, e := range events {
		if e.ID == w.event.ID {
			return e, nil
		}
	}
	return Event{}, errors.New("the body does not tell of it any more")
}

func (i *Inbox) closeInterrupted(ctx context.Context) error {
	var n int64
	return stored("retry", i.sweep(ctx, interrupted, 2*i.Lease, page, &n))
}

// missing is fsm.ErrNotFound for a row that is not there.
func missing(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return fsm.ErrNotFound
	}
	return err
}
