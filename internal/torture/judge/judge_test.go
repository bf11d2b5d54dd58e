package judge

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/internal/torture/journal"
	"github.com/pawl-go/pawl/internal/torture/load"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Main(m) }

const key = "00000000-0000-4000-8000-000000000001"

// scene is a run of a few calls, with all that hangs on them.
type scene struct {
	t       *testing.T
	pool    *pgxpool.Pool
	journal *journal.Writer
	path    string
	since   time.Time
}

func open(t *testing.T) *scene {
	t.Helper()
	s := &scene{t: t, since: time.Now(), pool: testdb.New(t, testdb.WithMigrations(migrations.FS)), path: filepath.Join(t.TempDir(), "journal")}
	s.exec(load.Tables)
	s.exec(`INSERT INTO shop_stock (sku, quantity) VALUES ('sku-00', 100)`)
	var err error
	s.journal, err = journal.Create(s.path)
	require.NoError(t, err)
	created := map[string]any{"customer_id": "c", "sku": "sku-00", "quantity": 1, "total_cents": 70}
	s.call("1", "create", created, "", func(ctx context.Context, o ...fsm.Option) (order.Result, error) {
		return order.Create(ctx, s.pool, order.CreateParams{Key: key, CustomerID: "c", Sku: "sku-00", Quantity: 1, TotalCents: 70}, o...)
	})
	s.call("2", "pay", nil, "", func(ctx context.Context, o ...fsm.Option) (order.Result, error) {
		return order.Pay(ctx, s.pool, key, o...)
	})
	s.paid("T3", "P1", order.Then(func(ctx context.Context, tx pgx.Tx, r order.Result) error {
		if _, err := tx.Exec(ctx, `INSERT INTO torture_then VALUES ('order', $1, $2, 'payment_succeeded', 'T3')`, key, r.Version); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE shop_stock SET quantity = quantity - 1`)
		return err
	}))
	s.paid("4", "P2")
	s.paid("5", "P1")
	s.journal.Ask(&journal.Call{ID: "6", Machine: "order", Event: "ship", Key: key}, &journal.Call{ID: "7", Machine: "order", Event: "ship", Key: key})
	s.journal.Tell(&journal.Answer{ID: "6", Outcome: journal.Nothing, Error: "55P03"})
	s.journal.Note("used", "form")
	s.exec(`INSERT INTO torture_uses VALUES ('form')`)
	s.exec(`INSERT INTO fsm_outbox_sent SELECT id, machine, key, version, event, topic, payload, at, now() FROM fsm_outbox`)
	s.exec(`DELETE FROM fsm_outbox`)
	s.exec(`INSERT INTO torture_heard SELECT id, machine, key, version, topic FROM fsm_outbox_sent WHERE topic = 'order_paid'`)
	return s
}

func (s *scene) exec(sql string) {
	s.t.Helper()
	_, err := s.pool.Exec(s.t.Context(), sql)
	require.NoError(s.t, err)
}

// call makes a call and notes it.
func (s *scene) call(id, event string, params map[string]any, identity string, make func(context.Context, ...fsm.Option) (order.Result, error)) {
	s.t.Helper()
	s.callOf(key, id, event, params, identity, make)
}

func (s *scene) callOf(key, id, event string, params map[string]any, identity string, make func(context.Context, ...fsm.Option) (order.Result, error)) {
	s.t.Helper()
	s.journal.Ask(&journal.Call{ID: id, Machine: "order", Event: event, Key: key, Params: params, Identity: identity, Mode: "single"})
	r, err := make(s.t.Context(), fsm.RequestID(id))
	require.NoError(s.t, err)
	m := r.Transition
	s.journal.Tell(&journal.Answer{ID: id, Outcome: string(r.Outcome), State: string(r.State), Version: r.Version,
		Columns: map[string]any{"paid_cents": r.Row.PaidCents, "payment_no": r.Row.PaymentNo, "sku": r.Row.Sku},
		Made:    journal.Made{Event: m.Event, Outcome: string(m.Outcome), From: string(m.From), To: string(m.To), Version: m.Version}})
}

func (s *scene) paid(id, no string, options ...fsm.Option) {
	s.t.Helper()
	s.call(id, "payment_succeeded", map[string]any{"payment_no": no, "paid_cents": 70}, no, func(ctx context.Context, o ...fsm.Option) (order.Result, error) {
		return order.PaymentSucceeded(ctx, s.pool, key, order.PaymentSucceededParams{PaymentNo: no, PaidCents: 70}, append(o, options...)...)
	})
}

// judged returns the report and the kinds of violations.
func (s *scene) judged() (*Report, []string) {
	s.t.Helper()
	r, err := Run(s.t.Context(), Options{
		URL: s.pool.Config().ConnString(), Journals: []string{s.path}, Project: os.DirFS("../../.."),
		Machines: []string{"order"}, Heard: load.Heard, Stock: 100, Since: s.since,
	})
	require.NoError(s.t, err)
	kinds := []string{}
	for _, v := range r.Violations {
		kinds = append(kinds, v.What)
	}
	return r, kinds
}

func TestAWholeRunIsAccepted(t *testing.T) {
	t.Parallel()
	r, found := open(t).judged()
	require.Empty(t, found, r.Violations)
	require.Equal(t, int64(3), r.Transitions)
	require.Equal(t, int64(1), r.Recorded)
	require.Equal(t, int64(7), r.Calls)
	require.Equal(t, []int64{0, 1}, []int64{r.Moved, r.Not})
}

// Each thing that the judge looks at is damaged in turn, and found.
func TestDamageIsFound(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ damage, found string }{
		{`DELETE FROM order_facts WHERE identity = 'P2'`, "lost: a client was told Compensated, and there is no such fact"},
		{`UPDATE order_history SET request_id = '' WHERE request_id = '2'`, "lost: a client was told Applied, and the history does not have it"},
		{`UPDATE order_history SET to_status = 'PENDING' WHERE request_id = '2'`, "lost: a client was told Applied, and the history does not have it"},
		{`UPDATE order_history SET request_id = '6' WHERE request_id = '2'`, "a call moved a row and its client was told otherwise"},
		{`UPDATE order_history SET request_id = '1' WHERE request_id = '2'`, "a call moved a row twice"},
		{`UPDATE order_history SET request_id = 'x' WHERE request_id = '2'`, "a row was moved by nobody"},
		{`UPDATE order_facts SET outcome = 'Compensated' WHERE identity = 'P1'`, "a replay was told another first result than the fact's"},
		{`UPDATE order_history SET version = 9 WHERE version = 3`, "a history has a gap, or does not lead from one state to the next"},
		{`UPDATE order_history SET version = 9 WHERE version = 3`, "a client was shown a row as it never was"},
		{`DELETE FROM order_history WHERE version = 3`, "a row is not what its last entry says"},
		{`DELETE FROM order_facts WHERE identity = 'P1'`, "facts that moved a row, and entries of events with identity, too few"},
		{`UPDATE order_facts SET version = 2 WHERE identity = 'P1'`, "facts that moved a row, and entries of events with identity, too many"},
		{`DELETE FROM fsm_outbox_sent WHERE topic = 'order_created'`, "rows of the outbox, by what was emitted, too few"},
		{`INSERT INTO fsm_outbox_sent SELECT id + 99, machine, key, version, event, topic, payload, at, sent_at FROM fsm_outbox_sent WHERE topic = 'refund_due'`, "rows of the outbox, by what was emitted, too many"},
		{`DELETE FROM torture_then`, "effects in the transition's transaction, by the calls that have one, too few"},
		{`INSERT INTO torture_then SELECT * FROM torture_then`, "effects in the transition's transaction, by the calls that have one, too many"},
		{`DELETE FROM torture_heard`, "effects of the consumer, by the messages, too few"},
		{`INSERT INTO torture_heard SELECT * FROM torture_heard`, "effects of the consumer, by the messages, too many"},
		{`UPDATE shop_stock SET quantity = quantity - 1`, "stock that was taken, by article, too many"},
		{`UPDATE shop_stock SET quantity = 100`, "stock that was taken, by article, too few"},
		{`INSERT INTO torture_uses VALUES ('form')`, "a token counted twice"},
		{`DELETE FROM torture_uses`, "a token that was used left nothing"},
		{`INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at) VALUES ('order', '1', 1, 'pay', 'order_paid', '{}', now())`, "something waits in the outbox for ever"},
		{`UPDATE orders SET total_cents = 71`, "a history of order that the definition cannot explain"},
		{`UPDATE orders SET deadline_at = now()`, "the audit finds"},
		{`UPDATE orders SET deadline_at = now()`, "a row's deadline, or how often it ran, is not what the definition says"},
		{`UPDATE orders SET deadline_runs = 7`, "a row's deadline, or how often it ran, is not what the definition says"},
		{`UPDATE orders SET paid_at = paid_at - interval '1 year'`, "a time is not that of the transition that set it"},
		{`UPDATE orders SET paid_at = NULL`, "a time is not that of the transition that set it"},
		{`UPDATE orders SET paid_at = NULL`, "a history of order that the definition cannot explain"},
		{`UPDATE order_history SET at = at - interval '1 year'`, "a transition is from another time than the trial's"},
		{`UPDATE order_history SET at = at + interval '1 year'`, "a transition is from another time than the trial's"},
		{`UPDATE fsm_outbox_sent SET payload = '{"x":1}' WHERE topic = 'order_paid'`, "a message does not carry what happened"},
		{`UPDATE fsm_outbox_sent SET payload = '{}' WHERE topic = 'refund_due'`, "a message does not carry what happened"},
		{`UPDATE fsm_outbox_sent SET payload = payload #- '{params,paid_cents}' WHERE topic = 'order_paid'`, "a message does not carry what happened"},
		{`UPDATE fsm_outbox_sent SET payload = jsonb_set(payload, '{params,paid_cents}', '71') WHERE topic = 'refund_due'`, "a message does not carry what happened"},
		{`UPDATE fsm_outbox_sent SET payload = jsonb_set(payload, '{from}', '"PENDING"') WHERE topic = 'order_paid'`, "a message does not carry what happened"},
		{`UPDATE fsm_outbox_sent SET payload = jsonb_set(payload, '{params,sku}', '"sku-01"') WHERE topic = 'order_created'`, "a message does not carry what happened"},
		{`INSERT INTO fsm_outbox_sent SELECT id + 99, machine, key, version, event, topic, payload, at, sent_at FROM fsm_outbox_sent WHERE topic = 'refund_due'`, "two messages carry the same"},
	} {
		t.Run(tc.found+", "+tc.damage, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			s.exec(tc.damage)
			_, found := s.judged()
			require.Contains(t, found, tc.found)
		})
	}
}

