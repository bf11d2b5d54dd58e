package fsmtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	urlVariable        = "PAWL_TEST_DATABASE_URL"
	skipVariable       = "PAWL_TEST_SKIP"
	statementsVariable = "PAWL_TEST_STATEMENTS"
	roundsVariable     = "PAWL_TEST_ROUNDS"
	afterVariable      = "PAWL_TEST_AFTER"
	roleVariable       = "PAWL_TEST_ROLE"

	maxConns = 10
	// patience bounds every wait. It is there to fail a test that would hang, and
	// is never waited out by one that passes.
	patience = 30 * time.Second
)

// errNoDatabase says that nobody has named a server.
var errNoDatabase = errors.New(urlVariable + " is not set: name a PostgreSQL server whose user may create databases")

// database is the one of this process, made by the first test that needs it.
var database struct {
	once sync.Once
	e    *engine
	err  error
	drop func() error
}

// Main runs a package's tests and drops their database at the end. A generated
// TestMain calls it.
func Main(m *testing.M) {
	code := 0
	if os.Getenv(roundsVariable) == "" {
		code = m.Run()
	} else {
		code = rounds(m, os.Stdin, os.Stdout)
	}
	if database.drop != nil {
		if err := database.drop(); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, "fsmtest:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// open returns the engine on the machine's database. Without a database it skips
// the test, and fails it in CI.
func open(t *testing.T, m *Machine) *engine {
	t.Helper()
	database.once.Do(func() { database.e, database.err = create(m) })
	switch {
	case database.err == nil:
		return database.e
	case !errors.Is(database.err, errNoDatabase):
		t.Fatalf("fsmtest: %v", database.err)
	case os.Getenv("CI") != "" && os.Getenv(skipVariable) == "":
		t.Fatalf("fsmtest: %v; set %s=1 to go without these tests", database.err, skipVariable)
	default:
		t.Skipf("fsmtest: %v", database.err)
	}
	return nil
}

// create makes the database and migrates it.
func create(m *Machine) (*engine, error) {
	admin := os.Getenv(urlVariable)
	if admin == "" {
		return nil, errNoDatabase
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	name := "pawl_m_" + strings.ToLower(rand.Text())
	if err := execute(ctx, admin, "CREATE DATABASE "+name); err != nil {
		return nil, err
	}
	database.drop = func() error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if database.e != nil {
			database.e.pool.Close()
			if database.e.callers != nil {
				database.e.callers.Close()
			}
		}
		return execute(ctx, admin, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	}
	own, err := beside(admin, name)
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, m, own); err != nil {
		return nil, err
	}
	if err := after(ctx, os.Getenv(afterVariable), own); err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(own)
	if err != nil {
		return nil, err
	}
	config.MaxConns = maxConns
	config.ConnConfig.RuntimeParams["timezone"] = "UTC"
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, err
	}
	statements, err := readStatements(os.Getenv(statementsVariable))
	if err != nil {
		return nil, err
	}
	e := newEngine(m, pool, statements)
	e.role = os.Getenv(roleVariable)
	if e.callers, err = callers(config, e.role); err != nil {
		return nil, err
	}
	if e.values, err = readValues(m); err != nil {
		return nil, err
	}
	if err := e.refused(ctx); err != nil {
		return nil, err
	}
	e.settle(ctx)
	return e, nil
}

func migrate(ctx context.Context, m *Machine, url string) error {
	conn, err := connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	before, err := os.ReadFile(m.Before)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if _, err := conn.PgConn().Exec(ctx, string(before)).ReadAll(); err != nil {
		return fmt.Errorf("%s: %w", m.Before, err)
	}
	if err := m.Migrate(ctx, url); err != nil {
		return fmt.Errorf("migrate: %w (what the migrations expect to be there is for the file %s to make)", err, m.Before)
	}
	return loosen(ctx, conn, m)
}

// errURL stands for the errors of pgx and of net/url, which may show a password.
var errURL = errors.New(urlVariable + " is no connection string such as postgres://user:password@host:5432/database")

func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errURL
	}
	return pgx.ConnectConfig(ctx, config)
}

func execute(ctx context.Context, url, sql string) error {
	conn, err := connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, sql)
	return err
}

// beside is the URL, or the keywords, of another database of the same server.
func beside(admin, name string) (string, error) {
	if !strings.HasPrefix(admin, "postgres://") && !strings.HasPrefix(admin, "postgresql://") {
		return admin + " dbname=" + name, nil // the last one counts
	}
	u, err := url.Parse(admin)
	if err != nil {
		return "", errURL // the URL's own error would show its password
	}
	u.Path = "/" + name
	return u.String(), nil
}
