// Package nemesis does harm to a system under load, and mends it again: to its
// server, to the road there, to those beside it. What harm, when and for how long
// comes from a seed. Whether the system bore it is for others to judge.
package nemesis

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/internal/localpg"
	"github.com/pawl-go/pawl/internal/torture/wire"
)

// Nemesis is one kind of harm.
type Nemesis interface {
	// Strike does the harm, and returns what mends it, nil where nothing is left to
	// mend. Whoever strikes always mends. An error says that it could not be done, at a
	// server that another one has struck, say; then there is nothing to mend.
	Strike(ctx context.Context, t *Target, r *rand.Rand) (Mend, error)
}

// Mend ends the harm, and returns how often it struck. The error says that the system
// is not whole again.
type Mend func(ctx context.Context) (hits int, err error)

// Restarter is a process that can be killed and started again.
type Restarter interface {
	Kill() error
	Restart(ctx context.Context) error
}

// Target is what harm is done to.
type Target struct {
	Server *localpg.Server
	// Database is the URL of the database, around the proxy.
	Database string
	Proxy    *wire.Proxy
	Redis    Restarter
	Services []Restarter
	// Keys are orders that are worked at now, in the order of their keys.
	Keys func() []string
	// Clock, Disk, of the outbox, and WAL, that of the write-ahead log, are nil where
	// the machine has no such thing.
	Clock     *Clock
	Disk, WAL *Disk
}

// session opens a session of its own, around the proxy, with a name by which
// nemeses spare each other.
func (t *Target) session(ctx context.Context) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(t.Database)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["application_name"] = sessionName
	config.ConnectTimeout = sessionTimeout
	return pgx.ConnectConfig(ctx, config)
}

const (
	sessionName    = "torture nemesis"
	sessionTimeout = 2 * time.Second
)

// shut closes a session whatever became of its context.
func shut(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), sessionTimeout)
	defer cancel()
	_ = conn.Close(ctx) // the server may be gone
}

// Lanes are the kinds of harm, each with its name, that are done one after the other;
// those of different lanes are done at the same time.
func Lanes() [][]Named {
	return [][]Named{
		{
			{"kill", "kill -9 of PostgreSQL and restart", kill{}},
			{"freeze", "SIGSTOP of PostgreSQL", freeze{}},
			{"freeze-one", "SIGSTOP of one backend", freezeOne{}},
			{"terminate", "pg_terminate_backend of backends", terminate{}},
			{"clock", "the server's clock jumps, and back", clockJump{}},
			{"full", "disk of the outbox full", full{}},
			{"wal", "disk of the write-ahead log full, until PostgreSQL panics", fullWAL{}},
		},
		{
			{"cut", "connections cut at a byte, COMMITs among them", cut{kinds: []wire.Kind{wire.Request, wire.Reply, wire.Commit}, oneIn: 40}},
			{"half", "connections half open", cut{kinds: []wire.Kind{wire.Half}, oneIn: 60}},
			{"delay", "requests late", cut{kinds: []wire.Kind{wire.Delay}, oneIn: 1}},
		},
		{
			{"service", "kill -9 of a service and restart", service{}},
			{"redis", "kill -9 of Redis and restart", redis{}},
			{"hold", "rows held, for lock and statement timeouts", hold{}},
			{"deadlock", "a foreign transaction in the opposite order", deadlock{}},
			{"crowd", "no connections left at the server", crowd{}},
		},
	}
}

// Loads are the faults that the load has in itself.
func Loads() []Named {
	return []Named{
		{"isolation", "callers at REPEATABLE READ and SERIALIZABLE", nil},
		{"pool", "a pool smaller than its clients", nil},
	}
}

// Named is a Nemesis with a name for FAULTS, and what it does.
type Named struct {
	Name, Does string
	Nemesis    Nemesis
}
