// Package localpg gives a program a PostgreSQL server without set-up: the
// server its caller names, or else a private one in a temporary folder, from
// installed binaries, from Debian's package, or from a download.
//
// A private server belongs to the process that started it. It listens on
// 127.0.0.1 alone, asks for a random password, and goes away with its owner,
// folder and all, however the owner ends. Nothing in it outlives a run: data
// that must last belongs on a server of the caller's own.
//
// Reading DATABASE_URL, migrations and test databases are left to the callers.
package localpg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Options says which server is wanted. The zero value asks for a durable
// private server.
type Options struct {
	// URL names a server that is there already; when it is set, no server is
	// started and nothing is installed.
	URL string
	// Fast turns fsync, synchronous_commit and full_page_writes off. It is for
	// tests of logic; measurements and crash tests need the durable default.
	Fast bool
	// Settings are further server settings, name and value, in the order given;
	// a later one wins, also over what the package sets by itself.
	Settings [][2]string
	// ReplicaOf has the server be a streaming replica of a private server that
	// runs: it begins with a copy of it and follows it, read-only. It has the same
	// users, and the fields above hold as for any other. It must be stopped first.
	ReplicaOf *Server
	// WALDir is a folder for the write-ahead log, on a disk of its own, say: empty, and
	// in place until the server has stopped. It is given to the server's account. Empty
	// leaves the log in the data folder.
	WALDir string
	// Env are further variables of the server's environment, NAME=value: a library
	// to load before others, say.
	Env []string
	// TempDir holds the folder of the run; empty means os.TempDir.
	TempDir string
	// RepositoryURL is the Maven repository that binaries are fetched from;
	// empty means the embedded-postgres library's default.
	RepositoryURL string
	// CacheDir keeps fetched binaries between runs; empty means the user's
	// cache folder, or /var/cache for root.
	CacheDir string
	// Log is told, a line each, of steps that take long (an installation, a
	// download). nil means silence.
	Log io.Writer
}

// Server is a running PostgreSQL. Its fields are not changed after Start.
type Server struct {
	// URL is a postgres:// URL of a database of the server; for a private server
	// its user is a superuser.
	URL string
	// BinDir holds the server's programs; empty for a server named by URL.
	BinDir string
	// DataDir is the data folder; empty for a server named by URL.
	DataDir string

	stopOnce sync.Once
	stopErr  error
	stop     func() error // nil for a server that is not ours
	hand     hand         // nil for a server that is not ours
}

// hand is what can be done to a private server beside stopping it for good.
type hand interface {
	kill() error
	restart(ctx context.Context) error
	pause() error
	resume() error
	awaitEnd(ctx context.Context) error
	pid() int
}

// ErrNotOurs is the error of Kill, Restart, Pause, Resume and AwaitEnd for a server that
// was named by its URL.
var ErrNotOurs = errors.New("the server is not a private one")

// Kill ends the postmaster and all its children as kill -9 would, and returns when
// none of them runs any more, so that Restart can follow. A server that is down
// already is let be. The error is ErrNotOurs, or says which process does not go.
func (s *Server) Kill() error {
	if s.hand == nil {
		return ErrNotOurs
	}
	return s.hand.kill()
}

// Restart starts a server that was killed, or that has ended by itself, with the
// same data, port and settings. It returns when recovery is over and the server
// accepts connections, or when ctx ends: the server may then still come up. The
// error is ErrNotOurs, that of a server that runs, or of one that does not start,
// with the end of its log; it may be tried again.
func (s *Server) Restart(ctx context.Context) error {
	if s.hand == nil {
		return ErrNotOurs
	}
	return s.hand.restart(ctx)
}

// Pause stops the postmaster and all its children in the middle of what they do:
// connections stay, and nothing is answered until Resume.
func (s *Server) Pause() error {
	if s.hand == nil {
		return ErrNotOurs
	}
	return s.hand.pause()
}

// Resume has a paused server go on.
func (s *Server) Resume() error {
	if s.hand == nil {
		return ErrNotOurs
	}
	return s.hand.resume()
}

// AwaitEnd returns nil when the postmaster runs no more, whether it was killed or has
// ended by itself, and ctx's error when ctx ends before.
func (s *Server) AwaitEnd(ctx context.Context) error {
	if s.hand == nil {
		return ErrNotOurs
	}
	return s.hand.awaitEnd(ctx)
}

// PID is the postmaster's process id, 0 for a server named by URL. It is another one
// after each Restart.
func (s *Server) PID() int {
	if s.hand == nil {
		return 0
	}
	return s.hand.pid()
}

// ErrUnavailable is wrapped by Start's error when this machine has no
// PostgreSQL and none could be had; the error's text says what was tried and
// what a person can do.
var ErrUnavailable = errors.New("no PostgreSQL could be had")

const (
	startTimeout   = 30 * time.Second
	connectTimeout = 5 * time.Second
)

// Start returns a server that accepts connections. It takes, in this order, the
// server that opts.URL names; installed binaries; Debian's package, installed
// when apt-get and the right to use it are there; binaries fetched by the
// embedded-postgres library. When none of these works the error wraps
// ErrUnavailable; other errors say why a server that was found did not start.
//
// A start first removes what killed runs of the same user left behind. Start is
// safe for concurrent use, within a process and between processes. ctx bounds
// the start only, not the life of the server.
func Start(ctx context.Context, opts Options) (*Server, error) {
	return start(ctx, opts, thisHost(opts))
}

func start(ctx context.Context, opts Options, h host) (*Server, error) {
	if opts.URL != "" {
		if err := ping(ctx, opts.URL); err != nil {
			return nil, fmt.Errorf("the server named by the database URL does not answer: %w", err)
		}
		return &Server{URL: opts.URL}, nil
	}
	if opts.ReplicaOf != nil && opts.ReplicaOf.DataDir == "" {
		return nil, errors.New("a replica can be had of a private server alone")
	}
	return startPrivate(ctx, opts, h)
}

// Stop stops a private server and removes its folder; it returns when both are
// done. For a server named by Options.URL it does nothing. Stopping twice, or
// from several goroutines, gives every caller the first one's result.
func (s *Server) Stop() error {
	s.stopOnce.Do(func() {
		if s.stop != nil {
			s.stopErr = s.stop()
		}
	})
	return s.stopErr
}

// StopOnSignal makes SIGINT and SIGTERM stop the server and then end the
// process by that same signal. It is for programs that do not handle these
// signals themselves; others call Stop on their own way out. The function it
// returns takes the handling back, and may be called more than once.
func (s *Server) StopOnSignal() (release func()) {
	signals := make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case sig := <-signals:
			_ = s.Stop() // the process ends here; nobody is left to be told
			endBySignal(sig)
		case <-done:
		}
	}()
	var once sync.Once
	return func() {
		once.Do(func() {
			signal.Stop(signals)
			close(done)
		})
	}
}

// ping connects once, and bounded: a mistyped host must not hang the caller.
// errConnString stands for pgx's own error, which may show a password.
var errConnString = errors.New("it is no connection string such as postgres://user:password@host:5432/database")

func ping(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		return errConnString
	}
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}
