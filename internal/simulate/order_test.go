package simulate_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/oracle"
	"github.com/pawl-go/pawl/internal/simulate"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// The same lives, through gen/order on PostgreSQL and in the head: outcomes, rows,
// history, facts and outbox are the same after every step.
func TestAnOrderLivesAsOnPostgreSQL(t *testing.T) {
	t.Parallel()
	m := sample(t)
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	var lives [][]simulate.Step
	for _, s := range m.Stories() {
		lives = append(lives, s.Steps)
	}
	for _, text := range []string{
		"1/pay", bought + "/payment_succeeded,payment_no=p,paid_cents=0/payment_succeeded,payment_no=,paid_cents=1/.correct,PAID@9/.correct,PAID@1/ship@1/ship@2/ship@2/.sweep",
		bought + "/.create,customer_id=ann,sku=tea,quantity=2,total_cents=100/.create,customer_id=bob,sku=tea,quantity=2,total_cents=100",
		"1/.create,customer_id=ann,sku=tea,quantity=0,total_cents=1/pay",
	} {
		lives = append(lives, simulate.Parse(text).Steps)
	}
	seen := map[simulate.Outcome]int{}
	for seed := range uint64(10) {
		lives = append(lives, wander(m, rand.New(rand.NewPCG(8, seed))))
	}
	for n, steps := range lives {
		l := &life{T: t, pool: pool, m: m, n: n, key: order.Key(fmt.Sprintf("00000000-0000-4000-8000-%012d", 100+n))}
		for _, told := range l.live(l.own(steps)).Steps {
			seen[told.Outcome]++
		}
	}
	for _, o := range []simulate.Outcome{
		oracle.Applied, oracle.Replayed, oracle.Ignored, oracle.Compensated, oracle.Rejected, oracle.GuardFailed, oracle.Stale, oracle.Mismatched,
		oracle.NotFound, oracle.BadArgument, oracle.CheckFailed, simulate.NothingDue, simulate.Passed,
	} {
		require.Positive(t, seen[o], "%s was never seen", o)
	}
}

// wander is a life of 30 steps that takes what is offered, and what is not.
func wander(m *simulate.Machine, r *rand.Rand) []simulate.Step {
	steps := []simulate.Step{m.Created()}
	for len(steps) < 30 {
		tape := m.Play(steps)
		switch n := r.IntN(20); {
		case n < 2:
			steps = append(steps, simulate.Step{Kind: simulate.Wait, After: []time.Duration{time.Minute, 15 * time.Minute, time.Hour, 240 * time.Hour}[r.IntN(4)]})
		case n < 4:
			steps = append(steps, simulate.Step{Kind: simulate.Sweep})
		case n < 5:
			s := m.Model.States[r.IntN(len(m.Model.States))]
			steps = append(steps, simulate.Step{Kind: simulate.Correct, Name: s.Name, Version: int64(r.IntN(3))})
		case n < 8:
			told := tape.Steps[r.IntN(len(tape.Steps))]
			if again := tape.Again(&told); again != nil {
				steps = append(steps, again.Same)
				if again.Other != nil {
					steps = append(steps, *again.Other)
				}
			}
		default:
			ways := tape.Ways()
			e := ways[r.IntN(len(ways))]
			s := e.Ways[r.IntN(len(e.Ways))].Step
			if row, _ := tape.Row(); r.IntN(5) == 0 {
				s.Version = row.Version + int64(r.IntN(2))
			}
			if len(s.Args) > 1 && r.IntN(8) == 0 {
				s.Args = slices.Clone(s.Args)
				s.Args[len(s.Args)-1].Text = []string{"0", "-5", "3"}[r.IntN(3)]
			}
			steps = append(steps, s)
		}
	}
	return steps
}

// life is one order on PostgreSQL.
type life struct {
	*testing.T
	pool *pgxpool.Pool
	m    *simulate.Machine
	n    int
	key  order.Key
}

// own gives the life a key and identities of its own, since all are in one table.
func (l *life) own(steps []simulate.Step) []simulate.Step {
	steps = slices.Clone(steps)
	for i := range steps {
		s := &steps[i]
		s.Args = slices.Clone(s.Args)
		if s.Kind == simulate.Create {
			s.Args = append(s.Args, simulate.Arg{Name: "order_id", Text: string(l.key)})
		}
		for j, a := range s.Args {
			if (a.Name == "payment_no" || a.Name == "refund_no") && a.Text != "" {
				s.Args[j].Text = fmt.Sprintf("%s/%d", a.Text, l.n)
			}
		}
	}
	return steps
}

