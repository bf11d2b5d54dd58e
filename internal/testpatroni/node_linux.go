package testpatroni

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/stretchr/testify/require"
)

// Node is a PostgreSQL with the Patroni that looks after it.
type Node struct {
	Name string

	c          *Cluster
	port, rest string
	patroni    *exec.Cmd // nil while it is down
}

// newNode writes a node's configuration.
func (c *Cluster) newNode(name string) *Node {
	c.t.Helper()
	ports := freePorts(c.t, 2)
	n := &Node{Name: name, c: c, port: ports[0], rest: ports[1]}
	folder := filepath.Join(c.folder, name)
	require.NoError(c.t, os.Mkdir(folder, 0o700))
	c.own(folder)
	require.NoError(c.t, os.WriteFile(n.config(), n.settings(), 0o600))
	c.own(n.config())
	return n
}

func (n *Node) addr() string    { return "127.0.0.1:" + n.port }
func (n *Node) config() string  { return filepath.Join(n.c.folder, n.Name, "patroni.yml") }
func (n *Node) dataDir() string { return filepath.Join(n.c.folder, n.Name, "data") }

// URL is a connection string of this node alone, whatever it is at the time.
func (n *Node) URL(database string) string {
	return fmt.Sprintf("postgres://postgres:%s@%s/%s?sslmode=disable&connect_timeout=2", n.c.password, n.addr(), database)
}

// settings is the node's patroni.yml. JSON is YAML, too.
func (n *Node) settings() []byte {
	type object = map[string]any
	ttl := max(int(n.c.o.TTL.Seconds()), 2)
	text, err := json.Marshal(object{
		"scope": "pawl", "name": n.Name,
		"restapi": object{"listen": "127.0.0.1:" + n.rest, "connect_address": "127.0.0.1:" + n.rest},
		"etcd3":   object{"host": n.c.etcd},
		"bootstrap": object{
			"dcs": object{
				"ttl": ttl, "loop_wait": max(ttl/6, 1), "retry_timeout": max(ttl/3, 2),
				"maximum_lag_on_failover": 1 << 30, // what a standby may lack is for the test to say
				"synchronous_mode":        n.c.o.Synchronous, "synchronous_mode_strict": n.c.o.Synchronous,
				"postgresql": object{"use_pg_rewind": true, "parameters": object{"max_connections": 100}},
			},
			"initdb": []any{object{"encoding": "UTF8"}, object{"locale": "C"}, object{"auth-host": "scram-sha-256"}, object{"auth-local": "trust"}, "no-sync"},
		},
		"postgresql": object{
			"listen": n.addr(), "connect_address": n.addr(), "bin_dir": n.c.bin, "data_dir": n.dataDir(),
			"pgpass": filepath.Join(n.c.folder, n.Name, "pgpass"),
			"pg_hba": []string{"host all all 127.0.0.1/32 scram-sha-256", "host replication all 127.0.0.1/32 scram-sha-256"},
			"authentication": object{
				"superuser":   object{"username": "postgres", "password": n.c.password},
				"replication": object{"username": "replicator", "password": n.c.password},
			},
			"parameters": object{"unix_socket_directories": filepath.Join(n.c.folder, n.Name), "timezone": "UTC"},
		},
	})
	require.NoError(n.c.t, err)
	return text
}

// Start starts the node, again after a Kill. Patroni makes it a primary or a standby,
// of a primary that others may have become meanwhile.
func (n *Node) Start() {
	n.c.t.Helper()
	n.patroni = n.c.run(n.Name, filepath.Join(n.c.folder, n.Name), "patroni", n.config())
}

// processes are all of the node: Patroni, the server, and those that the server has
// started, each of which is of a group of its own. The server is halted by it.
func (n *Node) processes() []int {
	pids := []int{}
	if n.patroni != nil {
		pids = append(pids, n.patroni.Process.Pid)
	}
	if postmaster := n.postmaster(); postmaster > 1 {
		signal(syscall.SIGSTOP, postmaster) // so that it starts nothing meanwhile
		pids = append(append(pids, postmaster), childrenOf(postmaster)...)
	}
	return pids
}

// postmaster is the server's first process, or 0.
func (n *Node) postmaster() int {
	text, err := os.ReadFile(filepath.Join(n.dataDir(), "postmaster.pid"))
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		return 0
	}
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !bytes.Contains(command, []byte(n.dataDir())) {
		return 0 // the file of a server that was killed
	}
	return pid
}

// Kill ends the node as a loss of power would: Patroni and every process of the
// server, by SIGKILL. It returns when none of them is left.
func (n *Node) Kill() {
	n.c.t.Helper()
	pids := n.processes()
	signal(syscall.SIGKILL, pids...)
	if n.patroni != nil {
		_ = n.patroni.Wait()
		n.patroni = nil
	}
	n.c.await("a killed process lives", "", func() error {
		for _, pid := range pids {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err == nil && !strings.Contains(string(stat), ") Z ") { // nobody may have asked for the end of it
				return fmt.Errorf("%d: %w", pid, errNot)
			}
		}
		return nil
	})
}

// Freeze halts the node, as a machine that hangs: what it had opened stays open, and
// nothing answers.
func (n *Node) Freeze() { signal(syscall.SIGSTOP, n.processes()...) }

// Thaw lets a frozen node go on where it was.
func (n *Node) Thaw() { signal(syscall.SIGCONT, n.processes()...) }

// HoldSenders halts what sends the primary's WAL, so that no standby gets any more: as
// a network does that fails one way. It lasts until the node is killed.
func (n *Node) HoldSenders() {
	n.c.t.Helper()
	held := 0
	for _, pid := range childrenOf(n.postmaster()) {
		command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && bytes.Contains(command, []byte("walsender")) {
			signal(syscall.SIGSTOP, pid)
			held++
		}
	}
	require.NotZero(n.c.t, held, "%s sends no WAL", n.Name)
}
