package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// dropTimeout bounds what the demo does after it was told to stop.
const dropTimeout = 10 * time.Second

// openDemoDatabase opens an empty database: a private server's, or a new one on
// the server that serverURL names, which stop drops. What is in that server's
// other databases is not touched.
func openDemoDatabase(ctx context.Context, serverURL string) (*pgxpool.Pool, func(), error) {
	if serverURL == "" {
		return openDatabase(ctx, databaseOptions{MaxConns: demoConns, Log: os.Stderr})
	}
	name := fmt.Sprintf("pawl_demo_%08x", rand.Uint32())
	if err := onServer(ctx, serverURL, "CREATE DATABASE "+name); err != nil {
		return nil, nil, fmt.Errorf("the demo needs a database of its own on the server of DATABASE_URL: %w", err)
	}
	drop := func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTimeout)
		defer cancel()
		return onServer(ctx, serverURL, "DROP DATABASE "+name+" WITH (FORCE)")
	}
	its, err := withDatabase(serverURL, name)
	if err != nil {
		return nil, nil, errors.Join(err, drop())
	}
	pool, stop, err := openDatabase(ctx, databaseOptions{URL: its, MaxConns: demoConns, Log: os.Stderr})
	if err != nil {
		return nil, nil, errors.Join(err, drop())
	}
	return pool, func() {
		stop()
		if err := drop(); err != nil {
			_, _ = fmt.Fprintf(os.Stderr, "drop database %s: %v\n", name, err)
		}
	}, nil
}

func onServer(ctx context.Context, serverURL, sql string) (err error) {
	conn, err := pgx.Connect(ctx, serverURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	_, err = conn.Exec(ctx, sql)
	return err
}

// withDatabase returns a connection URL, or keyword string, for another database
// of the same server.
func withDatabase(serverURL, name string) (string, error) {
	if !strings.HasPrefix(serverURL, "postgres://") && !strings.HasPrefix(serverURL, "postgresql://") {
		return serverURL + " dbname=" + name, nil // of keywords given twice the last counts
	}
	u, err := url.Parse(serverURL)
	if err != nil {
		return "", errors.New("DATABASE_URL is no URL") // url's own error would show the password
	}
	u.Path = "/" + name
	q := u.Query()
	q.Del("dbname")
	q.Del("database")
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20") // a plus is a plus to PostgreSQL
	return u.String(), nil
}
