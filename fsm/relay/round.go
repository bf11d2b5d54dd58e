package relay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/internal/alone"
)

// round takes a batch of a lane, sends it and marks it, in one transaction. It
// returns how many messages were delivered, and whether there may be more to do.
func (r *Relay) round(ctx context.Context, l *lane) (int, bool, error) {
	var b batch
	var results []result
	err := r.inTx(ctx, func(detached context.Context, tx pgx.Tx) (err error) {
		if b, err = l.take(ctx, tx); err != nil || len(b.runs) == 0 {
			return err
		}
		if results, err = r.send(ctx, b.runs); err != nil {
			return err
		}
		return r.mark(detached, tx, results)
	})
	if err != nil {
		return 0, false, err
	}
	sent, failures := tally(results)
	if len(sent) > 0 && r.Delivered != nil {
		r.Delivered(sent)
	}
	for _, f := range failures {
		r.failed(f)
	}
	if len(results) > 0 {
		err = fault.At(ctx, Marked)
	}
	return len(sent), b.more, errors.Join(err, r.setBehind(ctx, b.behind))
}

// inTx runs fn in a transaction that ends by the server's clock at the latest. ctx
// bounds the wait for a connection; fn's context and the COMMIT go on when it
// ends, since what was sent is to be marked.
func (r *Relay) inTx(ctx context.Context, fn func(detached context.Context, tx pgx.Tx) error) error {
	tx, err := r.DB.BeginTx(ctx, alone.ReadCommitted.Options)
	if err != nil {
		return fmt.Errorf("relay: %w: begin: %w", fsm.ErrNothingDone, err)
	}
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.lease())
	defer cancel()
	once := fsm.TxPolicy{Attempts: 1} // what was sent is not sent again by a mere repetition
	return fsm.RunTx(detached, begun{tx}, once, func(detached context.Context, tx pgx.Tx) error {
		lease := fmt.Sprintf("%dms", r.lease().Milliseconds())
		if _, err := tx.Exec(ctx, `SELECT set_config('idle_in_transaction_session_timeout', $1, true)`, lease); err != nil {
			return told("bound the transaction", err)
		}
		return fn(detached, tx)
	})
}

// begun is a transaction that has begun already.
type begun struct{ tx pgx.Tx }

func (b begun) BeginTx(context.Context, pgx.TxOptions) (pgx.Tx, error) { return b.tx, nil }

// lease is how long the server lets a session keep its locks in silence. A round
// is silent for two timeouts at most.
func (r *Relay) lease() time.Duration { return 4 * r.timeout() }

// result is what came of a run.
type result struct {
	run
	// sent is how many of its messages were accepted, from the first.
	sent int
	// failure is why the next one was not; nil where it was not tried.
	failure *PublishError
}

// sending is what the workers of a round share.
type sending struct {
	// begin ends when no further message may be begun.
	begin context.Context
	stop  context.CancelFunc
	// accepted and refused count messages; enough is how many may be refused
	// while none is accepted.
	accepted, refused atomic.Int64
	enough            int64
}

// over reports whether no further message may be begun. It looks at the clock
// too: a try that took all the time may end a moment before begin does.
func (s *sending) over() bool {
	deadline, ok := s.begin.Deadline()
	return s.begin.Err() != nil || ok && !time.Now().Before(deadline)
}

// send sends the runs, several at once and each in its order, and returns what
// came of each. No message is begun after ctx has ended, or one timeout after the
// first began, so that the whole lasts two at most; nor when twice as many keys as
// are sent at once were refused and none accepted: then the broker is down rather
// than the messages wrong, and to hold up all keys would help nobody. The error is
// that of a point: then nothing may be marked.
func (r *Relay) send(ctx context.Context, runs []run) ([]result, error) {
	results := make([]result, len(runs))
	next := make(chan *result, len(runs))
	for i := range runs {
		results[i].run = runs[i]
		next <- &results[i]
	}
	close(next)
	s := &sending{enough: 2 * int64(r.parallel())}
	s.begin, s.stop = context.WithTimeout(ctx, r.timeout())
	defer s.stop()
	var wg sync.WaitGroup
	faults := make([]error, min(r.parallel(), len(runs)))
	for w := range faults {
		wg.Go(func() {
			for res := range next {
				if faults[w] = r.sendRun(s, res); faults[w] != nil {
					s.stop()
					return
				}
			}
		})
	}
	wg.Wait()
	return results, errors.Join(faults...)
}

// sendRun sends the messages of one key until one is not accepted.
func (r *Relay) sendRun(s *sending, res *result) error {
	for _, m := range res.messages {
		if s.over() {
			return nil
		}
		if err := r.publish(s.begin, m); err != nil {
			tries := 1
			if res.sent == 0 {
				tries += res.tries
			}
			res.failure = &PublishError{Message: m, Tries: tries, Parked: r.Tries > 0 && tries >= r.Tries, Err: err}
			if s.refused.Add(1) >= s.enough && s.accepted.Load() == 0 {
				s.stop()
			}
			return nil
		}
		res.sent++
		s.accepted.Add(1)
		if err := fault.At(s.begin, Sent); err != nil {
			return err
		}
	}
	return nil
}

// publish is one try, which ends by itself and not with ctx: a relay that is
// stopped finishes what it began. A panic is the publisher's error: of a message
// that makes it panic every time, the relay must not die every time.
func (r *Relay) publish(ctx context.Context, m Message) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.timeout())
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the publisher panicked: %v", p)
		}
	}()
	return r.Publisher.Publish(ctx, m)
}

// tally returns the messages that were sent, in the order of their ids, and what
// went wrong.
func tally(results []result) (sent []Message, failures []*PublishError) {
	for _, res := range results {
		sent = append(sent, res.messages[:res.sent]...)
		if res.failure != nil {
			failures = append(failures, res.failure)
		}
	}
	slices.SortFunc(sent, func(a, b Message) int { return int(min(max(a.Row-b.Row, -1), 1)) })
	return sent, failures
}
