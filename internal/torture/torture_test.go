package torture

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/needs"
	"github.com/pawl-go/pawl/internal/torture/judge"
	"github.com/pawl-go/pawl/internal/torture/load"
	"github.com/pawl-go/pawl/internal/torture/nemesis"
	"github.com/pawl-go/pawl/migrations"
)

// What makes the test's program a service: its options, and the engine that takes its
// payments in the place of the generated call.
const (
	serviceVariable = "TORTURE_TEST_SERVICE"
	engineVariable  = "TORTURE_TEST_ENGINE"
)

func TestMain(m *testing.M) {
	if text := os.Getenv(serviceVariable); text != "" {
		os.Exit(serve(text))
	}
	os.Exit(m.Run())
}

func serve(text string) int {
	var o load.Options
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		o.Engine = engines[os.Getenv(engineVariable)]
		err = load.Run(ctx, o, os.Stdin, os.Stdout)
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// trialOf runs a trial with the services of this program. When the test fails its
// report comes last, below what the test says.
func trialOf(t *testing.T, o Options, engine string) *Report {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	o.Project, o.Migrations, o.Log = os.DirFS("../.."), migrations.FS, t.Output()
	o.Service = func(o load.Options) *exec.Cmd {
		text, err := json.Marshal(o)
		if err != nil {
			panic(err) // options that cannot be written are a mistake of this file
		}
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), serviceVariable+"="+string(text), engineVariable+"="+engine)
		return cmd
	}
	report, err := Run(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			require.NoError(t, report.Print(t.Output()))
		}
	})
	return report
}

// Every kind of harm that the machine allows, once at least, and nothing is wrong.
func TestNothingIsLostOrDoneTwice(t *testing.T) {
	t.Parallel()
	needs.Command(t, "redis-server", "redis-server")
	needs.Command(t, "faketime", "faketime")
	r := trialOf(t, Options{Seed: 7, For: 8 * time.Second}, "")
	require.Empty(t, r.Violations)
	require.Greater(t, r.Transitions, int64(1000))
	for _, h := range r.Harm {
		require.Positive(t, h.Times, h.Name)
	}
	if diskCanBeHad() {
		require.Empty(t, r.LeftOut)
	}
}

// diskCanBeHad reports whether there must be small disks here, for those that are full.
func diskCanBeHad() bool { return runtime.GOOS == "linux" && os.Geteuid() == 0 }

// needsDisk skips a test where no small disk can be had.
func needsDisk(t *testing.T) {
	t.Helper()
	if !diskCanBeHad() {
		t.Skip("a small disk is a tmpfs, which root alone can mount, on Linux")
	}
}

// A server without room for its log panics. What was acknowledged before is there when
// it has come up again, and nothing is told of a call that it was in the middle of but
// that its outcome is unknown, or that nothing was done.
func TestALogWithoutRoom(t *testing.T) {
	t.Parallel()
	needsDisk(t)
	r := trialOf(t, Options{Seed: 5, For: 5 * time.Second, Faults: []string{"wal"}}, "")
	require.Empty(t, r.LeftOut)
	require.Empty(t, r.Violations)
	require.Positive(t, r.Transitions)
	require.Len(t, r.Harm, 1)
	require.Positive(t, r.Harm[0].Hits, "it panicked")
}

// A trial that refuses nothing would prove nothing: engines that are wrong, each in a
// way that has happened to careful people, are found out.
func TestWrongEnginesAreRefused(t *testing.T) {
	t.Parallel()
	const explained = "a history of order that the definition cannot explain"
	const neverWas = "a client was shown a row as it never was"
	// Each reason is one that the engine gives, and no other part of a trial does. Which
	// of them a trial meets first hangs on what the faults hit: one is enough. What each
	// has to be refused for is staged call by call in package acceptance.
	for name, tc := range map[string]struct {
		faults  []string
		reasons []string
	}{
		"asks and then acts": {[]string{"delay"}, []string{explained, "the audit finds", "a history has a gap, or does not lead from one state to the next"}},
		"answers, then commits": {[]string{"terminate"}, []string{
			explained, "lost: a client was told Applied, and the history does not have it",
			"lost: a client was told Compensated, and there is no such fact", neverWas,
			"two clients were told that they made the same version", "two clients were told that they brought the same fact",
		}},
		"does the effect again": {[]string{"cut"}, []string{
			"effects in the transition's transaction, by the calls that have one, too many", "stock that was taken, by article, too few", explained,
		}},
		"takes a fact for a new": {[]string{"delay"}, []string{explained, "two clients were told that they brought the same fact", "two clients were told that they made the same version"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, engines, name)
			r := trialOf(t, Options{
				Seed: 11, For: 6 * time.Second, Faults: tc.faults,
				Pace: nemesis.Pace{MinHarm: 300 * time.Millisecond, MaxHarm: time.Second, MinPause: 50 * time.Millisecond, MaxPause: 300 * time.Millisecond},
			}, name)
			var found []string
			for _, v := range r.Violations {
				found = append(found, v.What)
			}
			require.True(t, slices.ContainsFunc(found, func(what string) bool { return slices.Contains(tc.reasons, what) }),
				"a trial of this engine has to be refused for one of %q, and was for %q", tc.reasons, found)
		})
	}
}

