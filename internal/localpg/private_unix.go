//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package localpg

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	portAttempts = 5
	stopTimeout  = 10 * time.Second
	superuser    = "postgres"
	logLines     = 12 // how much of the log goes into an error
)

// run is a private server on its way up.
type run struct {
	folder   *folder
	dog      *watchdog
	account  *account
	binDir   string
	password string
	log      *os.File

	// args, env and url are those of the server since it came up, for restarts.
	args, env []string
	url       string

	mu        sync.Mutex // of what follows, once the server is up
	postgres  *process
	unguarded chan struct{} // closed when the watchdog has forgotten postgres
}

// startPrivate returns a server whose Stop undoes all of it.
func startPrivate(ctx context.Context, opts Options, h host) (*Server, error) {
	r, url, err := startRun(ctx, opts, h)
	if err != nil {
		return nil, err
	}
	return &Server{URL: url, BinDir: r.binDir, DataDir: r.folder.dataDir(), stop: r.stop, hand: r}, nil
}

// startRun brings a server up and returns its URL; when it fails, nothing is left.
func startRun(ctx context.Context, opts Options, h host) (*run, string, error) {
	binDir, err := acquire(ctx, h)
	if err != nil {
		return nil, "", err
	}
	account, err := h.account()
	if err != nil {
		return nil, "", err
	}
	parent, err := parentFolder(opts.TempDir, account)
	if err != nil {
		return nil, "", err
	}
	sweep(parent, account)

	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	folder, err := newFolder(parent, account)
	if err != nil {
		return nil, "", err
	}
	r := &run{folder: folder, account: account, binDir: binDir, password: rand.Text()}
	if opts.ReplicaOf != nil {
		if r.password, err = passwordOf(opts.ReplicaOf.URL); err != nil {
			return nil, "", errors.Join(err, r.stop())
		}
	}
	url, err := r.bringUp(ctx, opts, h)
	if err != nil {
		return nil, "", errors.Join(err, r.stop())
	}
	return r, url, nil
}

func (r *run) bringUp(ctx context.Context, opts Options, h host) (url string, err error) {
	if r.log, err = os.OpenFile(r.folder.logPath(), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600); err != nil {
		return "", err
	}
	if r.dog, err = startWatchdog(r.folder, r.account); err != nil {
		return "", fmt.Errorf("start the watchdog: %w", err)
	}
	if err = r.fill(ctx, opts); err != nil {
		return "", err
	}
	return r.launch(ctx, opts, h.freePort)
}

// fill makes the data folder, with its log where it is wanted.
func (r *run) fill(ctx context.Context, opts Options) error {
	var where []string
	if opts.WALDir != "" {
		if r.account != nil {
			if err := os.Chown(opts.WALDir, int(r.account.uid), int(r.account.gid)); err != nil {
				return err
			}
		}
		where = []string{"--waldir=" + opts.WALDir}
	}
	if opts.ReplicaOf != nil {
		return r.copyOf(ctx, opts.ReplicaOf.URL, where)
	}
	return r.initdb(ctx, where)
}

// parentFolder returns where the run's folder goes. Root's TMPDIR may be closed
// to the account that the server runs as; then /tmp serves, unless the caller
// named the folder.
func parentFolder(wanted string, as *account) (string, error) {
	parent := wanted
	if parent == "" {
		parent = os.TempDir()
	}
	parent, err := filepath.Abs(parent)
	if err != nil {
		return "", err
	}
	if as == nil || reachable(parent, as) {
		return parent, nil
	}
	if wanted == "" && reachable("/tmp", as) {
		return "/tmp", nil
	}
	return "", fmt.Errorf("the folder %s is closed to the user %s, who runs the server since PostgreSQL refuses root", parent, as.name)
}

// initdb makes the data folder. --no-sync: a folder that a power cut takes away
// is worth no wait; durability of commits is the server's own setting.
func (r *run) initdb(ctx context.Context, more []string) error {
	if err := r.folder.writePassword(r.password, r.account); err != nil {
		return err
	}
	args := []string{
		"-D", r.folder.dataDir(), "--username=" + superuser, "--pwfile=" + r.folder.passwordPath(),
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync",
	}
	if err := r.finish(ctx, "initdb", append(args, more...)...); err != nil {
		return err
	}
	return os.Remove(r.folder.passwordPath())
}

// copyOf makes the data folder of a replica: a copy of the primary, with the
// settings by which it goes on to follow it.
func (r *run) copyOf(ctx context.Context, primary string, more []string) error {
	args := []string{
		"-D", r.folder.dataDir(), "-d", primary, "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync",
	}
	return r.finish(ctx, "pg_basebackup", append(args, more...)...)
}

