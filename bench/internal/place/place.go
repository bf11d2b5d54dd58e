// Package place makes databases for measurements, near and at a distance, on a
// server that keeps what it commits.
package place

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/pawl-go/pawl/bench/internal/delay"
	"github.com/pawl-go/pawl/internal/localpg"
	"github.com/pawl-go/pawl/migrations"
)

// Settings are those of a private server: enough room that no checkpoint falls
// into a measurement by chance, and connections for all contenders.
var Settings = [][2]string{
	{"shared_buffers", "2GB"},
	{"max_wal_size", "16GB"},
	{"checkpoint_timeout", "30min"},
	{"max_connections", "400"},
}

// Server starts a private server, with more settings than its own, or takes the one
// of the URL as it is.
func Server(ctx context.Context, url string, more [][2]string, log io.Writer) (*localpg.Server, error) {
	server, err := localpg.Start(ctx, localpg.Options{URL: url, Settings: slices.Concat(Settings, more), Log: log})
	if err != nil {
		return nil, err
	}
	if err := durable(ctx, server.URL); err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return server, nil
}

// durable refuses a server that may lose what it has committed: its figures would
// be others.
func durable(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		var value string
		if err := conn.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value); err != nil {
			return err
		}
		if value != "on" {
			return fmt.Errorf("%s is %s: this server is not durable", name, value)
		}
	}
	return nil
}

// Place is a migrated database without rows. Pool has a few connections to it for
// all that is not measured.
type Place struct {
	URL  string
	Pool *pgxpool.Pool

	admin string
	name  string
}

// New makes a database. The caller drops it.
func New(ctx context.Context, server string) (*Place, error) {
	p := &Place{admin: server, name: "pawl_bench_" + strings.ToLower(rand.Text())}
	if err := p.execute(ctx, "CREATE DATABASE "+p.name+" TEMPLATE template0"); err != nil {
		return nil, err
	}
	if err := p.open(ctx); err != nil {
		return nil, errors.Join(err, p.Drop(ctx))
	}
	return p, nil
}

func (p *Place) open(ctx context.Context) error {
	config, err := pgxpool.ParseConfig(p.admin)
	if err != nil {
		return err
	}
	config.ConnConfig.Database, config.MaxConns = p.name, 4
	if p.URL, err = with(p.admin, func(u *url.URL) { u.Path = "/" + p.name }); err != nil {
		return err
	}
	if p.Pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, stdlib.OpenDBFromPool(p.Pool), migrations.FS, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

// Drop drops the database, also when ctx has ended.
func (p *Place) Drop(ctx context.Context) error {
	if p.Pool != nil {
		p.Pool.Close()
	}
	return p.execute(context.WithoutCancel(ctx), "DROP DATABASE IF EXISTS "+p.name+" WITH (FORCE)")
}

func (p *Place) execute(ctx context.Context, sql string) error {
	conn, err := pgx.Connect(ctx, p.admin)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, sql)
	return err
}

// Away is the database's URL where a round trip takes so much longer. The caller
// calls the function when all connections are closed.
func (p *Place) Away(roundTrip time.Duration) (string, func() error, error) {
	if roundTrip == 0 {
		return p.URL, func() error { return nil }, nil
	}
	config, err := pgx.ParseConfig(p.URL)
	if err != nil {
		return "", nil, err
	}
	proxy, err := delay.New(net.JoinHostPort(config.Host, fmt.Sprint(config.Port)), roundTrip)
	if err != nil {
		return "", nil, err
	}
	away, err := with(p.URL, func(u *url.URL) { u.Host = proxy.Addr() })
	if err != nil {
		return "", nil, errors.Join(err, proxy.Close())
	}
	return away, proxy.Close, nil
}

// with changes a URL. Keyword strings are refused.
func with(text string, change func(*url.URL)) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" {
		return "", errors.New("the server must be given as a postgres:// URL")
	}
	change(u)
	return u.String(), nil
}
