package runbook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
)

// section is one table of an inspection. Its query has the key as $1. The note says
// what can be done about its rows.
type section struct{ title, note, sql string }

// inspection is the command that prints the sections of a kind, each with its rows
// or "none". The first section has the record itself: without a row of it there is no
// such record.
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
	return func(ctx context.Context, pool *pgxpool.Pool, out io.Writer) error {
		err := printAll(ctx, pool, out, sections, keys[0])
		var refused *pgconn.PgError
		if errors.As(err, &refused) && strings.HasPrefix(refused.Code, "22") { // no UUID, no number
			return fmt.Errorf("%w: this cannot be the key of such a record", ErrUsage)
		}
		return err
	}, nil
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
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, pool, snapshot, func(tx pgx.Tx) error {
		for i, s := range sections {
			header, rows, err := read(ctx, tx, s.sql, args)
			if err != nil {
				return fmt.Errorf("%s: %w", s.title, err)
			}
			if i == 0 && len(args) > 0 && len(rows) == 0 {
				return fmt.Errorf("%s: %w", s.nothing(), fsm.ErrNotFound)
			}
			if i > 0 {
				_, _ = fmt.Fprintln(out) // the next line has the error
			}
			if err := printSection(out, s, header, rows, i == 0 && len(rows) == 1); err != nil {
				return err
			}
		}
		return nil
	})
}

// read returns the rows as PostgreSQL writes its values.
func read(ctx context.Context, tx pgx.Tx, sql string, args []any) (header []string, out [][]string, err error) {
	rows, err := tx.Query(ctx, sql, append([]any{pgx.QueryResultFormats{pgx.TextFormatCode}}, args...)...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for _, f := range rows.FieldDescriptions() {
		header = append(header, f.Name)
	}
	for rows.Next() {
		row := make([]string, len(header))
		for i, v := range rows.RawValues() {
			row[i] = "-"
			if v != nil {
				row[i] = shown(string(v))
			}
		}
		out = append(out, row)
	}
	return header, out, rows.Err()
}

// shown is a value that cannot control a terminal or break a line.
func shown(v string) string {
	if v == "" || strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(v)
	}
	return v
}

// printSection prints rows under their header, or one row on its side.
func printSection(out io.Writer, s section, header []string, rows [][]string, sideways bool) error {
	if _, err := fmt.Fprintf(out, "== %s\n", s.title); err != nil {
		return err
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(out, "none")
		return err
	}
	if s.note != "" {
		_, _ = fmt.Fprintf(out, "(%s)\n", s.note) // Flush has the error
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	if sideways {
		for i, name := range header {
			_, _ = fmt.Fprintf(w, "%s\t%s\n", name, rows[0][i]) // Flush has the error
		}
		return w.Flush()
	}
	for _, row := range append([][]string{header}, rows...) {
		_, _ = fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}