// What the judge needs in the end is asked for in the beginning.
func TestATrialWithoutDefinitionsDoesNotBegin(t *testing.T) {
	t.Parallel()
	_, err := Run(t.Context(), Options{Project: fstest.MapFS{}})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "definitions")
}

// A report ends with what came of it, and how to have it again.
func TestAReportEndsWithItsVerdict(t *testing.T) {
	t.Parallel()
	ends := func(o Options, violations ...judge.Violation) string {
		var out strings.Builder
		r := Report{Report: &judge.Report{Violations: violations}, Again: o.flags(), Harm: []Harm{{Name: "kill"}}}
		require.NoError(t, r.Print(&out))
		require.Contains(t, out.String(), "\nstruck: ")
		_, end, found := strings.Cut(out.String(), "\nviolations")
		require.True(t, found)
		return end
	}
	short := Options{For: 3 * time.Minute, Seed: 7}
	require.Equal(t, "  0\n\nNothing is wrong.\nto repeat it: bin/torture -for 3m0s -seed 7\n", ends(short))
	require.Equal(t, "  1\n  once: lost\n    a\n\nWRONG: one kind of violation.\nto repeat it: bin/torture -for 3m0s -seed 7\n",
		ends(short, judge.Violation{What: "lost", N: 1, Examples: []string{"a"}}))
	long := Options{For: time.Hour, Seed: 8, Faults: []string{"kill", "cut"}, Transitions: 1000, Limit: 2 * time.Hour}
	require.Contains(t, ends(long, judge.Violation{What: "lost", N: 2}, judge.Violation{What: "twice", N: 1}),
		"\n  2 times: lost\n  once: twice\n\nWRONG: 2 kinds of violations.\nto repeat it: bin/torture -for 1h0m0s -seed 8 -faults kill,cut -transitions 1000 -limit 2h0m0s\n")
}

func TestAnUnknownFaultIsRefused(t *testing.T) {
	t.Parallel()
	_, err := Run(t.Context(), Options{Faults: []string{"kill", "flood"}})
	require.ErrorIs(t, err, ErrFault)
	require.ErrorContains(t, err, "flood")
}

// A plan comes from its seed alone, and gives each nemesis a turn before any has two.
func TestPlan(t *testing.T) {
	t.Parallel()
	pace := nemesis.Pace{MinHarm: time.Second, MaxHarm: 2 * time.Second, MinPause: time.Second, MaxPause: time.Second}
	plan := nemesis.NewPlan(3, nemesis.Lanes(), pace)
	require.Equal(t, plan.Text(time.Minute), nemesis.NewPlan(3, nemesis.Lanes(), pace).Text(time.Minute))
	require.NotEqual(t, plan.Text(time.Minute), nemesis.NewPlan(4, nemesis.Lanes(), pace).Text(time.Minute))
	for lane, all := range nemesis.Lanes() {
		next := plan.Steps(lane)
		seen := map[string]bool{}
		for i := range all {
			s := next()
			require.False(t, seen[s.Name], s.Name)
			require.Equal(t, i == len(all)-1, s.Last)
			require.GreaterOrEqual(t, s.Harm, pace.MinHarm)
			require.LessOrEqual(t, s.Harm, pace.MaxHarm)
			seen[s.Name] = true
		}
		require.False(t, next().Last)
	}
}
