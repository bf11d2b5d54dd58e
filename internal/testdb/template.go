package testdb

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// templateLock is the key of the advisory lock under which templates are made:
// the first eight bytes of "pawl_tpl". Processes that share a server make each
// template once.
const templateLock = 0x7061776c5f74706c

// templateFormat goes into a template's name. It changes when this package makes
// templates in another way, so that an old one on a lasting server is not taken.
const templateFormat = "1"

// ensureTemplate returns the name of a database that these very migrations were
// applied to. Templates of earlier migrations stay on a lasting server, for
// branches that still use them.
func ensureTemplate(ctx context.Context, conn *pgx.Conn, admin string, migrations fs.FS) (string, error) {
	digest, err := digestOf(migrations)
	if err != nil {
		return "", err
	}
	name := "pawl_tpl_" + digest
	if ready, err := exists(ctx, conn, name); err != nil || ready {
		return name, err
	}
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(templateLock)); err != nil {
		return "", err
	}
	// The lock goes with the connection, which lives for one database.
	if ready, err := exists(ctx, conn, name); err != nil || ready {
		return name, err
	}
	if err := makeTemplate(ctx, conn, admin, name, migrations); err != nil {
		return "", fmt.Errorf("make the template %s: %w", name, err)
	}
	return name, nil
}

// makeTemplate migrates under another name and renames: a template that exists
// is complete, whatever happened to the process that began it.
func makeTemplate(ctx context.Context, conn *pgx.Conn, admin, name string, migrations fs.FS) error {
	draft := name + "_new"
	for _, statement := range []string{
		"DROP DATABASE IF EXISTS " + draft + " WITH (FORCE)",
		"CREATE DATABASE " + draft + " TEMPLATE template0",
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	draftURL, err := withDatabase(admin, draft)
	if err != nil {
		return err
	}
	if err := migrate(ctx, draftURL, migrations); err != nil {
		return err
	}
	for _, statement := range []string{
		// A copy fails while somebody is connected to the original.
		"ALTER DATABASE " + draft + " ALLOW_CONNECTIONS false",
		"ALTER DATABASE " + draft + " RENAME TO " + name,
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func migrate(ctx context.Context, connString string, migrations fs.FS) error {
	config, err := pgx.ParseConfig(connString)
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*config)
	defer func() { _ = db.Close() }()
	// Migrations are what fsys holds, not what some package registered with goose.
	provider, err := goose.NewProvider(goose.DialectPostgres, db, migrations, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		// goose's text names the version, not the file.
		var partial *goose.PartialError
		if errors.As(err, &partial) && partial.Failed != nil && partial.Failed.Source != nil {
			return fmt.Errorf("%s: %w", partial.Failed.Source.Path, err)
		}
		return err
	}
	return db.Close()
}

func exists(ctx context.Context, conn *pgx.Conn, name string) (bool, error) {
	var found bool
	err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&found)
	return found, err
}

// digestOf identifies migrations by the names and contents of the files that
// goose reads. Lengths are part of it, so that no two lists of files look alike.
func digestOf(migrations fs.FS) (string, error) {
	names, err := fs.Glob(migrations, "*.sql")
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	add := func(b []byte) {
		_, _ = sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b)))) // a hash never fails to write
		_, _ = sum.Write(b)
	}
	add([]byte(templateFormat))
	for _, name := range names { // fs.Glob sorts by name
		content, err := fs.ReadFile(migrations, name)
		if err != nil {
			return "", err
		}
		add([]byte(name))
		add(content)
	}
	return hex.EncodeToString(sum.Sum(nil)[:12]), nil
}
