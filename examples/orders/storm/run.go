package storm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/gen/order"
)

// Target is a service under storm.
type Target struct {
	// Name heads its column. Note says what a reader of its figures should know;
	// empty for nothing.
	Name, Note string
	// Pool sees the service's tables without a schema's name.
	Pool *pgxpool.Pool
	// Handler is its HTTP interface, that of package shop.
	Handler http.Handler
	// Admin is its operator's interface, which has its counters; nil for none.
	Admin http.Handler
	// Sweep moves everything whose deadline has passed, and returns then.
	Sweep func(context.Context) error
}

// Options says how a storm blows. Script, Provider, Clock and Target are
// required.
type Options struct {
	Script   *Script
	Provider *Provider
	// Clock is the one that the target uses; the storm advances it.
	Clock  *Clock
	Target Target
	// Workers is how many requests are under way at once; 0 means 32.
	Workers int
	// Progress is told of the requests answered, of all those planned; nil for
	// nobody. It is called from one goroutine at a time.
	Progress func(wave string, done, planned int)
}

const (
	defaultWorkers = 32
	// sweepsPerWave is how often deadlines are looked at amid a wave's requests.
	sweepsPerWave = 4
	// maxAttempts is how often the provider comes again with one delivery.
	maxAttempts = 12
	// burstLength is how many other requests, in the mean, come amid those of one
	// story: fewer than are under way at once.
	burstLength = 8
)

// ErrNotEmpty says that the target has orders already: what the storm did could
// not be told from what was there.
var ErrNotEmpty = errors.New("storm: the database has orders already")

// Run lets the storm loose on the target's empty tables, then looks at what it
// left behind. The report's violations are no error; an error is ErrNotEmpty,
// that of ctx, of the database, or of a target that does not serve.
func Run(ctx context.Context, o Options) (*Report, error) {
	l, outcomes, err := run(ctx, o)
	if err != nil {
		return nil, err
	}
	report, err := examine(ctx, o.Target.Pool, o.Script, l)
	if err != nil {
		return nil, err
	}
	report.Name, report.Note, report.Outcomes = o.Target.Name, o.Target.Note, outcomes
	return report, nil
}

// run is the storm itself; it returns what was answered.
func run(ctx context.Context, o Options) (*log, []Outcome, error) {
	if o.Workers <= 0 {
		o.Workers = defaultWorkers
	}
	if err := mustBeEmpty(ctx, o.Target.Pool); err != nil {
		return nil, nil, err
	}
	both := http.NewServeMux()
	both.Handle("/", o.Target.Handler)
	if o.Target.Admin != nil {
		both.Handle(countersPath, o.Target.Admin)
	}
	base, stop, err := serve(ctx, both)
	if err != nil {
		return nil, nil, err
	}
	defer stop()
	c := newClient(base, o.Provider, o.Clock.Now, o.Workers)
	defer c.close()
	if err := c.fill(ctx, o.Script.stock); err != nil {
		return nil, nil, err
	}
	began := time.Now()
	l, err := blow(ctx, o, c)
	if err != nil {
		return nil, nil, err
	}
	l.took = time.Since(began)
	outcomes, err := countOutcomes(ctx, c, l)
	return l, outcomes, err
}

func mustBeEmpty(ctx context.Context, pool *pgxpool.Pool) error {
	var some bool
	if err := pool.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM orders)").Scan(&some); err != nil {
		return err
	}
	if some {
		return ErrNotEmpty
	}
	return nil
}

// serve listens on the loopback interface until stop.
func serve(ctx context.Context, h http.Handler) (base string, stop func(), err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: requestTimeout}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // it ends by Close alone
	}()
	stop = func() {
		_ = server.Close() // nobody waits for an answer any more
		<-done
	}
	return "http://" + listener.Addr().String(), stop, nil
}

// task is one request, or one look at the deadlines.
type task struct {
	action
	story    int
	attempts int
	sweep    bool
	at       float64 // its place among the others
}

