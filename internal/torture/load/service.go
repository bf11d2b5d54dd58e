// Package load is a service under load, as a user would write it from the documents:
// the orders example's machines through their generated calls, alone, in the caller's
// transaction, in batches and gathered ones, with effects, an outbox that a relay
// delivers to a consumer, deadlines, tokens and locks. It runs in a process of its
// own, which may be killed at any time, and notes all that it asks for and is told in
// a journal. What is told wrong, it does not see: that is the judge's business.
package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/rueidis"
	"go.uber.org/goleak"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/consume/consumeredis"
	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/fsm/lock/lockredis"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/fsm/token/tokenredis"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/gen/payment"
	"github.com/pawl-go/pawl/gen/refund"
	"github.com/pawl-go/pawl/internal/torture/journal"
)

// Options say which service of a run it is.
type Options struct {
	Seed uint64
	// Slot is which of the services, Life how often it was started.
	Slot, Life int
	// URL is the database's, Redis an address, empty for none, Journal a file to make.
	URL, Redis, Journal string
	// Isolation has callers at REPEATABLE READ and SERIALIZABLE, SmallPool some with a
	// pool that is too small for them.
	Isolation, SmallPool bool
	// Short has fewer orders in a bundle.
	Short bool
	// Engine takes the payments where it is set.
	Engine Engine `json:"-"`
}

// What a service tells on its output, a word and a number or text a line.
const (
	SaysReady = "ready"
	SaysDone  = "done"
	SaysLeak  = "leak"
)

// What it is told on its input: a bundle to run; that no deadlines are to be swept any
// more; and to end when all bundles are done.
const (
	TellRun  = "run"
	TellCalm = "calm"
	TellStop = "stop"
)

const lockTimeout = 400 * time.Millisecond

// service is what clients share.
type service struct {
	Options
	journal   *journal.Writer
	verbs     map[string]verb
	pool      *pgxpool.Pool
	small     *pgxpool.Pool
	locks     lock.Locker
	tokens    *tokenredis.Store
	consumer  *consume.Consumer
	count     atomic.Int64
	gathering sync.Mutex
	gatherers map[string]gathered
	closers   []func()
}

// id is another one for each call.
func (s *service) id() string { return fmt.Sprintf("%d.%d.%d", s.Slot, s.Life, s.count.Add(1)) }

// Run is a service, until its input says stop, or ends, which is that of whoever
// started it. It returns when nothing of it runs any more.
func Run(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	before := goleak.IgnoreCurrent()
	s := &service{Options: o, verbs: verbs(), gatherers: map[string]gathered{}}
	var err error
	if s.journal, err = journal.Create(o.Journal); err != nil {
		return err
	}
	if err := s.open(); err != nil {
		return errors.Join(err, s.journal.Close())
	}
	say := newSpeaker(out)
	stopped := s.obey(ctx, in, say)
	for _, close := range s.closers {
		close()
	}
	if stopped {
		for _, leak := range leaks(before) {
			say(SaysLeak, leak)
		}
	}
	return s.journal.Close()
}

// newSpeaker returns what says a line.
func newSpeaker(out io.Writer) func(word, text string) {
	var mutex sync.Mutex
	return func(word, text string) {
		mutex.Lock()
		defer mutex.Unlock()
		_, _ = fmt.Fprintln(out, word, text) // who does not listen is gone
	}
}

// obey does what it is told, and reports whether it was told to stop.
func (s *service) obey(ctx context.Context, in io.Reader, say func(word, text string)) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sweeping, calm := context.WithCancel(ctx)
	defer calm()
	var bundles, background sync.WaitGroup
	background.Go(func() { s.sweep(sweeping) })
	background.Go(func() { s.relay(ctx) })
	say(SaysReady, "")
	stopped := false
	lines := bufio.NewScanner(in)
	for !stopped && lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case TellRun:
			bundle, err := strconv.Atoi(rest)
			if err != nil {
				continue
			}
			bundles.Go(func() {
				s.run(ctx, bundle)
				if ctx.Err() == nil {
					say(SaysDone, rest)
				}
			})
		case TellCalm:
			calm()
		case TellStop:
			stopped = true
		}
	}
	if stopped {
		bundles.Wait()
	}
	cancel()
	bundles.Wait()
	background.Wait()
	return stopped
}

// open opens pools, locks and what needs Redis. Nothing is asked of a server yet: a
// service must start while they are away.
func (s *service) open() error {
	pool := func(conns int32) (*pgxpool.Pool, error) {
		config, err := pgxpool.ParseConfig(s.URL)
		if err != nil {
			return nil, err
		}
		config.MaxConns, config.ConnConfig.ConnectTimeout = conns, 2*time.Second
		config.ConnConfig.RuntimeParams["lock_timeout"] = fmt.Sprint(lockTimeout.Milliseconds())
		config.ConnConfig.RuntimeParams["statement_timeout"] = "1500"
		p, err := pgxpool.NewWithConfig(context.Background(), config)
		if err == nil {
			s.closers = append(s.closers, func() { s.closePool(p) })
		}
		return p, err
	}
	var err error
	if s.pool, err = pool(16); err != nil {
		return err
	}
	if s.small, err = pool(1); err != nil {
		return err
	}
	s.consumer = &consume.Consumer{DB: s.pool, Name: "torture", Lease: 2 * time.Second, Tries: 1_000_000}
	s.closers = append([]func(){s.closeGatherers}, s.closers...)
	if s.Redis == "" {
		return nil
	}
	own, err := pool(4)
	if err != nil {
		return err
	}
	return s.openRedis(own)
}

