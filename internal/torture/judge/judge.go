// Package judge compares what clients were told with what a database holds in the end:
// nothing that was acknowledged is lost, nothing happened twice, nothing was done by a
// call that was told otherwise, and every history can be explained by the definition.
//
// It asks the database, which has the journals beside the histories then; whether the
// answers of calls at once go together is asked of package linear.
package judge

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/internal/audit"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// Options say what is to be judged.
type Options struct {
	// URL is the database's, Journals all journals of the run.
	URL      string
	Journals []string
	// Project has the definitions.
	Project fs.FS
	// Machines are those that the load has calls of.
	Machines []string
	// Heard are the topics that have a consumer, Stock what each article had.
	Heard []string
	Stock int64
	// Since is when the run began; zero means that nobody asks. No clock of the run's
	// was ever more than a day ahead.
	Since time.Time
}

// Report is what came out.
type Report struct {
	// Transitions are entries of histories, Recorded facts that moved nothing.
	Transitions, Recorded int64
	Calls                 int64
	// Outcomes are counted by mode and outcome, Errors by outcome and reason.
	Outcomes, Errors []Count
	// Moved and Not are the unknown outcomes by what had become of them.
	Moved, Not int64
	// Checked says what was looked at, and how much of it.
	Checked []Count
	// Violations are all contradictions, the first of each kind in words.
	Violations []Violation
}

// Count is a number of something.
type Count struct {
	What string
	N    int64
}

// Violation is a kind of contradiction, how many there are, and the first of them.
type Violation struct {
	What     string
	N        int
	Examples []string
}

// shown is how many contradictions of a kind are shown.
const shown = 5

// add notes contradictions, if any.
func (r *Report) add(what string, found []string) {
	if len(found) > 0 {
		r.Violations = append(r.Violations, Violation{what, len(found), found[:min(len(found), shown)]})
	}
}

// judge is one run.
type judge struct {
	Options
	conn     *pgx.Conn
	machines []*model.Machine
	report   *Report
}

// Run judges a run that has come to rest. Violations are no error.
func Run(ctx context.Context, o Options) (*Report, error) {
	conn, err := pgx.Connect(ctx, o.URL)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	j := &judge{Options: o, conn: conn, report: &Report{}}
	for _, step := range []func(context.Context) error{j.define, j.load, j.histories, j.rules, j.compare, j.count, j.audit, j.explain} {
		if err := step(ctx); err != nil {
			return j.report, err
		}
	}
	return j.report, nil
}

// Ready says what a project lacks for a judgement: an error unless it has definitions.
func Ready(project fs.FS) error {
	if _, err := fs.Stat(project, pipeline.Definitions); err != nil {
		return fmt.Errorf("the judge needs the project's definitions: %w", err)
	}
	return nil
}

// define reads the definitions of the machines.
func (j *judge) define(ctx context.Context) error {
	var problems diag.List
	all, err := pipeline.Lint(ctx, j.Project, []string{pipeline.Definitions}, &problems)
	if err != nil {
		return err
	}
	for _, name := range j.Machines {
		for _, m := range all {
			if m.Name == name {
				j.machines = append(j.machines, m)
			}
		}
	}
	if len(j.machines) != len(j.Machines) {
		return fmt.Errorf("judge: the project has not all of the machines %v", j.Machines)
	}
	return nil
}

// audit asks the auditor, who knows nothing of the journals.
func (j *judge) audit(ctx context.Context) error {
	past, err := pipeline.Past(j.Project)
	if err != nil {
		return err
	}
	var found []string
	const long = 10 * 365 * 24 * time.Hour // when something is late is not the question here
	report, err := audit.Run(ctx, j.URL, j.machines, audit.Options{
		Overdue: long, OutboxAge: long, Limit: shown, Partial: true, Past: past,
		Found: func(f audit.Finding) error {
			found = append(found, f.TextLine())
			return nil
		},
	})
	if err != nil {
		return err
	}
	for _, read := range report.Read {
		j.report.Checked = append(j.report.Checked, Count{"audited entries of " + read.Machine, read.Entries})
	}
	j.report.add("the audit finds", found)
	return nil
}

// texts runs a query of one text column.
func (j *judge) texts(ctx context.Context, sql string, args ...any) ([]string, error) {
	rows, err := j.conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