// blow tells everything, wave by wave.
func blow(ctx context.Context, o Options, c *client) (*log, error) {
	planned := o.Script.requests()
	all := newLog()
	var again []task
	for wave := waveNo(0); wave < waveCount || len(again) > 0; wave++ {
		title := "asked to come again"
		tasks := again
		if wave < waveCount {
			title = waves[wave].title
			tasks = append(tasks, o.Script.tasks(wave)...)
			o.Clock.Advance(waves[wave].after)
		}
		for range sweepsPerWave {
			tasks = append(tasks, task{sweep: true})
		}
		disorder(tasks, len(o.Script.stories), rand.New(rand.NewPCG(o.Script.seed, uint64(wave))))
		progress := func(n int) {
			if o.Progress != nil {
				o.Progress(title, all.requests+n, max(planned, all.requests+n))
			}
		}
		told, err := tellAll(ctx, o, c, tasks, progress)
		if err != nil {
			return nil, err
		}
		// A sweep passes over rows that others hold; now nobody does.
		if err := o.Target.Sweep(ctx); err != nil {
			return nil, fmt.Errorf("sweep: %w", err)
		}
		all.add(told)
		again = told.again
	}
	return all, nil
}

// disorder shuffles tasks. Most of a story's come close together, in any order,
// so that they are under way at once; the others come anywhere.
func disorder(tasks []task, stories int, rng *rand.Rand) {
	bursts := make([]float64, stories)
	for i := range bursts {
		bursts[i] = rng.Float64() * float64(len(tasks))
	}
	for i := range tasks {
		tasks[i].at = rng.Float64() * float64(len(tasks))
		if !tasks[i].sweep && rng.IntN(4) > 0 {
			tasks[i].at = bursts[tasks[i].story] + rng.Float64()*burstLength
		}
	}
	slices.SortStableFunc(tasks, func(a, b task) int { return cmp.Compare(a.at, b.at) })
}

// tasks returns the requests of a wave.
func (s *Script) tasks(wave waveNo) []task {
	var tasks []task
	for i, st := range s.stories {
		for _, t := range stepsIn(st, wave) {
			for range t.copies {
				tasks = append(tasks, task{action: t.action, story: i})
			}
		}
	}
	return tasks
}

// requests is how many requests the script has, if none is told again.
func (s *Script) requests() int {
	n := 0
	for _, st := range s.stories {
		for _, t := range st.steps {
			n += t.copies + t.late
		}
	}
	return n
}

// tellAll has workers take the tasks in order, and returns when all are done, or
// with the first error.
func tellAll(ctx context.Context, o Options, c *client, tasks []task, progress func(int)) (*log, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var (
		next    atomic.Int64
		work    sync.WaitGroup
		mu      sync.Mutex
		answers int
		logs    = make([]*log, o.Workers)
	)
	for i := range logs {
		logs[i] = newLog()
		work.Go(func() {
			for n := int(next.Add(1)) - 1; n < len(tasks) && ctx.Err() == nil; n = int(next.Add(1)) - 1 {
				if err := logs[i].do(ctx, o, c, tasks[n]); err != nil {
					stop(err)
					return
				}
				mu.Lock()
				answers++
				if answers%64 == 0 {
					progress(answers)
				}
				mu.Unlock()
			}
		})
	}
	work.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	all := newLog()
	for _, l := range logs {
		all.add(l)
	}
	progress(all.requests)
	return all, nil
}

// do does one task and writes down what was answered.
func (l *log) do(ctx context.Context, o Options, c *client, t task) error {
	if t.sweep {
		if err := o.Target.Sweep(ctx); err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
		return nil
	}
	r, err := c.tell(ctx, t.action, o.Script.purchases[t.order])
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.told = toldNothing
	}
	l.note(t, r)
	return nil
}

// events are the rows of the table of outcomes.
func events() []order.Event {
	return append([]order.Event{eventCreate}, order.Events()...)
}
