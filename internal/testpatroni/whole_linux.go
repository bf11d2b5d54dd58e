package testpatroni

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/jackc/pgx/v5"
)

// ask has a query of the primary answered, whichever node that is now.
func (c *Cluster) ask(sql string, into ...any) error {
	ctx := context.Background() // a test's own may have ended when it asks
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	return conn.QueryRow(ctx, sql).Scan(into...)
}

// Primary is the node that takes writes now; the test fails when there is none for long.
func (c *Cluster) Primary() *Node {
	c.t.Helper()
	port := ""
	c.await("there is no primary", c.log(), func() error { return c.ask("SELECT inet_server_port()::text", &port) })
	for _, n := range c.Nodes {
		if n.port == port {
			return n
		}
	}
	return nil
}

// Standbys are the nodes but the primary.
func (c *Cluster) Standbys() (standbys []*Node) {
	c.t.Helper()
	primary := c.Primary()
	for _, n := range c.Nodes {
		if n != primary {
			standbys = append(standbys, n)
		}
	}
	return standbys
}

// AwaitWhole returns when there is one primary, all other nodes take its WAL and, where
// that is asked for, a COMMIT waits for one of them.
func (c *Cluster) AwaitWhole() {
	c.t.Helper()
	c.await("the cluster does not become whole", c.log(), func() error {
		primaries := 0
		for _, n := range c.Nodes {
			standby, err := n.follows()
			if err != nil {
				return err
			}
			if !standby {
				primaries++
			}
		}
		var following, synchronous int
		if err := c.ask(`SELECT count(*), count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) FROM pg_stat_replication
			WHERE state = 'streaming' AND application_name LIKE 'n%'`, &following, &synchronous); err != nil {
			return err
		}
		if primaries != 1 || following != len(c.Nodes)-1 || c.o.Synchronous && synchronous == 0 {
			return fmt.Errorf("%d primaries, %d follow, %d synchronously: %w", primaries, following, synchronous, errNot)
		}
		return nil
	})
}

func (c *Cluster) log() string { return filepath.Join(c.folder, c.Nodes[0].Name+".log") }

// follows reports whether the node is a standby. One that comes back may take itself for
// the primary still.
func (n *Node) follows() (standby bool, err error) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, n.URL("postgres"))
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close(ctx) }()
	err = conn.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&standby)
	return standby, err
}
