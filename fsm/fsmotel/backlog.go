package fsmotel

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/pawl-go/pawl/fsm"
)

// Backlog says what waits in a database that is to be watched.
type Backlog struct {
	// DB is asked each time that metrics are collected: a pool, of a role that need
	// not do more than SELECT, perhaps of a replica, which then adds its own lag.
	DB fsm.DB
	// Outbox and Inbox say that there are these tables. What the relay holds up is
	// asked for too where it has its table, that of fsmgen tables relay.
	Outbox, Inbox bool
	// Deadlines are the machines that have any.
	Deadlines []Deadline
	// Most bounds what one count reads, and so what it shows; 0 means 10,000.
	Most int
	// Timeout bounds all questions together, so that a database that does not answer
	// keeps no other metrics from whoever collects them; 0 means 2 s. Each may take half
	// of what those before it left, the last one all of it.
	Timeout time.Duration
}

// Deadline says where a machine keeps its deadlines.
type Deadline struct {
	Machine string
	// Table may have a schema before it, and a dot. Column is deadline_at unless the
	// definition names another; empty means that.
	Table, Column string
}

// The questions. Each reads as many entries of the index beside it as Most says, or one,
// and locks nothing.
const (
	outboxSQL = `SELECT
  (SELECT count(*) FROM (SELECT o.id FROM fsm_outbox AS o ORDER BY o.id LIMIT $1) AS few),           -- fsm_outbox_pkey
  COALESCE((SELECT greatest(extract(epoch FROM clock_timestamp() - f.at), 0)::float8 FROM
   (SELECT o.id, o.at FROM fsm_outbox AS o ORDER BY o.id LIMIT $1) AS f
   WHERE isfinite(f.at) ORDER BY f.id LIMIT 1), 0),                                                  -- fsm_outbox_pkey
  to_regclass('fsm_outbox_holds') IS NOT NULL`

	// The relay's table, which a database has only where a relay is used.
	holdsSQL = `SELECT count(few.next_at), count(*) - count(few.next_at)
FROM (SELECT h.next_at FROM fsm_outbox_holds AS h ORDER BY h.id LIMIT $1) AS few                      -- fsm_outbox_holds_pkey`

	inboxSQL = `SELECT
  (SELECT count(*) FROM (SELECT FROM fsm_inbox AS i WHERE i.due_at IS NOT NULL ORDER BY i.due_at LIMIT $1) AS few), -- fsm_inbox_due_idx
  (SELECT count(*) FROM (SELECT FROM fsm_inbox AS i WHERE i.state = 'dead' ORDER BY i.id LIMIT $1) AS few),         -- fsm_inbox_state_idx
  COALESCE((SELECT greatest(extract(epoch FROM clock_timestamp() - min(i.due_at)), 0)::float8
   FROM fsm_inbox AS i WHERE i.due_at > '-infinity' AND i.due_at < 'infinity'), 0)                                  -- fsm_inbox_due_idx`

	// The table has a partial index on the column, named by the generator: orders_deadline_idx.
	// By a time that is the same for all of the statement it is read no further than to that.
	deadlineSQL = `SELECT count(*), COALESCE(greatest(extract(epoch FROM clock_timestamp() - min(few.at) FILTER (WHERE isfinite(few.at))), 0), 0)::float8
FROM (SELECT d.%[2]s AS at FROM %[1]s AS d WHERE d.%[2]s <= statement_timestamp() ORDER BY d.%[2]s LIMIT $1) AS few`
)

func (d Deadline) sql() string {
	column := d.Column
	if column == "" {
		column = "deadline_at"
	}
	return fmt.Sprintf(deadlineSQL, pgx.Identifier(strings.Split(d.Table, ".")).Sanitize(), pgx.Identifier{column}.Sanitize())
}

// backlog has the gauges of what waits.
type backlog struct {
	Backlog
	up, waiting, holds, inbox, dead, overdue metric.Int64ObservableGauge
	outboxAge, inboxAge, deadlineAge         metric.Float64ObservableGauge
}

