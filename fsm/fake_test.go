package fsm

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The machine of these tests, with types of its own as generated code has.
type (
	state string
	row   struct{ Key string }
	reply = Answer[state, row]
)

var (
	pay     = &EventInfo{Machine: "order", Event: "pay"}
	errTest = errors.New("made by the test")
)

// fakeDB is a pool that writes down what happens to its transactions, and
// fails where it is told to. It has no connection: run functions bring their
// own answers.
type fakeDB struct {
	DB
	log       []string
	beginErr  error
	commitErr error
	// onCommit runs inside Commit, before it reads its context.
	onCommit func()
}

func (d *fakeDB) Begin(context.Context) (pgx.Tx, error) {
	d.log = append(d.log, "begin")
	if d.beginErr != nil {
		return nil, d.beginErr
	}
	return &fakeTx{db: d}, nil
}

func (d *fakeDB) BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error) {
	d.log = append(d.log, string(o.IsoLevel))
	return d.Begin(ctx)
}

// fakeTx is a transaction of a fakeDB, or a savepoint when Begin is called on
// it. A method that the tests do not expect ends in a nil dereference.
type fakeTx struct {
	pgx.Tx
	db     *fakeDB
	depth  int
	closed bool
}

func (t *fakeTx) note(word string, ctx context.Context) {
	if t.depth > 0 {
		word = fmt.Sprintf("%s %d", word, t.depth)
	}
	if ctx.Err() != nil {
		word += " with a dead context"
	}
	t.db.log = append(t.db.log, word)
}

func (t *fakeTx) Begin(ctx context.Context) (pgx.Tx, error) {
	inner := &fakeTx{db: t.db, depth: t.depth + 1}
	inner.note("savepoint", ctx)
	return inner, nil
}

func (t *fakeTx) Commit(ctx context.Context) error {
	if t.closed {
		return pgx.ErrTxClosed
	}
	t.closed = true // as pgx does, whether COMMIT fails or not
	if t.db.onCommit != nil {
		t.db.onCommit()
	}
	t.note("commit", ctx)
	return t.db.commitErr
}

func (t *fakeTx) Rollback(ctx context.Context) error {
	if t.closed {
		return pgx.ErrTxClosed
	}
	t.closed = true
	if _, bounded := ctx.Deadline(); !bounded {
		t.db.log = append(t.db.log, "a rollback without an end:")
	}
	t.note("rollback", ctx)
	return nil
}

// script is a run function that gives the answers in turn, the last one for
// ever, and counts its runs.
type script struct {
	answers []reply
	err     error
	runs    int
	dbs     []DB
	calls   []*Call
}

func (s *script) run(_ context.Context, db DB, c *Call) (reply, error) {
	s.runs++
	s.dbs, s.calls = append(s.dbs, db), append(s.calls, c)
	if s.err != nil {
		return reply{}, s.err
	}
	return s.answers[min(s.runs, len(s.answers))-1], nil
}

func answers(outcomes ...string) *script {
	s := &script{}
	for _, o := range outcomes {
		s.answers = append(s.answers, reply{Outcome: o, State: "PAID", Version: 2, Row: row{"k"}})
	}
	return s
}

// fire is Fire with the types of this machine.
func fire(ctx context.Context, db DB, s *script, options ...Option) (Result[state, row], error) {
	return Fire(ctx, db, pay, options, nil, s.run)
}

// then is a Then option that notes its run.
func then(db *fakeDB, err error) Option {
	return Then(func(context.Context, pgx.Tx, Result[state, row]) error {
		db.log = append(db.log, "then")
		return err
	})
}

// server is an error as PostgreSQL reports it.
func server(severity, code string) error {
	return &pgconn.PgError{SeverityUnlocalized: severity, Severity: severity, Code: code, Message: "server says"}
}
