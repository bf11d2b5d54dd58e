// Package torture runs the orders example's machines under load while everything
// around them fails, and judges what is left: a PostgreSQL of its own that is killed,
// frozen, filled up and set to another time, a road there that is cut, services and a
// Redis that are killed. All that is random comes from one seed.
package torture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/pawl-go/pawl/internal/torture/judge"
	"github.com/pawl-go/pawl/internal/torture/load"
	"github.com/pawl-go/pawl/internal/torture/nemesis"
)

// Options say how long and how hard.
type Options struct {
	Seed uint64
	// For is how long harm is done at least: until each nemesis has had its turn, too,
	// and until there are so many Transitions.
	For         time.Duration
	Transitions int64
	// Limit ends it whether there are as many or not; 0 means never.
	Limit time.Duration
	// Faults are the names of what is done; empty for all. See [Faults].
	Faults []string
	// Pace is how long harm lasts; zero means what suits For.
	Pace nemesis.Pace
	// Service makes the command of one service, which calls [load.Run].
	Service func(load.Options) *exec.Cmd
	// Project has the definitions; Migrations make the database.
	Project, Migrations fs.FS
	// Log is told what happens.
	Log io.Writer
	// Keep leaves the journals where they are.
	Keep bool
}

// Faults are the names and descriptions of all that can be done.
func Faults() []nemesis.Named {
	return append(slices.Concat(nemesis.Lanes()...), nemesis.Loads()...)
}

// ErrFault says that a name is none of Faults.
var ErrFault = errors.New("no such fault")

// Report is what came of a run.
type Report struct {
	*judge.Report
	Seed uint64
	// Again are the flags of a run of the same.
	Again []string
	Took  time.Duration
	// Harm is how often each nemesis was at work, and how often it struck.
	Harm []Harm
	// LeftOut says what could not be done, and why.
	LeftOut []string
}

// Harm is what one nemesis did.
type Harm struct {
	Name, Does string
	// Times it was begun, Hits what it struck then, Missed when it could not strike,
	// since another one had made the server unreachable, say.
	Times, Hits, Missed int
}

// trial is one run.
type trial struct {
	Options
	folder string
	system *system
	plan   *nemesis.Plan

	mutex      sync.Mutex
	harm       map[string]*Harm
	leftOut    []string
	violations []judge.Violation
}

// Run does it all. Violations are no error of Run but in the report; an error says
// that the trial itself could not go on, and then nothing is proved.
func Run(ctx context.Context, o Options) (*Report, error) {
	t := &trial{Options: o, harm: map[string]*Harm{}}
	for _, name := range o.Faults {
		if !slices.ContainsFunc(Faults(), func(n nemesis.Named) bool { return n.Name == name }) {
			return nil, fmt.Errorf("%w: %q", ErrFault, name)
		}
	}
	if err := judge.Ready(o.Project); err != nil { // before the load, which is long
		return nil, err
	}
	folder, err := os.MkdirTemp("", "pawl-torture-")
	if err != nil {
		return nil, err
	}
	t.folder = folder
	if !o.Keep {
		defer func() { _ = os.RemoveAll(folder) }()
	}
	if err := os.Chmod(folder, 0o755); err != nil { // #nosec G302 -- the server's account must get in
		return nil, err
	}
	begun := time.Now()
	report, err := t.run(ctx)
	if report != nil {
		report.Took = time.Since(begun)
	}
	return report, err
}

// wants reports whether a fault is to be done.
func (t *trial) wants(name string) bool { return len(t.Faults) == 0 || slices.Contains(t.Faults, name) }

func (t *trial) run(ctx context.Context) (report *Report, err error) {
	begun := time.Now()
	if t.system, err = t.open(ctx); err != nil {
		return nil, errors.Join(err, t.system.close())
	}
	defer func() { err = errors.Join(err, t.system.close()) }()
	lanes := t.lanes()
	t.plan = nemesis.NewPlan(t.Seed, lanes, t.pace())
	t.say("seed %d, faults %v\nplan, as NAME@BEGIN+LENGTH in seconds:\n%s", t.Seed, t.names(lanes), t.plan.Text(t.For))
	for _, why := range t.leftOut {
		t.say("left out: %s", why)
	}
	if err := t.torment(ctx); err != nil {
		return nil, err
	}
	if err := t.rest(ctx); err != nil {
		return nil, err
	}
	t.say("judging")
	judged, err := judge.Run(ctx, judge.Options{
		URL: t.system.url, Journals: t.journals(), Project: t.Project, Machines: []string{"order", "payment", "refund"},
		Heard: load.Heard, Stock: load.Stock, Since: begun,
	})
	if err != nil {
		return nil, err
	}
	judged.Violations = append(t.violations, judged.Violations...)
	return &Report{Report: judged, Seed: t.Seed, Again: t.flags(), Harm: t.harmDone(), LeftOut: t.leftOut}, nil
}

