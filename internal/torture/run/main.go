// Command run torments the orders example's machines and judges what is left:
//
//	go run ./internal/torture/run -for 30m -seed 7 -faults kill,cut
//
// It ends with 0 when nothing is wrong, 1 for any violation, and 2 for wrong usage, or
// when the trial could not be held. What it begins with on its output, the seed, is
// what repeats it. It runs itself as the services under load.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-go/pawl/internal/torture"
	"github.com/pawl-go/pawl/internal/torture/load"
	"github.com/pawl-go/pawl/migrations"
)

const (
	exitViolation = 1
	exitUsage     = 2

	// asService is the first argument of a service.
	asService = "service"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, in io.Reader, out, log io.Writer) int {
	if len(args) == 2 && args[0] == asService {
		return serve(ctx, args[1], in, out, log)
	}
	o, err := parse(args, log)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return exitUsage
	}
	o.Log = out
	report, err := torture.Run(ctx, o)
	if err != nil {
		_, _ = fmt.Fprintln(log, "torture:", err)
		return exitUsage
	}
	if err := report.Print(out); err != nil {
		_, _ = fmt.Fprintln(log, "torture:", err)
		return exitUsage
	}
	if len(report.Violations) > 0 {
		return exitViolation
	}
	return 0
}

// serve is a service under load.
func serve(ctx context.Context, text string, in io.Reader, out, log io.Writer) int {
	var o load.Options
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		err = load.Run(ctx, o, in, out)
	}
	if err != nil {
		_, _ = fmt.Fprintln(log, "service:", err)
		return exitUsage
	}
	return 0
}

// parse reads the flags, and says on log what is wrong with them.
func parse(args []string, log io.Writer) (torture.Options, error) {
	o := torture.Options{Project: os.DirFS("."), Migrations: migrations.FS, Service: service}
	flags := flag.NewFlagSet("torture", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // what is wrong is said once, and without all the flags
	flags.DurationVar(&o.For, "for", 3*time.Minute, "how long harm is done, at least")
	flags.Uint64Var(&o.Seed, "seed", 0, "what decides all that is random; 0 draws one")
	flags.Int64Var(&o.Transitions, "transitions", 0, "how many transitions there are to be, at least")
	flags.DurationVar(&o.Limit, "limit", 0, "when to end although there are not as many transitions; 0 means never")
	flags.BoolVar(&o.Keep, "keep", false, "keep the journals, in a folder that is named in the end")
	faults := flags.String("faults", "", "which faults, with commas between; all unless told")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		usage(flags, log)
		return o, err
	}
	if err == nil {
		err = complete(&o, *faults, flags.Args())
	}
	if err != nil {
		_, _ = fmt.Fprintln(log, "torture:", err, "(-h tells all flags and faults)")
	}
	return o, err
}

func usage(flags *flag.FlagSet, out io.Writer) {
	flags.SetOutput(out)
	_, _ = fmt.Fprintln(out, "usage: torture [flags]")
	flags.PrintDefaults()
	_, _ = fmt.Fprintln(out, "faults:")
	for _, f := range torture.Faults() {
		_, _ = fmt.Fprintf(out, "  %-11s %s\n", f.Name, f.Does)
	}
	_, _ = fmt.Fprintln(out, "exits with 0 when nothing is wrong, 1 for any violation, 2 for wrong usage or a trial that could not be held")
}

// complete checks what the flags say and fills in what they do not.
func complete(o *torture.Options, faults string, rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unknown argument %q", rest[0])
	case o.For <= 0:
		return errors.New("-for must be positive")
	case o.Limit < 0:
		return errors.New("-limit cannot be negative")
	case o.Transitions < 0:
		return errors.New("-transitions cannot be negative")
	}
	if faults != "" {
		o.Faults = strings.Split(faults, ",")
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64N(1_000_000_000) + 1 // one that people can copy
	}
	known := map[string]bool{}
	for _, f := range torture.Faults() {
		known[f.Name] = true
	}
	for _, f := range o.Faults {
		if !known[f] {
			return fmt.Errorf("there is no fault %q", f)
		}
	}
	return nil
}

// service is this program as a service.
func service(o load.Options) *exec.Cmd {
	text, err := json.Marshal(o)
	if err != nil {
		text = nil // the service will say that it cannot read it
	}
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return exec.Command(self, asService, string(text)) // #nosec G204 -- itself
}