// Watch asks a database what waits in it each time that metrics are collected: a
// statement for the outbox, the inbox and each machine, and one for the relay's holds.
// It is enough that one process of a service does so. pawl.backlog.up says of each
// whether it could be asked; what could not has no other figure then, and the meter's
// provider is told the error.
//
// The caller unregisters it. The error is fsm.ErrArgument without a database or with a
// negative number, or the meter's.
func (t *Telemetry) Watch(of Backlog) (metric.Registration, error) {
	if nothing(of.DB) || of.Most < 0 || of.Timeout < 0 {
		return nil, fmt.Errorf("%w: a backlog without a database, or with a negative number", fsm.ErrArgument)
	}
	if of.Most == 0 {
		of.Most = 10_000
	}
	if of.Timeout == 0 {
		of.Timeout = 2 * time.Second
	}
	m := maker{meter: t.meter}
	b := &backlog{
		Backlog:     of,
		up:          m.gauge("pawl.backlog.up", "", "1 where what waits could be asked for, else 0."),
		waiting:     m.gauge("pawl.outbox.waiting", "{message}", "Messages that wait in the outbox, up to a bound."),
		outboxAge:   m.age("pawl.outbox.lag", "How long the first message has waited."),
		holds:       m.gauge("pawl.outbox.holds", "{key}", "Keys that are held up by a message that was not taken, up to a bound."),
		inbox:       m.gauge("pawl.inbox.waiting", "{event}", "Events of callbacks that wait to be processed, up to a bound."),
		dead:        m.gauge("pawl.inbox.dead", "{event}", "Events of callbacks that wait for a person, up to a bound."),
		inboxAge:    m.age("pawl.inbox.lag", "For how long the event due first has been due."),
		overdue:     m.gauge("pawl.deadline.overdue", "{row}", "Rows whose deadline has passed, up to a bound."),
		deadlineAge: m.age("pawl.deadline.lag", "For how long the first deadline has passed."),
	}
	if err := errors.Join(m.errs...); err != nil {
		return nil, err
	}
	return t.meter.RegisterCallback(b.look, b.up, b.waiting, b.outboxAge, b.holds, b.inbox, b.dead, b.inboxAge, b.overdue, b.deadlineAge)
}

// nothing reports whether db is nil, or a nil pool or connection in disguise.
func nothing(db fsm.DB) bool {
	v := reflect.ValueOf(db)
	return db == nil || v.Kind() == reflect.Pointer && v.IsNil()
}

// question is one part of what waits.
type question struct {
	part string
	ask  func(context.Context, metric.Observer) error
}

func (b *backlog) questions() []question {
	var all []question
	if b.Outbox {
		all = append(all, question{"outbox", b.askOutbox})
	}
	if b.Inbox {
		all = append(all, question{"inbox", b.askInbox})
	}
	for _, d := range b.Deadlines {
		all = append(all, question{"deadlines of " + d.Machine, func(ctx context.Context, o metric.Observer) error { return b.askDeadline(ctx, o, d) }})
	}
	return all
}

// look asks everything within Timeout, one question after the other: DB may be a
// connection, and a pool that is short of them has others to serve. A question that
// hangs leaves time to those behind it.
func (b *backlog) look(ctx context.Context, o metric.Observer) error {
	var errs []error
	left := b.Timeout
	all := b.questions()
	for i, q := range all {
		share := left
		if i < len(all)-1 {
			share = left / 2
		}
		begun := time.Now()
		asking, cancel := context.WithTimeout(ctx, share)
		err := q.ask(asking, o)
		cancel()
		left -= time.Since(begun)
		up := int64(1)
		if err != nil {
			up = 0
			errs = append(errs, fmt.Errorf("backlog of %s: %w", q.part, err))
		}
		o.ObserveInt64(b.up, up, metric.WithAttributes(partKey.String(q.part)))
	}
	return errors.Join(errs...)
}

func (b *backlog) askOutbox(ctx context.Context, o metric.Observer) error {
	var waiting int64
	var age float64
	var holds bool
	if err := b.DB.QueryRow(ctx, outboxSQL, b.Most).Scan(&waiting, &age, &holds); err != nil {
		return err
	}
	var held, parked int64
	if holds {
		if err := b.DB.QueryRow(ctx, holdsSQL, b.Most).Scan(&held, &parked); err != nil {
			return err
		}
		o.ObserveInt64(b.holds, held, metric.WithAttributes(parkedKey.Bool(false)))
		o.ObserveInt64(b.holds, parked, metric.WithAttributes(parkedKey.Bool(true)))
	}
	o.ObserveInt64(b.waiting, waiting)
	o.ObserveFloat64(b.outboxAge, age)
	return nil
}

func (b *backlog) askInbox(ctx context.Context, o metric.Observer) error {
	var waiting, dead int64
	var age float64
	if err := b.DB.QueryRow(ctx, inboxSQL, b.Most).Scan(&waiting, &dead, &age); err != nil {
		return err
	}
	o.ObserveInt64(b.inbox, waiting)
	o.ObserveInt64(b.dead, dead)
	o.ObserveFloat64(b.inboxAge, age)
	return nil
}

func (b *backlog) askDeadline(ctx context.Context, o metric.Observer, d Deadline) error {
	var overdue int64
	var age float64
	if err := b.DB.QueryRow(ctx, d.sql(), b.Most).Scan(&overdue, &age); err != nil {
		return err
	}
	of := metric.WithAttributeSet(attribute.NewSet(machineKey.String(d.Machine)))
	o.ObserveInt64(b.overdue, overdue, of)
	o.ObserveFloat64(b.deadlineAge, age, of)
	return nil
}
