package testpatroni

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"time"

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
// that is asked for, a COMMIT waits for one of them that Patroni would let take over.
func (c *Cluster) AwaitWhole() {
	c.t.Helper()
	c.await("the cluster does not become whole", c.log(), c.whole)
}

// whole is nil where AwaitWhole returns. Patroni has the server wait for a standby before
// it writes down that this one may take over. Between the two nobody may: a primary that
// dies then is waited for until it comes back.
func (c *Cluster) whole() error {
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
	var following int
	var synchronous []string
	if err := c.ask(`SELECT count(*), COALESCE(array_agg(application_name::text) FILTER (WHERE sync_state IN ('sync', 'quorum')), '{}') FROM pg_stat_replication
		WHERE state = 'streaming' AND application_name LIKE 'n%'`, &following, &synchronous); err != nil {
		return err
	}
	heirs, err := c.heirs()
	if err != nil {
		return err
	}
	known := slices.ContainsFunc(heirs, func(name string) bool { return slices.Contains(synchronous, name) })
	if primaries != 1 || following != len(c.Nodes)-1 || c.o.Synchronous && !known {
		return fmt.Errorf("%d primaries, %d follow, synchronously %v, may take over %v: %w", primaries, following, synchronous, heirs, errNot)
	}
	return nil
}

// heirs are the standbys that etcd has for synchronous, by the first Patroni that answers:
// https://patroni.readthedocs.io/en/latest/rest_api.html#monitoring-endpoint
func (c *Cluster) heirs() (names []string, err error) {
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, n := range c.Nodes {
		var answer *http.Response
		if answer, err = client.Get("http://127.0.0.1:" + n.rest + "/cluster"); err != nil {
			continue
		}
		var told struct {
			Members []struct{ Name, Role string } `json:"members"`
		}
		err = json.NewDecoder(answer.Body).Decode(&told)
		_ = answer.Body.Close()
		for _, m := range told.Members {
			if m.Role == "sync_standby" {
				names = append(names, m.Name)
			}
		}
		return names, err
	}
	return nil, err
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
