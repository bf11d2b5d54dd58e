package audit_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/audit"
)

func auditRun(t testing.TB, d *database, o audit.Options) (audit.Report, error) {
	t.Helper()
	return audit.Run(t.Context(), d.url, definitions(t), o)
}

func TestTheLimitIsOfWhatIsToldAlone(t *testing.T) {
	t.Parallel()
	d := fixture(t)
	d.plant(`DELETE FROM order_history`)
	var lines []string
	o := options(&lines)
	o.Limit = 2
	report, err := auditRun(t, d, o)
	require.NoError(t, err)
	require.Equal(t, []audit.Count{{Kind: audit.NoHistory, Count: 4}}, report.Counts)
	require.Equal(t, []string{
		"order " + string(pending) + " version 1: no-history: the row has no history",
		"order " + string(paid) + " version 3: no-history: the row has no history",
	}, lines)
}

func TestWhyADatabaseCannotBeAudited(t *testing.T) {
	t.Parallel()
	var lines []string
	o := options(&lines)

	_, err := audit.Run(t.Context(), "postgres://127.0.0.1:1/none?connect_timeout=5", definitions(t), o)
	require.ErrorIs(t, err, audit.ErrConnect)
	_, err = audit.Run(t.Context(), "postgres://%zz", definitions(t), o)
	require.ErrorIs(t, err, audit.ErrConnect)

	_, err = auditRun(t, open(t), o)
	require.ErrorIs(t, err, audit.ErrMissing)
	for _, table := range []string{"orders", "payments", "refunds", "fsm_audit", "fsm_outbox"} { // all at once
		require.ErrorContains(t, err, "there is no table "+table)
	}

	d := migrated(t)
	d.exec(`ALTER TABLE orders DROP COLUMN deadline_runs; ALTER TABLE payment_facts RENAME TO elsewhere; DROP TABLE refunds; CREATE VIEW refunds AS SELECT 1 AS one`)
	_, err = auditRun(t, d, o)
	require.ErrorIs(t, err, audit.ErrMissing)
	require.ErrorContains(t, err, "orders has no column deadline_runs")
	require.ErrorContains(t, err, "there is no table payment_facts")
	require.ErrorContains(t, err, "refunds is no table")
	require.Empty(t, lines)
}

// A role that sees a part of the rows would find orphans that are none.
func TestARoleMustSeeEverything(t *testing.T) {
	t.Parallel()
	d := migrated(t)
	role := "pawl_audit_" + strings.ToLower(rand.Text())
	d.exec("CREATE ROLE " + role)
	t.Cleanup(func() {
		_, err := d.conn.Exec(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role)
		require.NoError(t, err)
	})
	config, err := pgx.ParseConfig(d.url)
	require.NoError(t, err)
	require.NotEmpty(t, config.Database)
	sep := "?"
	if strings.Contains(d.url, "?") {
		sep = "&"
	}
	as := &database{t: t, url: d.url + sep + "options=-crole%3D" + role}
	var lines []string

	d.exec("GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + role)
	_, err = auditRun(t, as, options(&lines))
	require.NoError(t, err)

	d.exec("REVOKE SELECT ON order_history FROM " + role)
	_, err = auditRun(t, as, options(&lines))
	require.ErrorIs(t, err, audit.ErrPermission)
	require.ErrorContains(t, err, "order_history")

	d.exec("GRANT SELECT ON order_history TO " + role + "; ALTER TABLE orders ENABLE ROW LEVEL SECURITY")
	_, err = auditRun(t, as, options(&lines))
	require.ErrorIs(t, err, audit.ErrPermission)
	require.ErrorContains(t, err, "row-level security")
	require.Empty(t, lines)
}

// cancelling ends the context when progress begins.
type cancelling struct{ cancel context.CancelFunc }

func (c cancelling) Write(b []byte) (int, error) {
	c.cancel()
	return len(b), nil
}

func TestAnAuditCanBeInterrupted(t *testing.T) {
	t.Parallel()
	d := fixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	var lines []string
	o := options(&lines)
	o.Progress, o.Clock = cancelling{cancel}, func() time.Time { return time.Time{} }
	_, err := audit.Run(ctx, d.url, definitions(t), o)
	require.ErrorIs(t, err, context.Canceled)
}

// An audit that waits for the server is ended there too.
func TestAWaitingAuditCanBeInterrupted(t *testing.T) {
	t.Parallel()
	d := fixture(t)
	machines := definitions(t)
	d.exec("BEGIN; LOCK TABLE orders IN ACCESS EXCLUSIVE MODE")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := audit.Run(ctx, d.url, machines, audit.Options{})
		ended <- err
	}()
	waiting := func() (n int) {
		require.NoError(t, d.conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE relation = 'orders'::regclass AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())").Scan(&n))
		return n
	}
	for waiting() == 0 {
		require.NoError(t, t.Context().Err())
	}
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	for waiting() > 0 {
		require.NoError(t, t.Context().Err())
	}
	d.exec("ROLLBACK")
}

