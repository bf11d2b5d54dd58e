package runbook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
)

// section is one table of an inspection. Its query has the key as $1. The note says
// what can be done about its rows. A section of which record is set may have the
// record in place of the first one: an archive.
type section struct {
	title, note, sql string
	record           bool
}

// table is what a section's query found.
type table struct {
	section
	header []string
	rows   [][]cell
}

// inspection is the command that prints the sections of a kind, each with its rows
// or "none". The first section has the record itself, or an archive: without a row of
// them there is no such record.
func inspection(words []string) (Command, error) {
	lists := map[string][]section{"stuck": stuck, "inbox": inInbox}
	records := map[string][]section{
		"order": ofOrder, "command": ofCommand, "outbox": ofOutbox,
		"event": ofEvent, "delivery": ofDelivery, "case": ofCase, "letter": ofLetter, "attempt": ofAttempt, "refund": ofRefund,
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("%w: inspect what?", ErrUsage)
	}
	kind, keys := words[0], words[1:]
	sections, single := records[kind]
	list, several := lists[kind]
	switch {
	case !single && !several:
		return nil, fmt.Errorf("%w: there is no kind %q", ErrUsage, kind)
	case several && len(keys) > 0:
		return nil, fmt.Errorf("%w: inspect %s takes no key", ErrUsage, kind)
	case several:
		return func(ctx context.Context, pool *pgxpool.Pool, out io.Writer) error {
			return printAll(ctx, pool, out, list)
		}, nil
	case len(keys) != 1:
		return nil, fmt.Errorf("%w: inspect %s takes one key", ErrUsage, kind)
	}
	if err := isKey(kind, keys[0]); err != nil {
		return nil, err
	}
	return func(ctx context.Context, pool *pgxpool.Pool, out io.Writer) error {
		err := printAll(ctx, pool, out, sections, keys[0])
		if noKey(err) {
			return fmt.Errorf("%w: this cannot be the key of such a record", ErrUsage)
		}
		return err
	}, nil
}

// noKey reports that the key is no UUID, no number, or no text that PostgreSQL has:
// invalid_text_representation, numeric_value_out_of_range, character_not_in_repertoire.
// No query converts what is in a row, which could fail in the same way.
func noKey(err error) bool {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return false
	}
	return slices.Contains([]string{"22P02", "22003", "22021"}, refused.Code)
}

// nothing says what there is none of, where this section is the record itself.
func (s section) nothing() string {
	if s.title == "waiting" {
		return "no message of this row waits"
	}
	return s.title
}

// printAll reads all sections in one snapshot, and prints them.
func printAll(ctx context.Context, pool *pgxpool.Pool, out io.Writer, sections []section, args ...any) error {
	var tables []table
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(ctx, pool, snapshot, func(tx pgx.Tx) error {
		for _, s := range sections {
			header, rows, err := read(ctx, tx, s.sql, args)
			if err != nil {
				return fmt.Errorf("%s: %w", s.title, err)
			}
			tables = append(tables, table{s, header, rows})
		}
		return nil
	})
	if err != nil {
		return err
	}
	found := func(t table) bool { return t.record && len(t.rows) > 0 }
	if len(args) > 0 && len(tables[0].rows) == 0 && !slices.ContainsFunc(tables, found) {
		return fmt.Errorf("%s: %w", sections[0].nothing(), fsm.ErrNotFound)
	}
	for i, t := range tables {
		if i > 0 {
			_, _ = fmt.Fprintln(out) // the next line has the error
		}
		if err := t.print(out, (i == 0 || t.record) && len(t.rows) == 1); err != nil {
			return err
		}
	}
	return nil
}

// read returns the rows as PostgreSQL writes its values.
func read(ctx context.Context, tx pgx.Tx, sql string, args []any) (header []string, out [][]cell, err error) {
	rows, err := tx.Query(ctx, sql, append([]any{pgx.QueryResultFormats{pgx.TextFormatCode}}, args...)...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for _, f := range rows.FieldDescriptions() {
		header = append(header, f.Name)
	}
	for rows.Next() {
		row := make([]cell, len(header))
		for i, v := range rows.RawValues() {
			row[i] = cellOf(v, rows.FieldDescriptions()[i].DataTypeOID)
		}
		out = append(out, row)
	}
	return header, out, rows.Err()
}

// print prints rows under their header, or one row on its side, and then what it has
// of several lines.
func (t table) print(out io.Writer, sideways bool) error {
	if _, err := fmt.Fprintf(out, "== %s\n", t.title); err != nil {
		return err
	}
	if len(t.rows) == 0 {
		_, err := fmt.Fprintln(out, "none")
		return err
	}
	if t.note != "" {
		_, _ = fmt.Fprintf(out, "(%s)\n", t.note) // Flush has the error
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	if sideways {
		return t.printRecord(out, w)
	}
	_, _ = fmt.Fprintln(w, strings.Join(t.header, "\t")) // Flush has the error
	for _, row := range t.rows {
		lines := make([]string, len(row))
		for i, c := range row {
			lines[i] = c.line
		}
		_, _ = fmt.Fprintln(w, strings.Join(lines, "\t"))
	}
	return w.Flush()
}

// printRecord prints the only row on its side.
func (t table) printRecord(out io.Writer, w *tabwriter.Writer) error {
	row := t.rows[0]
	for i, name := range t.header {
		if row[i].block == "" {
			_, _ = fmt.Fprintf(w, "%s\t%s\n", name, row[i].line) // Flush has the error
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i, name := range t.header {
		if row[i].block == "" {
			continue
		}
		if _, err := fmt.Fprintf(out, "%s\n%s\n", name, row[i].block); err != nil {
			return err
		}
	}
	return nil
}
