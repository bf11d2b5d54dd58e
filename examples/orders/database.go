package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/internal/localpg"
	"github.com/pawl-go/pawl/migrations"
)

// databaseOptions says which database openDatabase opens, and how.
type databaseOptions struct {
	// URL names the database; when it is empty a private server is started.
	URL string
	// MaxConns is how many connections the pool may open; 0 means 16.
	MaxConns int32
	// Log is told what takes long, a line each; nil means silence.
	Log io.Writer
}

const (
	defaultMaxConns = 16
	// A transaction that was left open must not hold row locks for ever, and
	// nothing here waits longer than a provider waits for its answer.
	lockTimeout        = "5s"
	idleInTransaction  = "30s"
	maxConnIdleTime    = 5 * time.Minute
	healthCheckPeriod  = 30 * time.Second
	connectTimeout     = 5 * time.Second
	migrationLockTries = 60 // seconds, at a try a second
)

// openDatabase returns a pool on a migrated database. stop closes the pool and
// then stops a private server with all that was in it; it may be called once.
// With an error nothing is left behind and stop is nil.
//
// Several processes may open one database at once: an advisory lock lets one of
// them migrate and the others wait for it.
func openDatabase(ctx context.Context, opts databaseOptions) (pool *pgxpool.Pool, stop func(), err error) {
	log := opts.Log
	if log == nil {
		log = io.Discard
	}
	if opts.URL == "" {
		_, _ = fmt.Fprintln(log, "no DATABASE_URL: starting a private PostgreSQL, which goes with this program")
	}
	server, err := localpg.Start(ctx, localpg.Options{URL: opts.URL, Log: log})
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, server.Stop())
		}
	}()
	config, err := pgxpool.ParseConfig(server.URL)
	if err != nil {
		return nil, nil, errDatabaseURL
	}
	limit(config, opts.MaxConns)
	if err := migrate(ctx, config.ConnConfig); err != nil {
		return nil, nil, fmt.Errorf("migrate: %w", err)
	}
	// The pool lives until stop, not until the context of the start ends.
	pool, err = pgxpool.NewWithConfig(context.WithoutCancel(ctx), config)
	if err != nil {
		return nil, nil, err
	}
	stop = func() {
		pool.Close()
		if err := server.Stop(); err != nil {
			_, _ = fmt.Fprintln(log, "stop PostgreSQL:", err)
		}
	}
	return pool, stop, nil
}

// errDatabaseURL stands for pgx's own error, which may show the password.
var errDatabaseURL = errors.New("DATABASE_URL is no connection string such as postgres://user:password@host:5432/database")

// limit bounds the pool and what its sessions may wait for; of the latter, what
// the URL says goes first.
func limit(config *pgxpool.Config, maxConns int32) {
	config.MaxConns = defaultMaxConns
	if maxConns > 0 {
		config.MaxConns = maxConns
	}
	config.MaxConnIdleTime = maxConnIdleTime
	config.HealthCheckPeriod = healthCheckPeriod
	fsm.WatchSyncWaits(&config.ConnConfig.Config) // on a server with synchronous standbys; nothing elsewhere
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	for _, setting := range [][2]string{
		{"application_name", "pawl-orders"},
		{"lock_timeout", lockTimeout},
		{"idle_in_transaction_session_timeout", idleInTransaction},
	} {
		if _, given := config.ConnConfig.RuntimeParams[setting[0]]; !given {
			config.ConnConfig.RuntimeParams[setting[0]] = setting[1]
		}
	}
}

// migrate brings the schema up to date; when it is, nothing is done.
func migrate(ctx context.Context, config *pgx.ConnConfig) (err error) {
	config = config.Copy()
	delete(config.RuntimeParams, "lock_timeout") // a migration may have to wait
	delete(config.RuntimeParams, "idle_in_transaction_session_timeout")
	db := stdlib.OpenDB(*config)
	defer func() { err = errors.Join(err, db.Close()) }()
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, migrationLockTries))
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, migrations.FS,
		goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}