func (l *life) live(steps []simulate.Step) *simulate.Tape {
	for i := range steps {
		tape := l.m.Play(steps[:i+1])
		told := tape.Steps[i]
		require.Nil(l, told.Problem, "%v", told.Problem)
		where := fmt.Sprintf("step %d of %s", i+1, simulate.Text(steps))
		got, err := l.do(told)
		l.same(told, got, err, where)
		require.Equal(l, l.expected(tape), l.found(), where)
	}
	return l.m.Play(steps)
}

// do makes the step's call.
func (l *life) do(told simulate.Told) (order.Result, error) {
	ctx := context.Background()
	s := told.Step
	arg := func(name string) string { text, _ := s.Arg(name); return text }
	number := func(name string) int64 {
		n, err := strconv.ParseInt(arg(name), 10, 64)
		require.NoError(l, err)
		return n
	}
	options := []fsm.Option{fsm.At(told.At)}
	if s.Version != 0 {
		options = append(options, fsm.ExpectVersion(s.Version))
	}
	switch s.Kind {
	case simulate.Create:
		return order.Create(ctx, l.pool, order.CreateParams{
			Key: l.key, CustomerID: arg("customer_id"), Sku: arg("sku"), Quantity: int32(number("quantity")), TotalCents: number("total_cents"),
		}, options...)
	case simulate.Wait:
		return order.Result{}, nil
	case simulate.Correct:
		return order.Correct(ctx, l.pool, l.key, order.State(s.Name), fsm.Correction{Actor: "a", Reason: "r"}, options...)
	case simulate.Sweep:
		return l.sweep(told)
	}
	plain := map[string]func(context.Context, fsm.DB, order.Key, ...fsm.Option) (order.Result, error){
		"pay": order.Pay, "query_payment": order.QueryPayment, "query_refund": order.QueryRefund, "expire": order.Expire,
		"cancel": order.Cancel, "ship": order.Ship, "receive": order.Receive,
	}
	switch s.Name {
	case "payment_succeeded":
		return order.PaymentSucceeded(ctx, l.pool, l.key, order.PaymentSucceededParams{PaymentNo: arg("payment_no"), PaidCents: number("paid_cents")}, options...)
	case "payment_failed":
		return order.PaymentFailed(ctx, l.pool, l.key, order.PaymentFailedParams{PaymentNo: arg("payment_no")}, options...)
	case "refund":
		return order.Refund(ctx, l.pool, l.key, order.RefundParams{RefundNo: arg("refund_no"), AmountCents: number("amount_cents")}, options...)
	case "refund_succeeded":
		return order.RefundSucceeded(ctx, l.pool, l.key, order.RefundSucceededParams{RefundNo: arg("refund_no"), PaymentNo: arg("payment_no"), AmountCents: number("amount_cents")}, options...)
	case "refund_failed":
		return order.RefundFailed(ctx, l.pool, l.key, order.RefundFailedParams{RefundNo: arg("refund_no")}, options...)
	}
	return plain[s.Name](ctx, l.pool, l.key, options...)
}

// sweep runs all sweeps at the time of the step. Rows of other lives may be due
// too: they are behind, and this one is looked at.
func (l *life) sweep(told simulate.Told) (order.Result, error) {
	var own []fsm.Swept
	for _, sweep := range order.Sweeps() {
		tx, err := l.pool.Begin(context.Background())
		require.NoError(l, err)
		_, err = tx.Exec(context.Background(), "SELECT 1 FROM orders WHERE order_id <> $1 FOR UPDATE", string(l.key))
		require.NoError(l, err)
		at := told.At
		swept, err := sweep(context.Background(), l.pool, fsm.SweepPage{Now: &at}) // passes over what is locked
		require.NoError(l, err)
		own = append(own, swept...)
		require.NoError(l, tx.Rollback(context.Background()))
	}
	if told.Outcome == oracle.Applied {
		require.Equal(l, []fsm.Swept{{Machine: "order", Event: told.Event.Name, Key: string(l.key), From: told.From, To: told.To, Version: told.Version}}, own)
	} else {
		require.Empty(l, own)
	}
	return order.Result{}, nil
}

