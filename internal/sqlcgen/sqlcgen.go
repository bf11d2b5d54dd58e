// Package sqlcgen turns migrations and queries into the Go of gen/db by
// running sqlc, which is linked in: nothing needs to be installed. It also
// lets sqlc look at single fragments of definitions, so that a mistake that
// only sqlc sees can be told at its place.
//
// sqlc's own entry point ends the process when it finds a mistake, so it runs
// in a child process of the same program (see init).
package sqlcgen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/sqlc-dev/sqlc/pkg/cli"
)

// childMark in the environment makes the program be sqlc and nothing else.
const childMark = "FSMGEN_BE_SQLC"

func init() {
	if os.Getenv(childMark) == "1" {
		os.Exit(cli.Run(os.Args[1:]))
	}
}

// File is a named text.
type File struct {
	Name    string // a base name such as "order.sql"
	Content []byte
}

// Input is what one run works from.
type Input struct {
	Migrations, Queries []File // the migrations in the order in which they run
	// Probes are single statements that sqlc checks and makes nothing of.
	Probes []string
}

// Issue is one mistake that sqlc reports.
type Issue struct {
	// Folder is "migrations", "queries" or "probes", empty when sqlc named no file.
	Folder, File string
	// Probe is the number of the probe, -1 when it is none.
	Probe     int
	Line, Col int
	Message   string
}

// Config is the sqlc.yaml that makes gen/db; fsmgen init writes it, so that
// sqlc run by hand makes the same.
const Config = `version: "2"
sql:
  - engine: postgresql
    schema: migrations
    queries: queries
    gen:
      go:
        package: db
        out: gen/db
        sql_package: pgx/v5
        query_parameter_limit: 0
        emit_pointers_for_null_types: true
        overrides:
` + overrides

const overrides = `          - {db_type: uuid, go_type: string}
          - {db_type: uuid, nullable: true, go_type: {type: string, pointer: true}}
          - {db_type: timestamptz, go_type: {import: time, type: Time}}
          - {db_type: timestamptz, nullable: true, go_type: {import: time, type: Time, pointer: true}}
          - {db_type: pg_catalog.timestamptz, go_type: {import: time, type: Time}}
          - {db_type: pg_catalog.timestamptz, nullable: true, go_type: {import: time, type: Time, pointer: true}}
`

const probeConfig = `  - engine: postgresql
    schema: migrations
    queries: probes
    gen:
      go:
        package: probes
        out: probed
        sql_package: pgx/v5
`

// Generate runs sqlc and returns the files of gen/db, sorted by name, or the
// issues it found. An error means that sqlc could not be run at all.
func Generate(ctx context.Context, in Input) ([]File, []Issue, error) {
	var files []File
	issues, err := run(ctx, in, "", func(dir string) (err error) {
		files, err = read(filepath.Join(dir, "gen", "db"))
		return err
	})
	return files, issues, err
}

// Analyse is Generate, and returns the statements too, in the order of sqlc.
func Analyse(ctx context.Context, in Input) ([]File, []Statement, []Issue, error) {
	var files []File
	var statements []Statement
	issues, err := run(ctx, in, analysisConfig, func(dir string) (err error) {
		if statements, err = readStatements(dir); err != nil {
			return err
		}
		files, err = read(filepath.Join(dir, "gen", "db"))
		return err
	})
	return files, statements, issues, err
}

// run runs sqlc in a folder of its own, with more in its configuration, and has
// done read what it made there, unless it found issues.
func run(ctx context.Context, in Input, more string, done func(dir string) error) ([]Issue, error) {
	dir, err := os.MkdirTemp("", "fsmgen-sqlc-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a left-over temporary folder harms nobody
	if err := write(dir, in, more); err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "generate", "--no-remote", "-f", filepath.Join(dir, "sqlc.yaml"))
	cmd.Env = append(append(os.Environ(), childEnv...), childMark+"=1", "SQLCCACHE="+filepath.Join(dir, "cache"))
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if issues := parse(out.String()); errors.As(err, &exit) && len(issues) > 0 {
			return issues, nil
		}
		return nil, fmt.Errorf("sqlc: %w: %s", err, strings.TrimSpace(out.String()))
	}
	return nil, done(dir)
}

func write(dir string, in Input, more string) error {
	config := Config + more
	probes := make([]File, len(in.Probes))
	for i, p := range in.Probes {
		probes[i] = File{fmt.Sprintf("p%d.sql", i), fmt.Appendf(nil, "-- name: Probe%d :exec\n%s;\n", i, p)}
	}
	if len(probes) > 0 {
		config += probeConfig
	}
	migrations := make([]File, len(in.Migrations)) // sqlc reads them in the order of their names
	for i, m := range in.Migrations {
		migrations[i] = File{fmt.Sprintf("%05d-%s", i, m.Name), m.Content}
	}
	folders := []struct {
		name  string
		files []File
	}{{"migrations", migrations}, {"queries", in.Queries}, {"probes", probes}, {".", []File{{"sqlc.yaml", []byte(config)}}}}
	for _, f := range folders {
		if err := os.MkdirAll(filepath.Join(dir, f.name), 0o755); err != nil {
			return err
		}
		for _, file := range f.files {
			if err := os.WriteFile(filepath.Join(dir, f.name, file.Name), file.Content, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func read(dir string) ([]File, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, File{e.Name(), content})
	}
	sort.Slice(files, func(i, j int) bool { return files[i].Name < files[j].Name })
	return files, nil
}

var issueLine = regexp.MustCompile(`^(?:.*/)?(migrations|queries|probes)/([^/:]+):(\d+):(\d+): (.*)$`)

// parse reads what sqlc printed.
func parse(out string) []Issue {
	var issues []Issue
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "# package ") {
			continue
		}
		m := issueLine.FindStringSubmatch(line)
		if m == nil {
			issues = append(issues, Issue{Probe: -1, Message: line})
			continue
		}
		issue := Issue{Folder: m[1], File: m[2], Probe: -1, Message: m[5]}
		issue.Line, _ = strconv.Atoi(m[3]) // digits by the pattern
		issue.Col, _ = strconv.Atoi(m[4])
		if m[1] == "migrations" {
			_, issue.File, _ = strings.Cut(m[2], "-")
		}
		if m[1] == "probes" {
			if n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(m[2], "p"), ".sql")); err == nil {
				issue.Probe = n
			}
		}
		issues = append(issues, issue)
	}
	return issues
}
