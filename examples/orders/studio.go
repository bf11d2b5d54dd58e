package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/examples/orders/shop"
)

const (
	// studioStarts is how long the studio may take to read the definitions.
	studioStarts = time.Minute
	// studioEnds is how long it may take to end before it is killed.
	studioEnds = 5 * time.Second
	// rolesFile says who may do what, and is written by fsmgen generate.
	rolesFile = "gen/roles.sql"
)

// studio is fsmgen studio, a process beside the service. The service needs nothing of it,
// and goes on without. A nil one is none.
type studio struct {
	cmd   *exec.Cmd
	input io.Closer // its end ends the studio, also when this process is killed
	// address has the address that it printed, or is closed without one.
	address chan string
	ended   chan struct{}
	said    lastLine
}

// openStudio starts the studio of the settings, and returns nil when there is none: none
// is asked for, or it could not be started, which the log is told. action is the address
// of the storm's button, empty for none.
func openStudio(ctx context.Context, settings shop.Settings, pool *pgxpool.Pool, action string, log *slog.Logger) *studio {
	if settings.Fsmgen == "" || settings.StudioAddr == "" {
		return nil
	}
	database := settings.StudioDatabaseURL
	switch {
	case database != "":
	case settings.DatabaseURL != "":
		database = settings.DatabaseURL
	default:
		var err error
		if database, err = readerLogin(ctx, pool); err != nil {
			log.Warn("the studio shows no rows: no login that may only read could be made", "error", err)
		}
	}
	s, err := startStudio(ctx, settings.Fsmgen, settings.StudioAddr, database, action, log)
	if err != nil {
		log.Warn("the studio could not be started; the service runs without", "error", err)
		return nil
	}
	return s
}

// startStudio starts it; it ends by close. After the end of ctx its own is no news.
func startStudio(ctx context.Context, program, addr, database, action string, log *slog.Logger) (*studio, error) {
	args := []string{"studio", "--stdin", "--addr", addr}
	if action != "" {
		args = append(args, "--action", "Storm|风暴="+action)
	}
	// #nosec G204 -- whoever runs the service says which program
	s := &studio{cmd: exec.Command(program, args...), address: make(chan string, 1), ended: make(chan struct{})}
	s.cmd.Env = append(withoutSecrets(os.Environ()), "STUDIO_DATABASE_URL="+database) // no argument: it may have a password
	s.cmd.Stderr = &s.said
	s.cmd.WaitDelay = studioEnds
	var err error
	if s.input, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.ended)
		lines := bufio.NewReader(output)
		line, err := lines.ReadString('\n')
		opened := err == nil
		if opened {
			s.address <- strings.TrimSpace(line)
		}
		_, _ = io.Copy(io.Discard, lines)
		err = s.cmd.Wait()
		close(s.address)
		if ctx.Err() != nil {
			return
		}
		what := "the studio has ended; the service runs on"
		if !opened {
			what = "the studio could not be started; the service runs without: is another one at its port? STUDIO_ADDR is where"
		}
		log.Warn(what, "addr", addr, "error", errors.Join(err, s.said.err()))
	}()
	return s, nil
}

// opened returns the address of the studio, and false when it has none or ctx ends.
func (s *studio) opened(ctx context.Context) (address string, ok bool) {
	if s == nil {
		return "", false
	}
	ctx, cancel := context.WithTimeout(ctx, studioStarts)
	defer cancel()
	select {
	case address, ok = <-s.address:
		return address, ok
	case <-ctx.Done():
		return "", false
	}
}

// close ends the studio, and returns when it is gone.
func (s *studio) close() {
	if s == nil {
		return
	}
	_ = s.input.Close() // it has ended when this fails
	timer := time.NewTimer(studioEnds)
	defer timer.Stop()
	select {
	case <-s.ended:
		return
	case <-timer.C:
	}
	_ = s.cmd.Process.Kill() // as above
	<-s.ended
}

// withoutSecrets is an environment without the settings that are the service's own business.
func withoutSecrets(env []string) []string {
	return slices.DeleteFunc(env, func(setting string) bool {
		name, _, _ := strings.Cut(setting, "=")
		return strings.HasPrefix(name, "WEBHOOK_") || slices.Contains([]string{"DATABASE_URL", "REDIS_URL", "PROVIDER_TOKEN", "STUDIO_DATABASE_URL"}, name)
	})
}

// lastLine keeps the last line that was written, and passes all on.
type lastLine struct {
	mu   sync.Mutex
	last string
}

// Write writes to standard error, too.
func (l *lastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text := strings.TrimSpace(string(p)); text != "" {
		l.last = text[strings.LastIndexByte(text, '\n')+1:]
	}
	return os.Stderr.Write(p)
}

// err is the last line as an error, nil for none.
func (l *lastLine) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == "" {
		return nil
	}
	return errors.New(l.last)
}

// readerLogin makes a login of the role reader in the private database of this run, and
// returns its URL.
func readerLogin(ctx context.Context, pool *pgxpool.Pool) (string, error) {
	roles, err := os.ReadFile(rolesFile)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(pool.Config().ConnString())
	if err != nil {
		return "", errDatabaseURL
	}
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Release()
	password := rand.Text() // letters and digits
	for _, sql := range []string{string(roles), fmt.Sprintf("CREATE ROLE orders_studio LOGIN PASSWORD '%s' IN ROLE pawl_reader", password)} {
		if _, err := conn.Conn().PgConn().Exec(ctx, sql).ReadAll(); err != nil {
			return "", err
		}
	}
	u.User = url.UserPassword("orders_studio", password)
	return u.String(), nil
}
