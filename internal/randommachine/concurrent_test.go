package randommachine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/record"
	"github.com/pawl-go/pawl/internal/linear"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
	"github.com/pawl-go/pawl/internal/randommachine"
)

// concurrent is how many machines are tried by several clients at once.
var concurrent = flag.Int("concurrent", 8, "how many random machines several clients call at once")

const clients = 4

// crowd is some clients at the rows of one machine, each with a connection.
type crowd struct {
	caller
	conns []*pgx.Conn
	keys  [][]string
	rec   *record.Recorder
	// versions are those that the clients were last told, by row.
	versions []atomic.Int64
	calls    atomic.Int64
	mu       sync.Mutex
	outcomes map[string]int
}

// told takes down what a call said.
func (c *crowd) told(row int, r result, err error) error {
	c.calls.Add(1)
	what := string(r.Outcome)
	switch {
	case errors.Is(err, fsm.ErrContended):
		what = "contended"
	case errors.Is(err, fsm.ErrArgument):
		what = "bad argument"
	case errors.Is(err, fsm.ErrNotFound):
		what = "not found"
	case err != nil && refusedData(err):
		what = "data refused"
	case err != nil:
		return err
	case row < len(c.versions):
		c.versions[row].Store(r.Version)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outcomes[what]++
	return nil
}

// refusedData reports whether a check failed, or an expression could not be computed.
func refusedData(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code[:2] == "22" || pg.Code[:2] == "23")
}

// options are those of a step.
func (c *crowd) options(s randommachine.Step, now time.Time) []fsm.Option {
	options := []fsm.Option{fsm.At(now), fsm.Actor("somebody")}
	if s.Version != "" && s.Row < len(c.versions) {
		v := max(c.versions[s.Row].Load(), 1)
		if s.Version == "wrong" {
			v++
		}
		options = append(options, fsm.ExpectVersion(v))
	}
	return options
}

// recorded are the values of a call as a history has them: a document as it is.
func recorded(know oracle.Values, types map[string]model.Type) map[string]any {
	out := map[string]any(maps.Clone(know))
	for name, v := range out {
		if text, is := v.(string); is && types[name].Kind == model.KindJSON {
			out[name] = json.RawMessage(text)
		}
	}
	return out
}

// step makes one call and records it.
func (c *crowd) step(ctx context.Context, client int, s randommachine.Step, now time.Time) error {
	name, conn := fmt.Sprint(client), c.conns[client]
	if s.Row >= len(c.keys) {
		return nil
	}
	key := c.keys[s.Row]
	text := c.keyText(c.canonical(key))
	options := c.options(s, now)
	var r result
	var err error
	switch s.Do {
	case randommachine.DoCreate:
		types := map[string]model.Type{}
		for _, column := range c.m.Created() {
			types[column.Name] = column.Type
		}
		send, know, given := given(s, types)
		if given != nil {
			return given
		}
		r, err = record.Call(c.rec, name, text, "create", recorded(know, types), func() (result, error) {
			return c.create(ctx, conn, key, send, options...)
		}, options...)
	case randommachine.DoCall:
		e := c.m.Event(s.Event)
		send, know, given := given(s, paramTypes(e))
		if given != nil {
			return given
		}
		r, err = record.Call(c.rec, name, text, e.Name, recorded(know, paramTypes(e)), func() (result, error) {
			return c.fire(ctx, conn, e, key, send, options...)
		}, options...)
	case randommachine.DoCorrect:
		r, err = record.Call(c.rec, name, text, "correct", map[string]any{"to": s.State}, func() (result, error) {
			return c.correct(ctx, conn, key, s.State, fsm.Correction{Actor: "support", Reason: "it was wrong"}, options...)
		}, options...)
	case randommachine.DoBatch:
		return c.batchOf(ctx, client, s, now)
	default:
		return nil // a sweep's clock is no part of a history
	}
	return c.told(s.Row, r, err)
}

// batchOf makes the calls of a batch and records each.
func (c *crowd) batchOf(ctx context.Context, client int, s randommachine.Step, now time.Time) error {
	e := c.m.Event(s.Event)
	var items []item
	var pending []*record.Pending
	var of []int
	for _, i := range s.Items {
		if i.Row >= len(c.keys) {
			continue
		}
		send, know, err := given(i, paramTypes(e))
		if err != nil {
			return err
		}
		key := c.canonical(c.keys[i.Row])
		items, of = append(items, item{Key: key, Params: send, Actor: "batch"}), append(of, i.Row)
		pending = append(pending, c.rec.Invoke(fmt.Sprintf("%d.%d", client, len(items)), c.keyText(key), e.Name, recorded(know, paramTypes(e)), fsm.At(now)))
	}
	got, err := c.batch(ctx, c.conns[client], e, items, fsm.At(now))
	for n, p := range pending {
		record.Returned(p, got[n].Result, got[n].Err)
		if told := c.told(of[n], got[n].Result, got[n].Err); told != nil {
			err = errors.Join(err, told)
		}
	}
	return err
}