func TestWhoeverIsToldCanEndIt(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	for _, damage := range []string{`DELETE FROM order_history`, `DELETE FROM fsm_audit`, `UPDATE fsm_outbox SET topic = 'x'`, `DROP TRIGGER order_edge ON orders`} {
		d := fixture(t)
		d.plant(damage)
		told := 0
		_, err := auditRun(t, d, audit.Options{Limit: 10, Found: func(audit.Finding) error { told++; return full }})
		require.ErrorIs(t, err, full, damage)
		require.Equal(t, 1, told, damage)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	d := fixture(t)
	d.exec("ANALYZE orders, order_history, order_facts")
	var out bytes.Buffer
	var lines []string
	o := options(&lines)
	o.Progress, o.Clock = &out, func() time.Time { return time.Time{} }
	_, err := auditRun(t, d, o)
	require.NoError(t, err)
	require.Equal(t, "order: 0 of about 15 records\npayment: 0 of an unknown number of records\nrefund: 0 of an unknown number of records\n", out.String())
}

func TestJSONIsOneDocument(t *testing.T) {
	t.Parallel()
	d := fixture(t)
	d.plant(`DELETE FROM order_facts WHERE identity = 'p2'; DELETE FROM fsm_audit`)
	var out bytes.Buffer
	doc := audit.NewJSON(&out)
	report, err := auditRun(t, d, audit.Options{Overdue: time.Hour, OutboxAge: time.Hour, Limit: 9, Found: doc.Found})
	require.NoError(t, err)
	require.NoError(t, doc.End(report, nil))
	require.JSONEq(t, `{
		"findings": [
			{"kind": "fact-missing", "machine": "order", "key": "00000000-0000-4000-8000-000000000002", "version": 3,
			 "text": "\"payment_succeeded\" has an identity and moved the row, and no fact says so"},
			{"kind": "unaudited-force", "machine": "order", "key": "00000000-0000-4000-8000-000000000003", "version": 2,
			 "text": "the entry is forced, and fsm_audit does not tell of it: the history was written by hand"}],
		"counts": [{"kind": "unaudited-force", "count": 1}, {"kind": "fact-missing", "count": 1}],
		"notes": [], "complete": true,
		"read": [{"machine": "order", "rows": 4, "entries": 9, "facts": 1}, {"machine": "payment", "rows": 0, "entries": 0, "facts": 0},
			{"machine": "refund", "rows": 0, "entries": 0, "facts": 0}]}`, out.String())

	out.Reset()
	require.NoError(t, audit.NewJSON(&out).End(audit.Report{}, errors.New("no more")))
	var broken struct {
		Findings []audit.Finding
		Complete bool
		Error    string
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &broken))
	require.Equal(t, []audit.Finding{}, broken.Findings)
	require.False(t, broken.Complete)
	require.Equal(t, "no more", broken.Error)
}

// Keys are whatever their creator gave.
func TestATextLineIsOneLine(t *testing.T) {
	t.Parallel()
	f := audit.Finding{Kind: audit.NoHistory, Machine: "order", Key: "a\nb\x1b[2J", Version: 1, Text: "the row has no history"}
	require.Equal(t, `order "a\nb\x1b[2J" version 1: no-history: the row has no history`, f.TextLine())
}

func TestTheDocumentNamesEveryKind(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/audit.md")
	require.NoError(t, err)
	_, finds, _ := strings.Cut(string(page), "## What it finds")
	finds, _, _ = strings.Cut(finds, "## What it cannot find")
	for _, k := range audit.Kinds() {
		require.Contains(t, finds, "\n| `"+string(k)+"` |")
	}
	require.Equal(t, len(audit.Kinds()), strings.Count(finds, "\n| `"))
}
