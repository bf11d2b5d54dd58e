package testpatroni

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/needs"
)

// Options say what cluster is wanted.
type Options struct {
	// Nodes is how many there are; 0 means 3.
	Nodes int
	// Synchronous is Patroni's synchronous_mode, with synchronous_mode_strict: a
	// COMMIT waits for a standby, also while there is none.
	Synchronous bool
	// TTL is how long a primary keeps its rights without being heard of; 0 means 6 s.
	// Patroni looks every sixth of it, at least every second. Its own default is
	// 30 s, and every third.
	TTL time.Duration
}

// Cluster is a primary and its standbys.
type Cluster struct {
	Nodes []*Node

	t        testing.TB
	o        Options
	folder   string
	bin      string // PostgreSQL's programs
	password string
	etcd     string // host and port
	as       *account
	tools    map[string]string // paths of programs
}

const (
	startTimeout = 2 * time.Minute // on a busy machine
	poll         = 50 * time.Millisecond
)

// Start starts a cluster and returns when all nodes are up and follow the primary.
// Where etcd, Patroni or PostgreSQL's programs are not installed the test is skipped,
// or fails where CI is set.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	if o.Nodes == 0 {
		o.Nodes = 3
	}
	if o.TTL == 0 {
		o.TTL = 6 * time.Second
	}
	c := &Cluster{t: t, o: o, password: rand.Text(), bin: programs(t), as: accountOf(t), tools: map[string]string{
		"etcd": needs.Command(t, "etcd", "etcd-server"), "patroni": needs.Command(t, "patroni", "patroni"),
	}}
	c.folder = c.newFolder()
	c.watch()
	t.Cleanup(c.tell)
	c.startEtcd()
	for i := range o.Nodes {
		n := c.newNode(fmt.Sprint("n", i+1))
		c.Nodes = append(c.Nodes, n)
		n.Start()
	}
	c.AwaitWhole()
	return c
}

// programs is the folder of the newest PostgreSQL that Debian's packages installed, with
// pg_rewind: PATH has none of it.
func programs(t testing.TB) string {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pg_rewind")
	require.NoError(t, err)
	if len(found) == 0 {
		return filepath.Dir(needs.Command(t, "pg_rewind", "postgresql"))
	}
	release := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return release(a) - release(b) }))
}

// newFolder is where everything is. It belongs to whom the programs run as; a test's
// own folder would be closed to them.
func (c *Cluster) newFolder() string {
	c.t.Helper()
	parent := os.TempDir()
	if c.as != nil {
		parent = "/tmp" // root's TMPDIR may be closed to others
	}
	folder, err := os.MkdirTemp(parent, "pawl-patroni-")
	require.NoError(c.t, err)
	c.own(folder)
	return folder
}

// own gives a file or folder to whom the programs run as.
func (c *Cluster) own(path string) {
	c.t.Helper()
	if c.as != nil {
		require.NoError(c.t, os.Chown(path, int(c.as.uid), int(c.as.gid)))
	}
}

// startEtcd starts the one etcd, and returns when it takes connections.
func (c *Cluster) startEtcd() {
	c.t.Helper()
	ports := freePorts(c.t, 2)
	c.etcd = "127.0.0.1:" + ports[0]
	client, peer := "http://"+c.etcd, "http://127.0.0.1:"+ports[1]
	c.run("etcd", c.folder, "etcd", "--name", "etcd", "--data-dir", filepath.Join(c.folder, "etcd"),
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "etcd="+peer)
	c.await("etcd does not answer", filepath.Join(c.folder, "etcd.log"), func() error {
		conn, err := net.DialTimeout("tcp", c.etcd, time.Second)
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

// run starts a program that ends with the test's process. What it says goes to name.log.
func (c *Cluster) run(name, dir, tool string, args ...string) *exec.Cmd {
	c.t.Helper()
	log, err := os.OpenFile(filepath.Join(c.folder, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(c.t, err)
	defer func() { _ = log.Close() }()
	cmd := exec.Command(c.tools[tool], args...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.folder, "LC_ALL=C", "PYTHONUNBUFFERED=1"}
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, withParent(c.as)
	require.NoError(c.t, cmd.Start())
	return cmd
}

// await returns when ask does without an error.
func (c *Cluster) await(what, log string, ask func() error) {
	c.t.Helper()
	for until := time.Now().Add(startTimeout); ; {
		err := ask()
		if err == nil {
			return
		}
		if time.Now().After(until) {
			require.FailNow(c.t, what, "%v\n%s", err, lastLines(log))
		}
		time.Sleep(poll) // between two questions
	}
}

func lastLines(log string) string {
	text, _ := os.ReadFile(log)
	lines := strings.Split(string(text), "\n")
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}

// tell logs what the nodes said last, where the test failed.
func (c *Cluster) tell() {
	if !c.t.Failed() {
		return
	}
	for _, n := range c.Nodes {
		c.t.Logf("%s said last:\n%s", n.Name, lastLines(filepath.Join(c.folder, n.Name+".log")))
	}
}

// URL is a connection string of all nodes, in whatever order, that connects to the one
// which takes writes. A host that does not answer is given up after two seconds.
func (c *Cluster) URL(database string) string {
	var hosts []string
	for _, n := range c.Nodes {
		hosts = append(hosts, n.addr())
	}
	return fmt.Sprintf("postgres://postgres:%s@%s/%s?sslmode=disable&target_session_attrs=read-write&connect_timeout=2",
		c.password, strings.Join(hosts, ","), database)
}

// freePorts returns that many ports that nobody listens on.
func freePorts(t testing.TB, n int) []string {
	t.Helper()
	ports := make([]string, n)
	for i := range ports {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = listener.Close() }()
		_, ports[i], err = net.SplitHostPort(listener.Addr().String())
		require.NoError(t, err)
	}
	return ports
}

// errNot is what is not yet.
var errNot = errors.New("not yet")
