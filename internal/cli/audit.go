package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/pawl-go/pawl/internal/audit"
	"github.com/pawl-go/pawl/internal/diag"
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
	flags.DurationVar(&f.overdue, "overdue", time.Hour, "how long after its due time a row is late")
	flags.DurationVar(&f.outboxAge, "outbox-age", time.Hour, "how long an outbox row may wait to be taken")
	flags.IntVar(&f.limit, "limit", 100, "how many findings of a kind are printed; all are counted")
	flags.BoolVar(&f.progress, "progress", false, "tell the progress even where standard error is no terminal")
}

// check refuses values that mean nothing, and finds the database.
func (f *auditOptions) check() error {
	if f.overdue < 0 || f.outboxAge < 0 || f.limit < 0 {
		return errors.New("--overdue, --outbox-age and --limit cannot be negative")
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
		return k.fail(err)
	}
	if problems.Errors() > 0 { // the format asked for is that of the audit
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
