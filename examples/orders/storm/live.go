package storm

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// LiveOptions says at whom a storm blows that people watch. URL and Provider are
// required.
type LiveOptions struct {
	// URL is where the service answers, as http://127.0.0.1:8080.
	URL string
	// Provider is whose callbacks the service believes.
	Provider *Provider
	// Seed has the same stories told again; 0 takes a new one for each storm.
	Seed uint64
	// Orders is how many are placed from one press on; 0 means 160.
	Orders int
	// Wait waits, and returns an error when ctx ends; nil means a timer. Tests put
	// theirs here.
	Wait func(ctx context.Context, d time.Duration) error
	// Log is told of the beginning and the end of storms; nil means slog.Default.
	Log *slog.Logger
}

const (
	liveOrders = 160
	// liveEvery is the pause between two orders, and livePause the greatest before what
	// is told next of one.
	liveEvery = 160 * time.Millisecond
	livePause = 2 * time.Second
	// liveAsks is how many requests of customers there are a second at most: a service
	// may refuse more of one address, and its user has some left.
	liveAsks = 35
	// liveWorkers is how many requests are under way at once.
	liveWorkers = 24
	// comesAgain is how long the provider waits before it comes again.
	comesAgain = time.Second
)

// Live blows at a service that runs: orders of a shop that others use too, placed one
// after the other, each with a story of its own, told by several at once and more than
// once. All goes by the service's HTTP; nothing is known of its database, and no
// clock is advanced. It is safe for concurrent use.
type Live struct {
	options LiveOptions
	client  *client
	asks    *rate.Limiter
	pressed chan struct{}
	places  chan struct{}
	// over is told of each storm in tests.
	over func(*Script, *log)

	mu      sync.Mutex
	left    int // orders still to be placed
	blowing bool
}

// NewLive returns a storm that does not blow yet.
func NewLive(o LiveOptions) *Live {
	if o.Orders <= 0 {
		o.Orders = liveOrders
	}
	if o.Wait == nil {
		o.Wait = timer
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Live{
		options: o, client: newClient(o.URL, o.Provider, time.Now, liveWorkers), asks: rate.NewLimiter(liveAsks, liveAsks),
		pressed: make(chan struct{}, 1), places: make(chan struct{}, liveWorkers), over: func(*Script, *log) {},
	}
}

func timer(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Press asks for a storm, and returns at once. There is one at a time: while one blows
// it goes on for as long again from now, and Press returns true.
func (l *Live) Press() (goesOn bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	goesOn, l.blowing, l.left = l.blowing, true, l.options.Orders
	if goesOn {
		l.options.Log.Info("the storm goes on", "orders", l.left)
		return true
	}
	select {
	case l.pressed <- struct{}{}:
	default: // one waits already, since nobody runs
	}
	return false
}

// Run blows whenever it is asked to, until ctx ends. Then nothing more is told, and it
// returns when what is under way was answered. It may be called once.
func (l *Live) Run(ctx context.Context) {
	defer l.client.close()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.pressed:
			l.blow(ctx)
		}
	}
}

// blow is one storm, with all that it was asked to go on for.
func (l *Live) blow(ctx context.Context) {
	seed := cmp.Or(l.options.Seed, rand.Uint64())
	b := newAuthor(seed, "s"+strconv.FormatUint(seed>>32, 36)+"-")
	t := &telling{Live: l, all: newLog()}
	t.all.kept = true
	began := time.Now()
	defer func() { l.over(b.script, t.all) }()
	l.options.Log.Info("a storm", "orders", l.options.Orders, "for about", (time.Duration(l.options.Orders) * liveEvery).Round(time.Second))
	if err := l.client.fill(context.WithoutCancel(ctx), b.script.stock); err != nil && ctx.Err() == nil {
		l.options.Log.Error("the storm could not begin", "error", err)
		l.quiet(true)
		return
	}
	for ended := false; !ended; {
		var stories sync.WaitGroup
		for l.another(ctx) {
			s, purchases := b.next(), b.script.purchases // what is added later has no part in it
			rng := rand.New(rand.NewPCG(seed, uint64(len(b.script.stories))))
			stories.Go(func() { t.tell(ctx, s, purchases, rng) })
			for range s.orders[1:] {
				l.another(ctx)
			}
			_ = l.options.Wait(ctx, liveEvery) // another finds out that it is over
		}
		stories.Wait()
		ended = l.quiet(ctx.Err() != nil)
	}
	t.all.took = time.Since(began)
	l.options.Log.Info("the storm is over", t.all.summary(b.script.Orders())...)
}

// another reports whether one more order is to be placed, and counts it.
func (l *Live) another(ctx context.Context) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left == 0 || ctx.Err() != nil {
		return false
	}
	l.left--
	return true
}

// quiet ends the storm and reports so, unless it was asked to go on meanwhile and may.
func (l *Live) quiet(anyway bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left > 0 && !anyway {
		return false
	}
	l.left, l.blowing = 0, false
	return true
}

// telling is what one storm is told, and answers.
type telling struct {
	*Live
	mu  sync.Mutex
	all *log
}

// tell tells a story wave by wave: what belongs to one comes in any order.
func (t *telling) tell(ctx context.Context, s story, purchases []purchase, rng *rand.Rand) {
	for wave := range waveCount {
		var tasks []task
		for _, step := range stepsIn(s, wave) {
			for range step.copies {
				tasks = append(tasks, task{action: step.action})
			}
		}
		if len(tasks) == 0 {
			continue
		}
		if wave > waveOrders && t.options.Wait(ctx, time.Duration((0.3+0.7*rng.Float64())*float64(livePause))) != nil {
			return
		}
		rng.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
		var asked sync.WaitGroup
		for i, one := range tasks {
			var after time.Duration // half of it comes at once, the rest dribbles in
			if i%2 == 1 {
				after = time.Duration(rng.Float64() * float64(livePause))
			}
			asked.Go(func() {
				if after == 0 || t.options.Wait(ctx, after) == nil {
					t.ask(ctx, one, purchases[one.order])
				}
			})
		}
		asked.Wait()
	}
}

// ask tells one thing until it is answered, or the caller gives up.
func (t *telling) ask(ctx context.Context, one task, p purchase) {
	mine := newLog()
	for again := []task{one}; len(again) > 0; again = mine.again {
		mine.again = nil
		if again[0].attempts > 0 && t.options.Wait(ctx, comesAgain) != nil {
			break
		}
		if !one.callback() && t.asks.Wait(ctx) != nil || ctx.Err() != nil {
			break
		}
		t.places <- struct{}{}
		// What was sent is answered, though the storm ends: the service has it.
		r, err := t.client.tell(context.WithoutCancel(ctx), one.action, p)
		<-t.places
		if err != nil {
			r.told = toldNothing
		}
		mine.note(again[0], r)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all.add(mine)
}

// summary is what a line of a log says of a storm.
func (l *log) summary(orders int) []any {
	var callbacks, deliveries, refused, unanswered int
	told := map[question]bool{}
	for a, n := range l.told {
		if callback(a.event) {
			deliveries += n
			if q := a.question; !told[q] {
				told[q] = true
				callbacks++
			}
		}
		if a.told == toldRefused {
			refused += n
		}
	}
	for _, n := range l.unsettled {
		unanswered += n
	}
	return []any{
		"orders", orders, "requests", l.requests, "callbacks", fmt.Sprintf("%d, told %d times", callbacks, deliveries),
		"not believed", refused, "asked to come again", unanswered, "took", l.took.Round(100 * time.Millisecond),
	}
}
