package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/pawl-go/pawl/internal/audit"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/duration"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// databaseVariable names the database where no flag does.
const databaseVariable = "DATABASE_URL"

// auditOptions are the flags of audit.
type auditOptions struct {
	database           string
	overdue, outboxAge time.Duration
	limit              int
	progress           bool
}

func auditFlags(k *call) {
	f, flags := &k.audit, k.flags
	flags.StringVar(&f.database, "database", "", "the `URL` of the database (default: the environment variable "+databaseVariable+")")
	f.overdue, f.outboxAge = time.Hour, time.Hour
	flags.Var((*span)(&f.overdue), "overdue", "the `TIME` after its due time from which a row is late, such as 30m or 1d12h")
	flags.Var((*span)(&f.outboxAge), "outbox-age", "the `TIME` that an outbox row may wait to be taken")
	flags.IntVar(&f.limit, "limit", 100, "how many findings of a kind, at most `N`, are printed; all are counted")
	flags.BoolVar(&f.progress, "progress", false, "tell the progress even where standard error is no terminal")
}

// span is a duration, written as in definitions.
type span time.Duration

// String is the duration in words of its own grammar; flag asks for that of the default.
func (s *span) String() string {
	text := time.Duration(*s).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// Set reads it.
func (s *span) Set(text string) error {
	d, ok := duration.Parse(text)
	if !ok {
		return errors.New("it is no duration; write it as 30m, 24h or 1d12h")
	}
	*s = span(d)
	return nil
}

// check refuses values that mean nothing, and finds the database.
func (f *auditOptions) check() error {
	if f.limit < 0 {
		return errors.New("--limit cannot be negative")
	}
	if f.database == "" {
		f.database = os.Getenv(databaseVariable)
	}
	if f.database == "" {
		return fmt.Errorf("no database: give --database URL, or set %s", databaseVariable)
	}
	return nil
}

// runAudit compares a database with the definitions that are named, or all.
func runAudit(ctx context.Context, k *call) int {
	if err := k.audit.check(); err != nil {
		return k.fail(err)
	}
	paths, err := k.paths()
	if err != nil {
		return k.fail(err)
	}
	var problems diag.List
	machines, err := pipeline.Lint(ctx, os.DirFS(k.dir), paths, &problems)
	if err != nil {
		return k.fail(k.atRoot(err))
	}
	if problems.Errors() > 0 { // no findings of the audit, whose output is for these alone
		if err := problems.Text(k.err); err != nil {
			return k.fail(err)
		}
		return k.fail(errors.New("the definitions have errors, so there is nothing to audit against"))
	}
	past, err := pipeline.Past(os.DirFS(k.dir))
	if err != nil {
		return k.fail(err)
	}
	o := audit.Options{
		Past:    past,
		Overdue: k.audit.overdue, OutboxAge: k.audit.outboxAge, Limit: k.audit.limit,
		Partial: len(k.args) > 0, Progress: k.progress(), Clock: time.Now,
	}
	end := func(r audit.Report, failed error) error {
		if failed != nil {
			return nil
		}
		return r.Text(k.err)
	}
	o.Found = func(f audit.Finding) error {
		_, err := fmt.Fprintln(k.out, f.TextLine())
		return err
	}
	if k.format == "json" {
		doc := audit.NewJSON(k.out)
		o.Found, end = doc.Found, doc.End
	}
	report, failed := audit.Run(ctx, k.audit.database, machines, o)
	if err := errors.Join(failed, end(report, failed)); err != nil {
		return k.fail(err)
	}
	if report.Findings() > 0 {
		return exitFindings
	}
	return exitFine
}

// progress is where progress is told, nil for nowhere.
func (k *call) progress() io.Writer {
	f, ok := k.err.(*os.File)
	if k.audit.progress || ok && term.IsTerminal(int(f.Fd())) {
		return k.err
	}
	return nil
}
