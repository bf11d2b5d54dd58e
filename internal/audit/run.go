package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// Options say how strict an audit is and who hears of it.
type Options struct {
	// Overdue is how long after its due time a row is late, OutboxAge how long
	// an outbox row may wait, by the database's clock.
	Overdue, OutboxAge time.Duration
	// Limit is how many findings of a kind are told; all are counted.
	Limit int
	// Partial says that the machines are not all there are, so that outbox rows
	// of another machine are none of the audit's business.
	Partial bool
	// Past is what migrations made of a machine that its definition says no
	// longer, by its name. Without it, all history is judged by today's.
	Past map[string]model.Past
	// Found is told each finding as it is found. Its error ends the audit.
	Found func(Finding) error
	// Progress is told how far the audit is, nil for nobody; Clock paces it.
	Progress io.Writer
	Clock    func() time.Time
}

// Run audits the database against the machines that have a table, in order. All
// is read in one snapshot, by a session that can change nothing. Findings are no
// error; the error is an *Error, Found's, or ctx's, and the report then says
// what was seen until then.
func Run(ctx context.Context, url string, machines []*model.Machine, o Options) (Report, error) {
	a := &auditor{Options: o, counts: map[Kind]int64{}, report: Report{Counts: []Count{}, Notes: []string{}, Read: []Read{}}}
	for _, m := range machines {
		if m.Table != nil {
			a.lives = append(a.lives, newLifecycle(m, o.Past[m.Name]))
		}
	}
	if len(a.lives) == 0 {
		return a.report, nil
	}
	conn, err := connect(ctx, url)
	if err != nil {
		return a.report, err
	}
	// Closing asks the server to end, which must not wait for a context that has ended.
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	err = a.audit(ctx, conn)
	for _, k := range kinds {
		if n := a.counts[k]; n > 0 {
			a.report.Counts = append(a.report.Counts, Count{k, n})
		}
	}
	return a.report, err
}

// errConnString stands for pgx's own error, which repeats the text and leaves out of it
// what it takes for the password: of a text that is no connection string, it can't know.
var errConnString = errors.New("this is no connection string such as postgres://user:password@host:5432/database")

// connect opens a session that refuses to write, and to pass over rows that
// row-level security hides. When a query's context ends, pgx asks the server to
// stop too.
func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, &Error{Kind: ErrConnect, Err: errConnString}
	}
	config.RuntimeParams["default_transaction_read_only"] = "on"
	config.RuntimeParams["row_security"] = "off"
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "fsmgen audit"
	}
	if config.ValidateConnect != nil {
		config.ValidateConnect = asWriter(config.ValidateConnect)
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &Error{Kind: ErrConnect, Err: err}
	}
	return conn, nil
}

// asWriter has target_session_attrs judge a server by what it takes of others: that our
// session writes nothing makes no standby of a primary.
func asWriter(validate pgconn.ValidateConnectFunc) pgconn.ValidateConnectFunc {
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		said, err := conn.Exec(ctx, "SELECT pg_is_in_recovery()").ReadAll()
		if err != nil {
			return err
		}
		begin := "BEGIN READ WRITE"
		if string(said[0].Rows[0][0]) == "t" { // which would refuse that
			begin = "BEGIN"
		}
		if _, err := conn.Exec(ctx, begin).ReadAll(); err != nil {
			return err
		}
		refused := validate(ctx, conn) // pgx may take the connection all the same
		_, err = conn.Exec(ctx, "ROLLBACK").ReadAll()
		return cmp.Or(refused, err)
	}
}

// auditor is one run.
type auditor struct {
	Options
	lives    []*lifecycle
	counts   map[Kind]int64
	report   Report
	progress progress
	// failed is the first error of Found.
	failed error
}

func (a *auditor) found(f Finding) {
	a.counts[f.Kind]++
	if a.failed == nil && a.counts[f.Kind] <= int64(a.Limit) {
		a.failed = a.Found(f)
	}
}

func (a *auditor) note(format string, args ...any) {
	a.report.Notes = append(a.report.Notes, fmt.Sprintf(format, args...))
}