// lanes are those of the nemeses that are wanted and can be had.
func (t *trial) lanes() [][]nemesis.Named {
	var lanes [][]nemesis.Named
	at := t.system.target
	for _, lane := range nemesis.Lanes() {
		var kept []nemesis.Named
		for _, n := range lane {
			missing := n.Name == "clock" && at.Clock == nil || n.Name == "full" && at.Disk == nil || n.Name == "wal" && at.WAL == nil || n.Name == "redis" && at.Redis == nil
			if t.wants(n.Name) && !missing {
				kept = append(kept, n)
				t.harm[n.Name] = &Harm{Name: n.Name, Does: n.Does}
			}
		}
		lanes = append(lanes, kept)
	}
	return lanes
}

func (t *trial) names(lanes [][]nemesis.Named) (names []string) {
	for _, n := range slices.Concat(slices.Concat(lanes...), nemesis.Loads()) {
		if t.wants(n.Name) {
			names = append(names, n.Name)
		}
	}
	return names
}

// short reports whether the run is one that a person waits for.
func (t *trial) short() bool { return t.For < time.Minute && t.Transitions == 0 }

// pace is quick for short runs, so that each nemesis has its turn.
func (t *trial) pace() nemesis.Pace {
	switch {
	case t.Pace != nemesis.Pace{}:
		return t.Pace
	case t.short():
		return nemesis.Pace{MinHarm: 300 * time.Millisecond, MaxHarm: time.Second, MinPause: 200 * time.Millisecond, MaxPause: 900 * time.Millisecond}
	}
	return nemesis.Pace{MinHarm: 300 * time.Millisecond, MaxHarm: 3 * time.Second, MinPause: 500 * time.Millisecond, MaxPause: 5 * time.Second}
}

// say tells the log.
func (t *trial) say(format string, args ...any) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	_, _ = fmt.Fprintf(t.Log, format+"\n", args...) // a log that cannot be written stops nobody
}

// violation notes a contradiction that is seen before the judge comes.
func (t *trial) violation(what, text string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.violations = append(t.violations, judge.Violation{What: what, N: 1, Examples: []string{text}})
}

func (t *trial) journals() []string {
	found, _ := filepath.Glob(filepath.Join(t.folder, "journal-*")) // the pattern is a good one
	slices.Sort(found)
	return found
}

// harmDone is what was done, in the order in which it is documented.
func (t *trial) harmDone() (all []Harm) {
	for _, n := range Faults() {
		if h := t.harm[n.Name]; h != nil {
			all = append(all, *h)
		}
	}
	return all
}

// torment does harm, while the services work, for as long as it was asked to.
func (t *trial) torment(ctx context.Context) error {
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if t.Limit > 0 {
		limit := time.AfterFunc(t.Limit, func() { stop(nil) })
		defer limit.Stop()
	}
	var lanes sync.WaitGroup
	turns := make(chan struct{}, t.plan.Lanes())
	for lane := range t.plan.Lanes() {
		lanes.Go(func() {
			if err := t.strike(working, lane, func() { turns <- struct{}{} }); err != nil {
				stop(err)
			}
		})
	}
	var handing sync.WaitGroup
	handing.Go(func() { t.system.bundles.hand(working) })
	ended := time.After(t.For)
	for range t.plan.Lanes() {
		select {
		case <-turns:
		case <-working.Done():
		}
	}
	select {
	case <-ended:
	case <-working.Done():
	}
	t.await(working)
	stop(nil)
	lanes.Wait()
	handing.Wait()
	if cause := context.Cause(working); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return ctx.Err()
}

// await returns when there are as many transitions as are wanted.
func (t *trial) await(ctx context.Context) {
	for ctx.Err() == nil {
		n, err := t.system.transitions(ctx)
		if err == nil {
			t.say("%d transitions; %d bundles, of some orders each, done", n, t.system.bundles.count())
		}
		if err == nil && n >= t.Transitions {
			return
		}
		select {
		case <-time.After(10 * time.Second):
		case <-ctx.Done():
		}
	}
}

// mendTimeout bounds how long mending may take: a recovery, above all.
const mendTimeout = 3 * time.Minute

// strike does the harm of one lane until ctx ends, and mends it. turned is called when
// each nemesis has had its turn.
func (t *trial) strike(ctx context.Context, lane int, turned func()) error {
	next := t.plan.Steps(lane)
	for ctx.Err() == nil {
		s := next()
		if !wait(ctx, s.Pause) {
			return nil
		}
		mend, err := s.Nemesis.Strike(ctx, t.system.target, rand.New(rand.NewPCG(s.Seed, 0)))
		if err != nil {
			t.did(s.Name, 0, true)
		} else {
			wait(ctx, s.Harm)
			mending, cancel := context.WithTimeout(context.WithoutCancel(ctx), mendTimeout)
			hits, err := mend(mending)
			cancel()
			t.did(s.Name, hits, false)
			if err != nil && !passing(s.Name) {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
		}
		if s.Last {
			turned()
		}
	}
	return nil
}

// passing reports whether a nemesis leaves nothing to mend but what passes by itself.
func passing(name string) bool { return name == "clock" }

func (t *trial) did(name string, hits int, missed bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	h := t.harm[name]
	h.Times++
	h.Hits += hits
	if missed {
		h.Missed++
	}
}

// wait waits, and reports whether ctx lasted so long.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