// A row whose deadline is still to come, and that ran: both are held against its history.
func TestDamagedDeadlinesAreFound(t *testing.T) {
	t.Parallel()
	for damage, found := range map[string]bool{
		`SELECT 1`: false,
		`UPDATE orders SET deadline_runs = 1 WHERE status = 'PAYING'`:                                          true,
		`UPDATE orders SET deadline_runs = 3 WHERE status = 'PAYING'`:                                          true,
		`UPDATE orders SET deadline_at = deadline_at + interval '1 minute' WHERE status = 'PAYING'`:            true,
		`UPDATE order_history SET at = at - interval '1 second' WHERE event = 'query_payment' AND version = 4`: true,
	} {
		t.Run(damage, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			const other = "00000000-0000-4000-8000-000000000002"
			call := func(id, event string, params map[string]any, make func(context.Context, ...fsm.Option) (order.Result, error)) {
				s.callOf(other, id, event, params, "", make)
			}
			call("11", "create", map[string]any{"customer_id": "c", "sku": "sku-00", "quantity": 1, "total_cents": 70}, func(ctx context.Context, o ...fsm.Option) (order.Result, error) {
				return order.Create(ctx, s.pool, order.CreateParams{Key: other, CustomerID: "c", Sku: "sku-00", Quantity: 1, TotalCents: 70}, o...)
			})
			call("12", "pay", nil, func(ctx context.Context, o ...fsm.Option) (order.Result, error) {
				return order.Pay(ctx, s.pool, other, o...)
			})
			for _, id := range []string{"13", "14"} {
				call(id, "query_payment", nil, func(ctx context.Context, o ...fsm.Option) (order.Result, error) {
					return order.QueryPayment(ctx, s.pool, other, o...)
				})
			}
			s.exec(`INSERT INTO fsm_outbox_sent SELECT id, machine, key, version, event, topic, payload, at, now() FROM fsm_outbox`)
			s.exec(`DELETE FROM fsm_outbox`)
			s.exec(damage)
			_, kinds := s.judged()
			if !found {
				require.Empty(t, kinds)
				return
			}
			require.Contains(t, kinds, "a row's deadline, or how often it ran, is not what the definition says")
		})
	}
}