// same holds the answers against each other.
func (l *life) same(told simulate.Told, got order.Result, err error, where string) {
	l.Helper()
	wanted := map[simulate.Outcome]error{oracle.NotFound: fsm.ErrNotFound, oracle.BadArgument: fsm.ErrArgument, oracle.CheckFailed: fsm.ErrNothingDone}[told.Outcome]
	if wanted != nil {
		require.ErrorIs(l, err, wanted, where)
		return
	}
	require.NoError(l, err, where)
	if told.Step.Kind == simulate.Wait || told.Step.Kind == simulate.Sweep {
		return
	}
	require.Equal(l, string(told.Outcome), string(got.Outcome), where)
	require.Equal(l, []any{told.To, told.Version}, []any{string(got.State), got.Version}, where)
	made := oracle.Transition{Event: got.Transition.Event, Outcome: oracle.Outcome(got.Transition.Outcome), From: string(got.Transition.From), To: string(got.Transition.To), Version: got.Transition.Version}
	require.Equal(l, told.Made, made, where)
}

// record is everything that is kept of an order, as text.
type record struct{ Row, History, Facts, Outbox []string }

func (l *life) expected(tape *simulate.Tape) record {
	var out record
	if r, there := tape.Row(); there {
		out.Row = []string{r.State.Name, fmt.Sprint(r.Version), due(r.Due), fmt.Sprint(r.Runs)}
		for _, c := range tape.Columns()[1:] {
			text, _, known := simulate.Shown(c.Value)
			require.True(l, known)
			out.Row = append(out.Row, text)
		}
	}
	for _, h := range tape.History() {
		out.History = append(out.History, fmt.Sprintf("%d %s %s %s %s", h.Version, h.Event, h.From, h.To, due(h.At)))
	}
	for _, f := range tape.Facts() {
		out.Facts = append(out.Facts, fmt.Sprintf("%s %s %s %s %s %s %d", f.Event.Name, f.Identity, f.Fingerprint, f.Made.Outcome, f.Made.From, f.Made.To, f.Made.Version))
	}
	for _, o := range tape.Outbox() {
		out.Outbox = append(out.Outbox, fmt.Sprintf("%s %s %d", o.Event, o.Topic, o.Version))
	}
	slices.Sort(out.Facts)
	return out
}

func due(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

func (l *life) found() record {
	ctx := context.Background()
	var out record
	r, err := order.Get(ctx, l.pool, l.key)
	if !errors.Is(err, fsm.ErrNotFound) {
		require.NoError(l, err)
		out.Row = []string{string(r.Status), fmt.Sprint(r.Version), moment(r.DeadlineAt, time.RFC3339), fmt.Sprint(r.DeadlineRuns)}
		out.Row = append(out.Row, r.CustomerID, r.Sku, fmt.Sprint(r.Quantity), fmt.Sprint(r.TotalCents), fmt.Sprint(r.PaidCents), fmt.Sprint(r.RefundCents), fmt.Sprint(r.RefundedCents))
		paid := ""
		if r.PaymentNo != nil {
			paid = *r.PaymentNo
		}
		at := moment(r.PaidAt, "2006-01-02 15:04:05")
		if at != "" {
			at += "+00"
		}
		out.Row = append(out.Row, paid, at)
	}
	entries, err := order.History(ctx, l.pool, l.key, 0, 1000)
	require.NoError(l, err)
	for _, h := range entries {
		out.History = append(out.History, fmt.Sprintf("%d %s %s %s %s", h.Version, h.Event, h.From, h.To, due(h.At)))
	}
	out.Facts = l.lines(`SELECT concat_ws(' ', event, identity, fingerprint, outcome, from_status, to_status, version) FROM order_facts WHERE order_id = $1::uuid`)
	slices.Sort(out.Facts)
	out.Outbox = l.lines(`SELECT concat_ws(' ', event, topic, version) FROM fsm_outbox WHERE machine = 'order' AND key = $1 ORDER BY id`)
	return out
}

func moment(at *time.Time, form string) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(form)
}

func (l *life) lines(sql string) []string {
	rows, err := l.pool.Query(context.Background(), sql, string(l.key))
	require.NoError(l, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(l, err)
	if len(lines) == 0 {
		return nil
	}
	return lines
}
