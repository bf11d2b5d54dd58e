package fsmtest

import (
	"context"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-go/pawl/fsm"
)

// statements are those to send instead of others, by their first lines.
type statements map[string]string

const statementName = "-- name: "

// readStatements reads a file of statements; none for no file.
func readStatements(name string) (statements, error) {
	if name == "" {
		return nil, nil
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	set := statements{}
	for _, part := range strings.Split("\n"+string(content), "\n"+statementName)[1:] {
		text := statementName + part
		set[firstLine(text)] = text
	}
	return set, nil
}

func firstLine(sql string) string {
	line, _, _ := strings.Cut(sql, "\n")
	return strings.TrimSpace(line)
}

func (s statements) of(sql string) string {
	if other, ok := s[firstLine(sql)]; ok {
		return other
	}
	return sql
}

// on lets calls run on db with the statements replaced.
func (s statements) on(db fsm.DB) fsm.DB {
	if len(s) == 0 {
		return db
	}
	return replacing{db, s}
}

// replacing is a database that is sent other statements than the calls have.
type replacing struct {
	fsm.DB
	statements statements
}

func (r replacing) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return r.DB.Exec(ctx, r.statements.of(sql), args...)
}

func (r replacing) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return r.DB.Query(ctx, r.statements.of(sql), args...)
}

func (r replacing) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return r.DB.QueryRow(ctx, r.statements.of(sql), args...)
}