// What an answer showed of the row is held against it.
func TestColumnsOfAnswersAreJudged(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		columns map[string]any
		found   []string
	}{
		{map[string]any{"paid_cents": 70, "payment_no": "P1"}, []string{}},
		{map[string]any{"paid_cents": 71}, []string{"a history of order that the definition cannot explain"}},
		{map[string]any{"payment_no": nil}, []string{"a history of order that the definition cannot explain"}},
	} {
		s := open(t)
		s.journal.Ask(&journal.Call{ID: "8", Machine: "order", Event: "cancel", Key: key})
		s.journal.Tell(&journal.Answer{ID: "8", Outcome: "Rejected", State: "PAID", Version: 3, Columns: tc.columns,
			Made: journal.Made{Event: "payment_succeeded", Outcome: "Applied", From: "PAYING", To: "PAID", Version: 3}})
		_, found := s.judged()
		require.Equal(t, tc.found, found, tc.columns)
	}
}

// What clients were told is held against each other, too.
func TestContradictoryAnswersAreFound(t *testing.T) {
	t.Parallel()
	pay := journal.Answer{Outcome: "Applied", State: "PAYING", Version: 2, Made: journal.Made{Event: "pay", Outcome: "Applied", From: "PENDING", To: "PAYING", Version: 2}}
	paid := journal.Answer{Outcome: "Compensated", State: "PAID", Version: 3}
	for _, tc := range []struct {
		call   journal.Call
		answer journal.Answer
		found  string
	}{
		{journal.Call{Event: "pay"}, pay, "two clients were told that they made the same version"},
		{journal.Call{Event: "payment_succeeded", Identity: "P2"}, paid, "two clients were told that they brought the same fact"},
		{journal.Call{Event: "ship"}, journal.Answer{Outcome: journal.Strange, Error: "something"}, "an error that the documents do not tell of"},
		{journal.Call{Event: "ship"}, journal.Answer{Outcome: "Rejected", State: "PAID", Version: 3}, "a history of order that the definition cannot explain"},
	} {
		t.Run(tc.found, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			tc.call.ID, tc.call.Machine, tc.call.Key, tc.answer.ID = "8", "order", key, "8"
			if tc.call.Identity != "" {
				tc.call.Params = map[string]any{"payment_no": tc.call.Identity, "paid_cents": 70}
			}
			s.journal.Ask(&tc.call)
			s.journal.Tell(&tc.answer)
			_, found := s.judged()
			require.Contains(t, found, tc.found)
		})
	}
	s := open(t)
	s.journal.Note("violation", "a leak")
	s.journal.Note("swept", "order expire "+key+" 4 PENDING CANCELLED")
	_, found := s.judged()
	require.Contains(t, found, "a service saw")
	require.Contains(t, found, "lost: a sweep was told that it moved a row, and the history does not have it")
}
