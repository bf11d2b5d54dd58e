package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawl-go/pawl/internal/compare"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/pipeline"
	"github.com/pawl-go/pawl/internal/rowcount"
)

// diffOptions are the flags of diff.
type diffOptions struct {
	// database is where rows are counted; empty for nowhere.
	database string
}

func diffFlags(k *call) {
	k.flags.StringVar(&k.diff.database, "database", "", "the `URL` of a database in which to count the rows that stand in removed states")
}

// runDiff compares two sets of definitions. Without NEW it is the working
// tree's, without OLD that of the newest commit.
func runDiff(ctx context.Context, k *call) int {
	old, new, err := k.sides(ctx)
	if err != nil {
		return k.fail(k.atRoot(err))
	}
	was, code := k.read(ctx, "OLD", old, exitFailed)
	if code != exitFine {
		return code
	}
	is, code := k.read(ctx, "NEW", new, exitFindings)
	if code != exitFine {
		return code
	}
	report := compare.Machines(was, is)
	for _, c := range report.Changes {
		old.locate(&c.Old)
		new.locate(&c.New)
	}
	if err := k.count(ctx, report); err != nil {
		return k.fail(err)
	}
	write := report.Text
	if k.format == "json" {
		write = report.JSON
	}
	if err := errors.Join(write(k.out), report.Summary(k.err)); err != nil {
		return k.fail(err)
	}
	if report.Breaking() > 0 {
		return exitFindings
	}
	return exitFine
}

// read checks one side's definitions. With errors among them it prints them and
// gives the code: what cannot be read on the old side cannot be compared, what
// is wrong on the new one is a finding.
func (k *call) read(ctx context.Context, side string, s source, broken int) ([]*model.Machine, int) {
	var problems diag.List
	var machines []*model.Machine
	err := pipeline.ErrNoDefinitions
	if s.fsys != nil {
		machines, err = pipeline.Lint(ctx, s.fsys, []string{s.path}, &problems)
	}
	switch {
	case errors.Is(err, pipeline.ErrNoDefinitions) && s.mayBeEmpty:
		_, _ = fmt.Fprintf(k.err, "%s has no definitions: every machine is new\n", s.name)
		return nil, exitFine
	case err != nil:
		return nil, k.fail(fmt.Errorf("%s: %s: %w", side, s.name, err))
	case problems.Errors() == 0:
		return machines, exitFine
	}
	var errs diag.List
	for _, p := range problems.Sorted() {
		if p.Severity == diag.Error {
			s.locate(&p.Pos)
			errs.Add(p)
		}
	}
	if err := k.print(&errs); err != nil {
		return nil, k.fail(err)
	}
	_, _ = fmt.Fprintf(k.err, "%s, %s, has %s, so nothing was compared\n", side, s.name, count(errs.Errors(), "error"))
	return nil, broken
}

// count asks the database, if there is one to ask, for the rows that decide
// whether a change is safe.
func (k *call) count(ctx context.Context, report *compare.Report) error {
	changes := report.Uncounted()
	if k.diff.database == "" || len(changes) == 0 {
		return nil
	}
	counter, err := rowcount.Open(ctx, k.diff.database)
	if err != nil {
		return err
	}
	defer func() { _ = counter.Close(context.WithoutCancel(ctx)) }()
	for _, c := range changes {
		n, err := counter.Count(ctx, rowcount.State{Table: c.Gone.Table, Name: c.Gone.State, Code: c.Gone.Code})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			c.NotCounted(err.Error())
		default:
			c.Count(n)
		}
	}
	return nil
}
