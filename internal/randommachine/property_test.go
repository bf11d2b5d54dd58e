package randommachine_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-go/pawl/internal/randommachine"
	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if !flagGiven("rapid.checks") {
		_ = flag.Set("rapid.checks", fmt.Sprint(*machines)) // a number is one
	}
	if !flagGiven("rapid.nofailfile") {
		_ = flag.Set("rapid.nofailfile", "true") // cases are kept as people can read them
	}
	if os.Getenv("CI") != "" && !flagGiven("rapid.seed") {
		_ = flag.Set("rapid.seed", "1") // what is found by chance is no fault of the change that is judged
	}
	testdb.Main(m)
}

func flagGiven(name string) (yes bool) {
	flag.Visit(func(f *flag.Flag) { yes = yes || f.Name == name })
	return yes
}

// machines is how many are tried; -rapid.seed says from where.
var (
	machines = flag.Int("machines", 60, "how many random machines are tried")
	atMost   = flag.Duration("atmost", 0, "how long at most; 0 is without end")
)

const (
	rows  = 3
	steps = 24
	// beds are exchanged after so many machines.
	perSession, perDatabase = 50, 500
)

// bed is where machines are tried: one connection to one database, a schema each. Both
// are exchanged after so many machines, since a session remembers each table that it has
// seen and a catalog each that it had: the 2,000th would take many times as long as the
// first.
type bed struct {
	t    *testing.T
	conn *pgx.Conn
	n    int
	seen tally
	time times
}

// times is where the time goes.
type times struct{ build, apply, run, drop time.Duration }

// newURL is a database whose sessions are in UTC, as package evaluate has it.
func newURL(t *testing.T) string {
	t.Helper()
	url := testdb.URL(t)
	config, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	conn, err := pgx.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.Exec(t.Context(), "ALTER DATABASE "+config.Database+" SET timezone = 'UTC'")
	require.NoError(t, err)
	return url
}

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{t: t, seen: newTally()}
	b.connect(newURL(t))
	return b
}

func (b *bed) connect(url string) {
	b.t.Helper()
	conn, err := pgx.Connect(b.t.Context(), url)
	require.NoError(b.t, err)
	b.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	b.conn = conn
}

// exchange takes another session, or another database, when it is time.
func (b *bed) exchange() {
	b.t.Helper()
	if b.n == 0 || b.n%perSession > 0 {
		return
	}
	url := b.conn.Config().ConnString()
	require.NoError(b.t, b.conn.Close(b.t.Context()))
	if b.n%perDatabase == 0 {
		url = newURL(b.t)
	}
	b.connect(url)
}

// try does the steps of a case to a machine of its own. The error is what is not as
// it must be.
func (b *bed) try(ctx context.Context, m *built, c randommachine.Case) error {
	b.exchange()
	b.n++
	schema := fmt.Sprintf("machine_%d", b.n)
	start := time.Now()
	defer func() {
		start := time.Now()
		_ = b.conn.DeallocateAll(ctx)
		_, _ = b.conn.PgConn().Exec(ctx, "SET search_path = public; DROP SCHEMA IF EXISTS "+schema+" CASCADE").ReadAll()
		b.time.drop += time.Since(start)
	}()
	if err := m.apply(ctx, b.conn, schema); err != nil {
		return err
	}
	b.time.apply += time.Since(start)
	start = time.Now()
	trial := newTrial(m, b.conn, c.Keys)
	err := trial.run(ctx, c.Steps)
	b.time.run += time.Since(start)
	b.seen.add(trial.seen)
	b.seen.machines++
	if errors.Is(err, errOpen) {
		b.seen.open++
		return nil
	}
	return err
}

// draw draws a case whose definition lint accepts.
func (b *bed) draw(t *rapid.T) (*built, randommachine.Case) {
	start := time.Now()
	c := randommachine.Case{Definition: randommachine.Definition(t)}
	m, err := build(c.Definition)
	b.time.build += time.Since(start)
	var refused *refusedError
	if errors.As(err, &refused) {
		b.seen.refused++
		for _, code := range refused.codes() {
			b.seen.codes[code]++
		}
		t.Skip("lint refuses it")
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, c.Definition)
	}
	c.Keys = randommachine.Keys(t, m.m, rows)
	c.Steps = randommachine.Steps(t, m.m, len(c.Keys), steps)
	return m, c
}

func TestRandomMachinesDoWhatTheirDefinitionsSay(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	start := time.Now()
	rapid.Check(t, func(t *rapid.T) {
		if *atMost > 0 && time.Since(start) > *atMost {
			return
		}
		m, c := b.draw(t)
		if b.n%500 == 499 {
			fmt.Fprintf(os.Stderr, "%d machines, %d calls after %s\n", b.seen.machines, b.seen.calls, time.Since(start).Round(time.Second))
		}
		if err := b.try(t.Context(), m, c); err != nil {
			t.Fatalf("%v\nThis is the case; keep it in testdata/cases:\n%s", err, c.Format())
		}
	})
	b.report(t, time.Since(start))
	require.NoError(t, b.seen.worthwhile())
}

func (b *bed) report(t *testing.T, took time.Duration) {
	t.Helper()
	t.Logf("seed %s: %d machines in %s (lint and rendering %s, migrations %s, calls %s, dropping %s)", flag.Lookup("rapid.seed").Value, b.seen.machines,
		took.Round(time.Second), b.time.build.Round(time.Second), b.time.apply.Round(time.Second), b.time.run.Round(time.Second), b.time.drop.Round(time.Second))
	t.Logf("%d calls, %d machines left open, %d definitions refused by lint: %v", b.seen.calls, b.seen.open, b.seen.refused, b.seen.codes)
	for _, o := range slices.Sorted(maps.Keys(b.seen.outcomes)) {
		t.Logf("%8d %s", b.seen.outcomes[o], o)
	}
}

// Cases that have failed once are tried for ever.
func TestCasesThatFailedOnce(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/cases/*.case")
	require.NoError(t, err)
	b := newBed(t)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		c, err := randommachine.ParseCase(string(content))
		require.NoError(t, err, file)
		m, err := build(c.Definition)
		require.NoError(t, err, file)
		require.NoError(t, b.try(t.Context(), m, c), file)
	}
	require.Zero(t, b.seen.open)
}

func TestACaseIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	generator := rapid.Custom(func(t *rapid.T) randommachine.Case {
		c := randommachine.Case{Definition: randommachine.Definition(t)}
		m, err := build(c.Definition)
		if err != nil {
			t.Skip("lint refuses it")
		}
		c.Keys = randommachine.Keys(t, m.m, rows)
		c.Steps = randommachine.Steps(t, m.m, len(c.Keys), steps)
		return c
	})
	for seed := range 20 {
		c := generator.Example(seed)
		read, err := randommachine.ParseCase(c.Format())
		require.NoError(t, err)
		require.Equal(t, c, read)
	}
	_, err := randommachine.ParseCase("x: y\n--- keys\n{")
	require.ErrorContains(t, err, "line 3")
	require.False(t, strings.Contains(generator.Example(1).Format(), "\x00"))
}