// passwordOf is the one in a server's URL.
func passwordOf(server string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", errors.New("the primary's URL is not a URL") // url.Parse's own error repeats the password
	}
	password, _ := u.User.Password()
	return password, nil
}

// finish runs a program to its end.
func (r *run) finish(ctx context.Context, program string, args ...string) error {
	p, err := r.spawn(program, args...)
	if err != nil {
		return err
	}
	r.dog.guard("KILL", -p.pid()) // its children are in its process group
	select {
	case <-p.done:
	case <-ctx.Done():
		p.killGroup()
		<-p.done
	}
	r.dog.guardNothing()
	if p.err != nil {
		return r.withLog(0, program, errors.Join(p.err, ctx.Err()))
	}
	return nil
}

// launch starts postgres on a free port. Between the choice of a port and
// postgres's bind somebody else may take it, so another is chosen, a few times.
func (r *run) launch(ctx context.Context, opts Options, freePort func() (int, error)) (string, error) {
	for attempt := 1; ; attempt++ {
		port, err := freePort()
		if err != nil {
			return "", err
		}
		info, err := r.log.Stat()
		if err != nil {
			return "", err
		}
		logStart := info.Size()
		r.args, r.env = serverArgs(r.folder.dataDir(), port, opts), opts.Env
		if r.postgres, err = r.spawnWith(r.env, "postgres", r.args...); err != nil {
			return "", err
		}
		r.dog.guard("QUIT", r.postgres.pid())
		url := fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/postgres?sslmode=disable", superuser, r.password, port)
		if err = r.awaitReady(ctx, url); err == nil {
			r.url = url
			r.watch()
			return url, nil
		}
		if errors.Is(err, errExited) {
			r.dog.guardNothing()
		}
		if attempt < portAttempts && ctx.Err() == nil && strings.Contains(r.logSince(logStart), "could not bind") {
			continue
		}
		return "", r.withLog(logStart, "postgres", err)
	}
}

// serverArgs puts all settings on the command line, where the last one wins.
func serverArgs(dataDir string, port int, opts Options) []string {
	settings := [][2]string{
		{"listen_addresses", "127.0.0.1"},
		{"port", strconv.Itoa(port)},
		// TCP with a password is all that is used; a socket's path would also be
		// limited to about 100 bytes.
		{"unix_socket_directories", ""},
		{"max_connections", "200"},
		{"timezone", "UTC"},
		{"log_timezone", "UTC"},
	}
	if opts.Fast {
		settings = append(settings, [][2]string{{"fsync", "off"}, {"synchronous_commit", "off"}, {"full_page_writes", "off"}}...)
	}
	args := []string{"-D", dataDir}
	for _, s := range append(settings, opts.Settings...) {
		args = append(args, "-c", s[0]+"="+s[1])
	}
	return args
}

var errExited = errors.New("exited before it was ready")

// awaitReady connects until it works, the server is gone or ctx ends. Only our
// server knows the password, so a stranger on the port is not mistaken for it.
func (r *run) awaitReady(ctx context.Context, url string) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ping(ctx, url)
		if err == nil {
			return nil
		}
		select {
		case <-r.postgres.done:
			return errExited
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// watch keeps the watchdog from signalling a pid that is free again.
func (r *run) watch() {
	p, unguarded := r.postgres, make(chan struct{})
	r.unguarded = unguarded
	go func() {
		<-p.done
		r.dog.guardNothing()
		close(unguarded)
	}()
}

// stop ends the server and removes its folder. The shutdown is PostgreSQL's
// immediate one: it frees shared memory, and what it leaves unwritten is in a
// folder that goes away.
func (r *run) stop() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.postgres != nil {
		_ = r.signalAll(syscall.SIGCONT) // a paused one hears nothing else
		r.postgres.quit(stopTimeout)
	}
	if r.log != nil {
		_ = r.log.Close()
	}
	if r.dog != nil {
		if r.postgres != nil {
			r.dog.guardNothing()
		}
		r.dog.dismiss()
	}
	return r.folder.remove() // what the watchdog could not
}

func (r *run) logSince(offset int64) string {
	text, err := os.ReadFile(r.folder.logPath())
	if err != nil || int64(len(text)) < offset {
		return ""
	}
	return string(text[offset:])
}

func (r *run) withLog(offset int64, program string, err error) error {
	return fmt.Errorf("start a private PostgreSQL: %s: %w; the end of its log:\n%s",
		filepath.Join(r.binDir, program), err, lastLines(r.logSince(offset), logLines))
}
