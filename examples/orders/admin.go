package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/pawl-go/pawl/migrations"
)

// Limits of the operator's connections.
const (
	adminReadTimeout  = 5 * time.Second
	adminWriteTimeout = 30 * time.Second // a scrape asks the database
)

// admin is the operator's port, apart from the customers': it can still be asked while
// the service ends. Without an address it is nowhere.
type admin struct {
	listener net.Listener
	server   *http.Server
	done     sync.WaitGroup
}

func listenAdmin(ctx context.Context, addr string) (*admin, error) {
	if addr == "" {
		return &admin{}, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &admin{listener: listener}, nil
}

func (a *admin) addr() string {
	if a.listener == nil {
		return "ADMIN_ADDR"
	}
	return a.listener.Addr().String()
}

// serve serves health, metrics and the storm's button until close; nil is no button.
func (a *admin) serve(health, metrics http.Handler, storm *button, log *slog.Logger) {
	if a.listener == nil {
		return
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	if storm != nil {
		mux.Handle("POST /storm/{token}", storm)
	}
	mux.Handle("/", health)
	a.server = &http.Server{
		Handler: mux, ReadHeaderTimeout: adminReadTimeout, ReadTimeout: adminReadTimeout, WriteTimeout: adminWriteTimeout,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	log.Info("admin listening", "addr", a.addr())
	a.done.Go(func() { _ = a.server.Serve(a.listener) }) // it ends by close alone
}

func (a *admin) close() {
	switch {
	case a.server != nil:
		_ = a.server.Close() // nobody waits for an answer any more
	case a.listener != nil:
		_ = a.listener.Close()
	}
	a.done.Wait()
}

// errPending: a program of a newer version has yet to migrate the database.
var errPending = errors.New("migrations are pending")

// migrated returns what says whether the database has all the migrations that this
// program knows; later ones do no harm.
func migrated(pool *pgxpool.Pool) func(context.Context) error {
	return func(ctx context.Context) (err error) {
		db := stdlib.OpenDBFromPool(pool)
		defer func() { err = errors.Join(err, db.Close()) }()
		provider, err := goose.NewProvider(goose.DialectPostgres, db, migrations.FS, goose.WithDisableGlobalRegistry(true))
		if err != nil {
			return err
		}
		pending, err := provider.HasPending(ctx)
		if err == nil && pending {
			err = errPending
		}
		return err
	}
}