// openRedis opens what is quicker with Redis, and does without when it is away.
func (s *service) openRedis(own *pgxpool.Pool) error {
	option := rueidis.ClientOption{InitAddress: []string{s.Redis}}
	option.Dialer.Timeout = 500 * time.Millisecond
	inRedis, err := lockredis.Open(option, own, lockredis.Config{TTL: time.Second, MaxHold: 5 * time.Second, Wait: time.Second})
	if err != nil {
		return err
	}
	inPostgres, err := lock.NewPostgres(own, lock.Config{MaxHold: 5 * time.Second, Wait: time.Second})
	if err != nil {
		return err
	}
	if s.locks, err = lock.Fallback(inRedis, inPostgres, lock.Rule{Stay: time.Second}); err != nil {
		return err
	}
	if s.tokens, err = tokenredis.Open(option, s.pool, tokenredis.Config{Lease: time.Second}); err != nil {
		return err
	}
	front, err := consumeredis.New(option, consumeredis.Options{Pause: 200 * time.Millisecond})
	if err != nil {
		return err
	}
	s.consumer.Front = front
	s.closers = append([]func(){inRedis.Close, s.tokens.Close, front.Close}, s.closers...)
	return nil
}

// closeGatherers closes the coalescers, which are empty by then.
func (s *service) closeGatherers() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for verb, g := range s.gatherers {
		if err := g.close(ctx); err != nil {
			s.journal.Note("violation", "the coalescer of "+verb+" does not close: "+err.Error())
		}
	}
}

// patience is how long what is being given back may take: pgx closes connections that
// were cut behind the back of who gave them back.
const patience = 20 * time.Second

// closePool closes a pool, and notes the connections that nobody gave back.
func (s *service) closePool(p *pgxpool.Pool) {
	for deadline := time.Now().Add(patience); p.Stat().AcquiredConns() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			s.journal.Note("violation", fmt.Sprintf("%d connections of a pool were not given back", p.Stat().AcquiredConns()))
			return // Close would wait for them
		}
	}
	p.Close()
}

// leaks are the goroutines that are left.
func leaks(before goleak.Option) []string {
	for deadline := time.Now().Add(patience); ; {
		err := goleak.Find(before)
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return []string{strings.Join(strings.Fields(err.Error()), " ")}
		}
	}
}

// sweep sweeps deadlines until ctx ends, mostly by the database's clock, and now and
// then by one that is ahead.
func (s *service) sweep(ctx context.Context) {
	r := rand.New(rand.NewPCG(s.Seed, uint64(s.Life)<<8|uint64(s.Slot)))
	sweeps := append(append(order.Sweeps(), payment.Sweeps()...), refund.Sweeps()...)
	for ctx.Err() == nil {
		sweeper := &fsm.Sweeper{DB: s.pool, Sweeps: sweeps, Page: fsm.SweepPage{Limit: 200}, Swept: s.swept}
		var ahead time.Duration
		switch n := r.IntN(40); {
		case n == 0:
			ahead = 31 * time.Minute
		case n < 3:
			ahead = 16 * time.Minute
		case n < 8:
			ahead = 2 * time.Minute
		}
		if ahead > 0 {
			now := time.Now().Add(ahead)
			sweeper.Page.Now = &now
		}
		_, _ = sweeper.Once(ctx) // what failed is due in the next round as well
		select {
		case <-ctx.Done():
		case <-time.After(400 * time.Millisecond):
		}
	}
}

func (s *service) swept(rows []fsm.Swept) {
	for _, r := range rows {
		s.journal.Note("swept", fmt.Sprintf("%s %s %s %d %s %s", r.Machine, r.Event, r.Key, r.Version, r.From, r.To))
	}
}

// relay delivers the outbox until ctx ends.
func (s *service) relay(ctx context.Context) {
	r := &relay.Relay{
		DB: s.pool, Publisher: relay.PublisherFunc(s.hear), Parallel: 4, Batch: 200, Timeout: 2 * time.Second, Every: 200 * time.Millisecond,
		Backoff: func(tries int) time.Duration { return min(50*time.Millisecond<<min(tries, 5), time.Second) },
	}
	if err := r.Run(ctx); err != nil && ctx.Err() == nil {
		s.journal.Note("violation", "the relay gave up: "+err.Error())
	}
}
