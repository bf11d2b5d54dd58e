package consumewatermill_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/internal/testrabbit"
)

const childSpec, childDB, childBroker, childURL = "PAWL_CHILD", "PAWL_CHILD_DB", "PAWL_CHILD_BROKER", "PAWL_CHILD_URL"

// patient is a consumer for a crowd of processes on a busy machine: a claim that one
// left behind is taken over in seconds.
func patient(db *pgxpool.Pool) *consume.Consumer {
	return &consume.Consumer{DB: db, Name: "shipping", Lease: 4 * time.Second, Tries: 20}
}

// TestChild is a process that consumes until it is killed, at a point or by the test;
// without its environment it does nothing.
func TestChild(t *testing.T) {
	spec, armed := os.LookupEnv(childSpec)
	if !armed {
		return
	}
	require.NoError(t, fault.Arm(spec))
	db, err := pgxpool.New(t.Context(), os.Getenv(childDB))
	require.NoError(t, err)
	subscriber, err := subscribe(os.Getenv(childBroker), os.Getenv(childURL))
	require.NoError(t, err)
	startRouter(t, subscriber, topic, patient(db), effect)
	<-t.Context().Done()
}

// runUntilKilled consumes in a process that is killed at a point on the way.
func runUntilKilled(ctx context.Context, db *pgxpool.Pool, b broker, spec string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childSpec+"="+spec, childDB+"="+db.Config().ConnString(),
		childBroker+"="+b.name(), childURL+"="+b.url())
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ctx.Err() == nil {
		if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL {
			return nil
		}
	}
	return errors.Join(errors.New(spec+": it was not killed at its point: "+string(out)), err, ctx.Err())
}

// deliveries are 1,000 messages of 700 keys, in an order of their own.
func deliveries() (keys []string, different int) {
	const messages, distinct = 1000, 700
	for n := range messages {
		keys = append(keys, strconv.Itoa(n%distinct))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys, distinct
}

// Messages with duplicates; processes that are killed after the claim, before the
// COMMIT, and after it before the acknowledgement, and in which commits fail: each
// effect is there once, and the broker has no message left.
func TestThousandMessages(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		start func(t *testing.T) broker
	}{
		{"nats", func(t *testing.T) broker { return startNATS(t) }},
		{"rabbit", func(t *testing.T) broker { return rabbitBroker{testrabbit.Start(t)} }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			b := row.start(t)
			_, db := newConsumer(t)
			keys, different := deliveries()
			subscriber, err := subscribe(b.name(), b.url()) // makes the queue, and has the messages of the end
			require.NoError(t, err)
			if s, ok := subscriber.(interface{ SubscribeInitialize(string) error }); ok && b.name() == "rabbit" {
				require.NoError(t, s.SubscribeInitialize(topic))
			}
			b.publish(t, keys)
			for _, point := range []fault.Point{consume.Claimed, consume.Handled, consume.Committed} {
				spec := string(point) + "=kill@25,consume.handled=error@3,consume.handled=error@11"
				killed := make(chan error, 2)
				for range cap(killed) {
					go func() { killed <- runUntilKilled(t.Context(), db, b, spec) }()
				}
				for range cap(killed) {
					require.NoError(t, <-killed)
				}
			}
			require.Less(t, effects(t, db), different, "there is something left to do")
			drain(t, db, b, subscriber, different)
		})
	}
}

// drain consumes what is left, and looks at what came of all.
func drain(t *testing.T, db *pgxpool.Pool, b broker, subscriber message.Subscriber, different int) {
	t.Helper()
	c := patient(db)
	outcomes := make(chan consume.Report, 100)
	c.Observe = func(_ context.Context, r consume.Report) { outcomes <- r }
	stop := startRouter(t, subscriber, topic, c, effect)
	counts := map[consume.Outcome]int{}
	for effects(t, db) < different {
		counts[(<-outcomes).Outcome]++
	}
	over := make(chan struct{})
	var rest sync.WaitGroup
	rest.Go(func() { // duplicates are still coming
		for {
			select {
			case r := <-outcomes:
				counts[r.Outcome]++
			case <-over:
				return
			}
		}
	})
	require.Eventually(t, func() bool { return b.left(t) == 0 }, patience, 100*time.Millisecond, "all is acknowledged")
	stop()
	close(over)
	rest.Wait()
	require.Zero(t, b.left(t), "no message came back")
	t.Logf("the last process saw %v", counts)
	require.NotZero(t, counts[consume.Duplicate])
	var all, keys, dead int
	require.NoError(t, db.QueryRow(t.Context(), `
		SELECT count(*), count(DISTINCT key), (SELECT count(*) FROM fsm_dead_letters) FROM effects`).Scan(&all, &keys, &dead))
	require.Equal(t, different, keys, "no message is lost")
	require.Equal(t, different, all, "each effect is there once")
	require.Zero(t, dead)
}

// cable connects clients to a server until it is cut for good.
type cable struct {
	listener net.Listener
	mu       sync.Mutex
	ends     []net.Conn
}

func newCable(t *testing.T, to string) *cable {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &cable{listener: listener}
	t.Cleanup(c.cut)
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			c.mu.Lock()
			c.ends = append(c.ends, near, far)
			c.mu.Unlock()
			go func() { _, _ = io.Copy(near, far) }()
			go func() { _, _ = io.Copy(far, near) }()
		}
	}()
	return c
}

// cut ends all connections, and lets no new ones be made.
func (c *cable) cut() {
	_ = c.listener.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, end := range c.ends {
		_ = end.Close()
	}
	c.ends = nil
}

// The connection to the broker is cut for good while a message is handled, or after it
// was committed and before it is acknowledged: it comes again, as a duplicate. (A NATS
// client that connected again would acknowledge over its next connection.)
func TestConnectionCutBeforeTheAck(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"handled", "committed"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			b := startNATS(t)
			c, db := newConsumer(t)
			wire := newCable(t, strings.TrimPrefix(b.url(), "nats://"))
			outcomes := make(chan consume.Report, 100)
			c.Observe = func(_ context.Context, r consume.Report) {
				if when == "committed" {
					wire.cut()
				}
				outcomes <- r
			}
			first, err := natsSubscriber("nats://" + wire.listener.Addr().String())
			require.NoError(t, err)
			startRouter(t, first, topic, c, func(m *message.Message) ([]*message.Message, error) {
				if when == "handled" {
					wire.cut()
				}
				return effect(m)
			})
			b.publish(t, []string{"k"})
			require.Equal(t, consume.Done, (<-outcomes).Outcome)
			require.Equal(t, 1, b.left(t), "the acknowledgement has not arrived")

			second, err := natsSubscriber(b.url())
			require.NoError(t, err)
			stop := startRouter(t, second, topic, c, effect)
			require.Equal(t, consume.Duplicate, (<-outcomes).Outcome)
			require.Eventually(t, func() bool { return b.left(t) == 0 }, patience, 50*time.Millisecond)
			stop()
			require.Equal(t, 1, effects(t, db))
		})
	}
}
