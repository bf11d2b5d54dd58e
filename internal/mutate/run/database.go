package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-go/pawl/internal/mutate"
)

// reader is a session that asks PostgreSQL whether it takes a text at all. What
// it makes for that is never committed.
type reader struct {
	conn *pgx.Conn
	// up are the migrations, in order, without their way down.
	names, up []string
}

// newReader connects, and makes the tables in a transaction that stays open.
func newReader(ctx context.Context, url, root string) (*reader, error) {
	r := &reader{}
	files, err := fs.Glob(os.DirFS(root), "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		up, _, _ := strings.Cut(string(content), "-- +goose Down")
		r.names, r.up = append(r.names, filepath.Base(file)), append(r.up, up)
	}
	if r.conn, err = pgx.Connect(ctx, url); err != nil {
		return nil, err
	}
	return r, r.migrate(ctx, "", "")
}

// migrate begins a transaction and makes the tables in a schema of its own, with
// one migration as the text has it.
func (r *reader) migrate(ctx context.Context, name, text string) error {
	// A name that another reader has would be waited for.
	schema := "pawl_mutate_" + strings.ToLower(rand.Text())
	all := "BEGIN; CREATE SCHEMA " + schema + "; SET LOCAL search_path = " + schema + "; SET LOCAL client_min_messages = error;\n"
	for i, up := range r.up {
		if r.names[i] == name {
			up, _, _ = strings.Cut(text, "-- +goose Down")
		}
		all += up + "\n;\n"
	}
	return r.send(ctx, all+"SAVEPOINT made;")
}

func (r *reader) send(ctx context.Context, sql string) error {
	_, err := r.conn.PgConn().Exec(ctx, sql).ReadAll()
	return err
}

// refuses reports whether PostgreSQL does not take a mutant, and why.
func (r *reader) refuses(ctx context.Context, m *mutate.Mutant) (string, error) {
	var err error
	if m.Source.Migration {
		if err = r.send(ctx, "ROLLBACK"); err != nil {
			return "", err
		}
		err = r.migrate(ctx, m.Source.Name, m.SQL())
		if e := r.send(ctx, "ROLLBACK"); e != nil {
			return "", e
		}
		if e := r.migrate(ctx, "", ""); e != nil {
			return "", e
		}
	} else {
		_, err = r.conn.PgConn().Prepare(ctx, "", m.SQL(), nil)
		if e := r.send(ctx, "ROLLBACK TO made"); e != nil {
			return "", e
		}
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Message, nil
	}
	return "", err
}

func (r *reader) close(ctx context.Context) { _ = r.conn.Close(context.WithoutCancel(ctx)) }
