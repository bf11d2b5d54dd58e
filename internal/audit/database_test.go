package audit_test

import (
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/gen/payment"
	"github.com/pawl-go/pawl/gen/refund"
	"github.com/pawl-go/pawl/internal/audit"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/pipeline"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// The orders of the fixture.
const (
	pending   order.Key = "00000000-0000-4000-8000-000000000001" // created
	paid      order.Key = "00000000-0000-4000-8000-000000000002" // paid with p2 at version 3, and p9 was one payment too many
	corrected order.Key = "00000000-0000-4000-8000-000000000003" // forced from PENDING into COMPLETED at version 2
	cancelled order.Key = "00000000-0000-4000-8000-000000000004" // pay, then cancel at version 3
)

// database is one test's own.
type database struct {
	t    testing.TB
	url  string
	conn *pgx.Conn
}

// open returns a migrated database with nothing in it.
func open(t testing.TB, options ...testdb.Option) *database {
	t.Helper()
	d := &database{t: t, url: testdb.URL(t, options...)}
	conn, err := pgx.Connect(t.Context(), d.url)
	require.NoError(t, err)
	d.conn = conn
	return d
}

func migrated(t testing.TB) *database {
	t.Helper()
	return open(t, testdb.WithMigrations(migrations.FS))
}

// fixture returns a database with the orders above, made by the calls that make
// them in earnest.
func fixture(t testing.TB) *database {
	t.Helper()
	d := migrated(t)
	for _, k := range []order.Key{pending, paid, corrected, cancelled} {
		d.create(k)
	}
	d.must(order.Pay(t.Context(), d.conn, paid))
	d.must(order.PaymentSucceeded(t.Context(), d.conn, paid, order.PaymentSucceededParams{PaymentNo: "p2", PaidCents: 100}))
	d.must(order.PaymentSucceeded(t.Context(), d.conn, paid, order.PaymentSucceededParams{PaymentNo: "p9", PaidCents: 100}))
	d.must(order.Correct(t.Context(), d.conn, corrected, order.StateCompleted, fsm.Correction{Actor: "ann", Reason: "ticket 7"}))
	d.must(order.Pay(t.Context(), d.conn, cancelled))
	d.must(order.Cancel(t.Context(), d.conn, cancelled))
	return d
}

func (d *database) create(k order.Key) {
	d.t.Helper()
	d.must(order.Create(d.t.Context(), d.conn, order.CreateParams{Key: k, CustomerID: "c1", Sku: "tea", Quantity: 1, TotalCents: 100}))
}

// must takes the result of a call that is there to bring an order somewhere.
func (d *database) must(r order.Result, err error) {
	d.t.Helper()
	require.NoError(d.t, err)
	require.Contains(d.t, []fsm.Outcome{fsm.Applied, fsm.Compensated}, r.Outcome)
}

func (d *database) exec(sql string) {
	d.t.Helper()
	_, err := d.conn.Exec(d.t.Context(), sql)
	require.NoError(d.t, err, sql)
}

// plant does damage that the triggers would refuse.
func (d *database) plant(sql string) {
	d.t.Helper()
	d.exec("BEGIN; ALTER TABLE orders DISABLE TRIGGER USER; " + sql + "; ALTER TABLE orders ENABLE TRIGGER USER; COMMIT")
}

// definitions are the repository's own machines of money.
func definitions(t testing.TB) []*model.Machine {
	t.Helper()
	var problems diag.List
	machines, err := pipeline.Lint(t.Context(), os.DirFS("../.."), []string{"definitions/order.yaml", "definitions/payment.yaml", "definitions/refund.yaml"}, &problems)
	require.NoError(t, err)
	require.Zero(t, problems.Errors())
	return machines
}

// define is a machine that is written in a test.
func define(t testing.TB, source string) *model.Machine {
	t.Helper()
	var problems diag.List
	machines, err := pipeline.Lint(t.Context(), fstest.MapFS{"m.yaml": {Data: []byte(source)}}, []string{"m.yaml"}, &problems)
	require.NoError(t, err)
	require.Empty(t, problems.Sorted())
	require.Len(t, machines, 1)
	return machines[0]
}

// options are those of the command, with findings kept in lines.
func options(lines *[]string) audit.Options {
	return audit.Options{
		Overdue: time.Hour, OutboxAge: time.Hour, Limit: 100,
		Found: func(f audit.Finding) error {
			*lines = append(*lines, f.TextLine())
			return nil
		},
	}
}

// audit returns what is found, a line each.
func (d *database) audit(machines ...*model.Machine) ([]string, audit.Report) {
	d.t.Helper()
	lines := []string{}
	report, err := audit.Run(d.t.Context(), d.url, machines, options(&lines))
	require.NoError(d.t, err)
	require.EqualValues(d.t, len(lines), report.Findings())
	return lines, report
}

// What the calls of the machines leave is in order, whatever they are: every
// outcome, deadlines that are used up, corrections, rows that are gone.
func TestNothingIsFoundInAHealthyDatabase(t *testing.T) {
	t.Parallel()
	d := fixture(t)
	ctx := t.Context()
	const back, gone, asked order.Key = "00000000-0000-4000-8000-000000000005", "00000000-0000-4000-8000-000000000006", "00000000-0000-4000-8000-000000000007"
	for _, k := range []order.Key{back, gone, asked} {
		d.create(k)
	}
	d.must(order.Cancel(ctx, d.conn, back))
	d.must(order.PaymentSucceeded(ctx, d.conn, back, order.PaymentSucceededParams{PaymentNo: "p5", PaidCents: 70}))
	d.must(order.RefundSucceeded(ctx, d.conn, back, order.RefundSucceededParams{RefundNo: "r1", PaymentNo: "p5", AmountCents: 20}))
	d.must(order.RefundSucceeded(ctx, d.conn, back, order.RefundSucceededParams{RefundNo: "r2", PaymentNo: "p5", AmountCents: 50}))
	d.must(order.Ship(ctx, d.conn, paid))
	d.must(order.Refund(ctx, d.conn, paid, order.RefundParams{RefundNo: "r3", AmountCents: 30}))
	d.must(order.RefundFailed(ctx, d.conn, paid, order.RefundFailedParams{RefundNo: "r3"}))
	d.must(order.Pay(ctx, d.conn, gone))
	d.must(order.Correct(ctx, d.conn, gone, order.StatePaid, fsm.Correction{Actor: "ann", Reason: "ticket 8"}))
	d.exec(`DELETE FROM orders WHERE order_id = '` + string(gone) + `'`)
	d.must(order.Pay(ctx, d.conn, asked))
	for range 20 { // then the deadline is used up, and PAYING has none
		d.must(order.QueryPayment(ctx, d.conn, asked))
	}
	_, err := payment.Create(ctx, d.conn, payment.CreateParams{Key: "p2", OrderID: string(paid), AmountCents: 100})
	require.NoError(t, err)
	_, err = payment.Succeed(ctx, d.conn, "p2", payment.SucceedParams{ProviderRef: "x1", PaidCents: 100})
	require.NoError(t, err)
	_, err = payment.Succeed(ctx, d.conn, "p2", payment.SucceedParams{ProviderRef: "x2", PaidCents: 100})
	require.NoError(t, err)
	_, err = refund.Create(ctx, d.conn, refund.CreateParams{Key: "r3", OrderID: string(paid), PaymentNo: "p2", AmountCents: 30})
	require.NoError(t, err)
	_, err = refund.Send(ctx, d.conn, "r3")
	require.NoError(t, err)

	lines, report := d.audit(definitions(t)...)
	require.Empty(t, lines)
	require.Equal(t, audit.Report{Counts: []audit.Count{}, Notes: []string{}, Read: []audit.Read{
		{Machine: "order", Rows: 6, Entries: 1 + 5 + 2 + 3 + 5 + 22, Facts: 4 + 3},
		{Machine: "payment", Rows: 1, Entries: 2, Facts: 2},
		{Machine: "refund", Rows: 1, Entries: 2},
	}}, report)
}
