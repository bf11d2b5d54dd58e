package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/examples/orders/storm"
)

// demoOptions are the demo's flags.
type demoOptions struct {
	orders, workers int
	seed            uint64
	skipNaive       bool
	json            string
}

const (
	demoOrders  = 2000
	demoWorkers = 32
	// The shop's pool; beyond the number of processors more of it only queues.
	demoConns = 12
)

// demo storms the shop, prints what it did, and returns the exit code: 0 when
// every promise was kept, 1 when one was broken or the demo could not run, 2 for
// wrong flags. With DATABASE_URL it works in a database of its own on that
// server, which it drops.
func demo(ctx context.Context, args []string) int {
	opts, err := parseDemo(args, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2 // the flag set has said why
	}
	kept, err := runDemo(ctx, opts)
	switch {
	case ctx.Err() != nil:
		_, _ = fmt.Fprintln(os.Stderr, "\ndemo: stopped")
		return 1
	case err != nil:
		_, _ = fmt.Fprintln(os.Stderr, "demo:", err)
		return 1
	case !kept:
		return 1
	}
	return 0
}

func parseDemo(args []string, out io.Writer) (demoOptions, error) {
	var o demoOptions
	flags := flag.NewFlagSet("orders demo", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&o.orders, "orders", demoOrders, "how many orders")
	flags.IntVar(&o.workers, "workers", demoWorkers, "how many requests at once")
	flags.Uint64Var(&o.seed, "seed", 0, "repeat the storm with this seed; 0 takes a new one")
	flags.BoolVar(&o.skipNaive, "skip-naive", false, "leave out the handler that checks and then acts")
	flags.StringVar(&o.json, "json", "", "write the figures to this `file`, too")
	err := flags.Parse(args)
	switch {
	case err != nil:
		return o, err
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.orders < 1 || o.orders > 1_000_000 || o.workers < 1 || o.workers > 1024:
		err = errors.New("-orders goes from 1 to 1000000, -workers from 1 to 1024")
	}
	if err != nil {
		_, _ = fmt.Fprintln(out, err)
	}
	o.seed = cmp.Or(o.seed, uint64(rand.Uint32())+1)
	return o, err
}

// runDemo reports whether the shop kept every promise.
func runDemo(ctx context.Context, o demoOptions) (bool, error) {
	pool, stop, err := openDemoDatabase(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return false, err
	}
	defer stop()
	script := storm.NewScript(o.orders, o.seed)
	fmt.Printf("A storm on %d orders, %d requests at once. The same again: -seed %d\n", script.Orders(), o.workers, o.seed)
	reports, err := stormBoth(ctx, o, pool, script)
	if err != nil {
		return false, err
	}
	if o.json != "" {
		if err := writeFigures(o, script, reports); err != nil {
			return false, err
		}
	}
	// Colour is for people: https://no-color.org
	color := term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == ""
	if err := storm.Print(os.Stdout, storm.Style{Color: color}, reports...); err != nil {
		return false, err
	}
	fmt.Println("\n  To play with the shop yourself, and watch it: make serve")
	return reports[0].Violations() == 0, nil
}

// stormBoth storms the shop, and then the handler that checks and then acts.
func stormBoth(ctx context.Context, o demoOptions, pool *pgxpool.Pool, script *storm.Script) ([]*storm.Report, error) {
	provider, err := storm.NewProvider()
	if err != nil {
		return nil, err
	}
	standard, stripe, err := provider.Verifiers()
	if err != nil {
		return nil, err
	}
	start := time.Now().UTC().Truncate(time.Second)
	blow := func(target storm.Target, clock *storm.Clock) (*storm.Report, error) {
		progress, finish := demoProgress(target.Name)
		defer finish()
		return storm.Run(ctx, storm.Options{
			Script: script, Provider: provider, Clock: clock, Target: target, Workers: o.workers, Progress: progress,
		})
	}

	clock := storm.NewClock(start)
	service, err := shop.New(shop.Config{
		Pool: pool, Clock: clock.Now, Standard: standard, Stripe: stripe, Log: demoLog(ctx, os.Stderr),
	})
	if err != nil {
		return nil, err
	}
	sweeper := service.Sweeper()
	ours, err := blow(storm.Target{
		Name: "pawl", Pool: pool, Handler: service.Handler(), Admin: service.Admin(),
		Sweep: func(ctx context.Context) error { _, err := sweeper.Once(ctx); return err },
	}, clock)
	if err != nil || o.skipNaive {
		return []*storm.Report{ours}, err
	}

	clock = storm.NewClock(start)
	naive, closeNaive, err := storm.NewNaive(ctx, pool, clock.Now, standard, stripe)
	if err != nil {
		return nil, err
	}
	defer closeNaive()
	theirs, err := blow(naive.Target(), clock)
	return []*storm.Report{ours, theirs}, err
}

// demoLog is the shop's log. Forged callbacks are warnings, and there are many on
// purpose, so that it takes errors alone; from the end of ctx on none either,
// since the requests that break off then are the demo's own doing.
func demoLog(ctx context.Context, out io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(writerUntil{ctx.Done(), out}, &slog.HandlerOptions{Level: slog.LevelError}))
}

// writerUntil drops what is written after done is closed.
type writerUntil struct {
	done <-chan struct{}
	w    io.Writer
}

// Write drops what comes when it is over.
func (u writerUntil) Write(p []byte) (int, error) {
	select {
	case <-u.done:
		return len(p), nil
	default:
		return u.w.Write(p)
	}
}

// demoProgress shows a bar on a terminal, and plain lines elsewhere.
func demoProgress(name string) (progress func(wave string, done, planned int), finish func()) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		shown := ""
		return func(wave string, done, planned int) {
			if wave != shown {
				shown = wave
				_, _ = fmt.Fprintf(os.Stderr, "%s: %s\n", name, wave)
			}
		}, func() {}
	}
	bar := progressbar.NewOptions(1,
		progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetWidth(30), progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(false))
	// A bar that cannot be drawn is no reason to stop.
	return func(wave string, done, planned int) {
		bar.ChangeMax(planned + 1) // the last step is the count after the storm
		bar.Describe(fmt.Sprintf("%-14s %-26s", name, wave))
		_ = bar.Set(done)
	}, func() { _ = bar.Finish() }
}

func writeFigures(o demoOptions, script *storm.Script, reports []*storm.Report) error {
	figures, err := json.MarshalIndent(struct {
		Seed    uint64          `json:"seed"`
		Orders  int             `json:"orders"`
		Workers int             `json:"workers"`
		Reports []*storm.Report `json:"reports"`
	}{o.seed, script.Orders(), o.workers, reports}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(o.json, append(figures, '\n'), 0o644)
}