// table is where the machine's rows are, for the recorder.
func (c *crowd) table() record.Table {
	t := record.Table{
		Name: c.m.Table.Name, Status: c.m.Table.Status.Column, Version: c.m.Table.Version, NoFacts: !c.m.Facts(), Outbox: true,
	}
	for _, k := range c.m.Table.Keys {
		t.Key = append(t.Key, k.Name)
	}
	for _, column := range c.m.Table.Columns {
		t.Columns = append(t.Columns, column.Name)
	}
	return t
}

// all has the clients do their steps at once, all from one start.
func (c *crowd) all(ctx context.Context, steps [][]randommachine.Step) error {
	start := make(chan struct{})
	errs := make([]error, len(steps))
	var group sync.WaitGroup
	for client := range steps {
		group.Go(func() {
			<-start
			now := randommachine.Start
			for _, s := range steps[client] {
				now = now.Add(s.After)
				if err := c.step(ctx, client, s, now); err != nil {
					errs[client] = err
					return
				}
			}
		})
	}
	close(start)
	group.Wait()
	return errors.Join(errs...)
}

// Whatever several clients are told at once can be explained by calls one after the
// other.
func TestRandomMachinesAtOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	config, err := pgx.ParseConfig(newURL(t))
	require.NoError(t, err)
	c := &crowd{outcomes: map[string]int{}}
	for range clients {
		conn, err := pgx.ConnectConfig(ctx, config)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		c.conns = append(c.conns, conn)
	}
	tried, operations, either := 0, 0, 0
	generator := rapid.Custom(randommachine.Definition)
	for seed := *concurrentSeed; tried < *concurrent; seed++ {
		m, err := build(generator.Example(seed))
		var refused *refusedError
		if errors.As(err, &refused) {
			continue
		}
		require.NoError(t, err)
		tried++
		v, history := c.machine(t, m, seed)
		require.Equal(t, linear.Accepted, v.Result(), "seed %d: %s\n%s\n%s", seed, v.Findings(), m.text, history)
		operations, either = operations+v.Operations, either+v.Either
	}
	t.Logf("seed %d: %d machines, %d clients, %d operations, %d with a guard or check that was not known", *concurrentSeed, tried, clients, operations, either)
	for _, o := range slices.Sorted(maps.Keys(c.outcomes)) {
		t.Logf("%8d %s", c.outcomes[o], o)
	}
}

var concurrentSeed = flag.Int("concurrent-seed", 1, "the first of their seeds")

// machine lets the clients at one machine, and checks the history.
func (c *crowd) machine(t *testing.T, m *built, seed int) (*linear.Verdict, string) {
	t.Helper()
	ctx := t.Context()
	schema := fmt.Sprintf("machine_%d", seed)
	require.NoError(t, m.apply(ctx, c.conns[0], schema))
	defer func() {
		for _, conn := range c.conns {
			_ = conn.DeallocateAll(ctx)
		}
		_, _ = c.conns[0].PgConn().Exec(ctx, "DROP SCHEMA "+schema+" CASCADE").ReadAll()
	}()
	for _, conn := range c.conns[1:] {
		require.NoError(t, use(ctx, conn, schema))
	}
	type plan struct {
		keys  [][]string
		first []randommachine.Step
		steps [][]randommachine.Step
	}
	p := rapid.Custom(func(t *rapid.T) plan {
		p := plan{keys: randommachine.Keys(t, m.m, 2)}
		p.first = randommachine.Steps(t, m.m, len(p.keys), 0)
		for range clients {
			p.steps = append(p.steps, randommachine.Steps(t, m.m, len(p.keys), 20)[len(p.keys):])
		}
		return p
	}).Example(seed)
	var history bytes.Buffer
	c.caller, c.keys, c.rec, c.versions = caller{m}, p.keys, record.New(&history, m.m.Name), make([]atomic.Int64, len(p.keys))
	require.NoError(t, c.all(ctx, [][]randommachine.Step{p.first}))
	require.NoError(t, c.all(ctx, p.steps), m.text)
	require.NoError(t, c.rec.Found(ctx, c.conns[0], c.table()))
	require.NoError(t, c.rec.Err())

	h, err := linear.NewHistory(m.m)
	require.NoError(t, err)
	text := history.String()
	require.NoError(t, h.Read(&history, "history"), text)
	v, err := linear.Check(ctx, h, linear.Options{})
	require.NoError(t, err)
	return v, text
}