func (a *auditor) audit(ctx context.Context, conn *pgx.Conn) error {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return readError(ctx, "", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	a.progress = progress{w: a.Progress, clock: a.Clock}

	structures, err := a.inspect(ctx, tx)
	if err != nil {
		return err
	}
	for i, l := range a.lives {
		if err := a.machine(ctx, tx, l, structures[i]); err != nil {
			return err
		}
	}
	if err := a.outbox(ctx, tx); err != nil {
		return err
	}
	return a.failed
}

// inspect looks up all machines before the first is read, so that what is
// missing is told at once.
func (a *auditor) inspect(ctx context.Context, tx pgx.Tx) ([]structure, error) {
	var structures []structure
	var errs []error
	for _, l := range a.lives {
		s, err := l.inspect(ctx, tx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			errs = append(errs, err)
		}
		structures = append(structures, s)
	}
	for _, core := range []string{sqlname.Audit, sqlname.Outbox} {
		needs := []string{"machine", "key", "version"}
		if core == sqlname.Audit {
			needs = append(needs, "from_status", "to_status", "actor", "reason", "request_id")
		}
		if _, err := lookUp(ctx, tx, core, needs...); err != nil {
			errs = append(errs, err)
		}
	}
	return structures, errors.Join(errs...)
}

// machine audits one machine.
func (a *auditor) machine(ctx context.Context, tx pgx.Tx, l *lifecycle, s structure) error {
	find := func(kind Kind, format string, args ...any) {
		a.found(Finding{Kind: kind, Machine: l.Name, Text: fmt.Sprintf(format, args...)})
	}
	if !l.judgeStructure(s, find, a.note) {
		a.note("%s: the rows were not read, since a column is of another type", l.Name)
		a.report.Read = append(a.report.Read, Read{Machine: l.Name})
		return a.failed
	}
	w := newWalker(l, a.found)
	a.progress.start(l.Name, s.estimate())
	collate := l.collations(s)
	err := a.walk(ctx, tx.Conn().PgConn(), l.stream(a.Overdue, collate), w)
	a.report.Read = append(a.report.Read, w.read)
	if err != nil {
		return err
	}
	w.notes(a.note)
	return a.unaudited(ctx, tx, l, collate)
}

// walk reads the stream. The server sends it as it goes and the client takes it
// as it comes: no cursor is needed to bound memory.
func (a *auditor) walk(ctx context.Context, conn *pgconn.PgConn, sql string, w *walker) error {
	rows := conn.ExecParams(ctx, sql, nil, nil, nil, []int16{pgx.BinaryFormatCode})
	var r record
	for a.failed == nil && rows.NextRow() {
		if err := r.decode(rows.Values()); err != nil {
			_, _ = rows.Close()
			return &Error{ErrRead, w.Name, err}
		}
		w.take(&r)
		a.progress.step()
	}
	if a.failed != nil {
		// Whoever listened is gone; reading the rest would take as long as the audit.
		_ = conn.CancelRequest(context.WithoutCancel(ctx))
		_, _ = rows.Close()
		return a.failed
	}
	if _, err := rows.Close(); err != nil {
		return readError(ctx, w.Name, err)
	}
	w.end()
	return a.failed
}

// unaudited finds corrections that fsm_audit does not know, or knows otherwise.
func (a *auditor) unaudited(ctx context.Context, tx pgx.Tx, l *lifecycle, collate bool) error {
	rows, err := tx.Query(ctx, l.unaudited(collate))
	if err != nil {
		return readError(ctx, l.Name, err)
	}
	f := Finding{Kind: UnauditedForce, Machine: l.Name}
	var told bool
	_, err = pgx.ForEachRow(rows, []any{&f.Key, &f.Version, &told}, func() error {
		f.Text = "the entry is forced, and fsm_audit does not tell of it: the history was written by hand"
		if told {
			f.Text = "the entry is forced, and fsm_audit has another actor, reason or request id for it: one of the two was changed by hand"
		}
		a.found(f)
		return a.failed
	})
	if err != nil && a.failed == nil {
		return readError(ctx, l.Name, err)
	}
	return a.failed
}

// outbox finds rows that wait too long, or for nobody.
func (a *auditor) outbox(ctx context.Context, tx pgx.Tx) error {
	var ours, machines, topics []string
	for _, l := range a.lives {
		ours = append(ours, l.Name)
		for topic := range l.topics { // a set to the database
			machines, topics = append(machines, l.Name), append(topics, topic)
		}
	}
	rows, err := tx.Query(ctx, outboxRows(a.OutboxAge), machines, topics, ours, !a.Partial)
	if err != nil {
		return readError(ctx, sqlname.Outbox, err)
	}
	var f Finding
	var event, topic, at string
	var known bool
	_, err = pgx.ForEachRow(rows, []any{&f.Machine, &f.Key, &f.Version, &event, &topic, &at, &known}, func() error {
		f.Kind, f.Text = OutboxStale, fmt.Sprintf("nobody has taken %.100q of %.100q from the outbox since %s", topic, event, at)
		if !known {
			f.Kind, f.Text = OutboxUnknown, fmt.Sprintf("the outbox has %.100q of %.100q, which no definition emits", topic, event)
		}
		a.found(f)
		return a.failed
	})
	if err != nil && a.failed == nil {
		return readError(ctx, sqlname.Outbox, err)
	}
	return a.failed
}
