package acceptance

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/pipeline"
	"github.com/pawl-go/pawl/internal/testdb"
)

// paidBefore is the example of docs/existing-tables.md.
const paidBefore = `machine: order
table:
  name: orders
  existing: true
  key: [{column: tenant_id, type: uuid}, {column: id, type: bigint}]
  status: state
  version: lock_version
states:
  PENDING: {initial: true}
  PAID: {final: true}
events:
  payment_succeeded:
    source: callback
    params: {payment_no: text, paid_cents: bigint}
    identity: [payment_no]
    fingerprint: [paid_cents]
    otherwise: {compensate: {states: '*', emit: [refund_due]}}
  payment_seen:
    source: callback
    params: {shop: text, nr: bigint, fee: bigint}
    identity: [shop, nr]
    fingerprint: [fee, shop]
    otherwise: {compensate: {states: '*', emit: [refund_due]}}
transitions:
  - {event: payment_succeeded, from: PENDING, to: PAID}
`

// documented is the SQL of the documentation that has the words in it.
func documented(t *testing.T, words string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/existing-tables.md")
	require.NoError(t, err)
	for i, part := range strings.Split(string(text), "```") {
		if sql, found := strings.CutPrefix(part, "sql\n"); i%2 == 1 && found && strings.Contains(sql, words) {
			return sql
		}
	}
	require.Fail(t, "no SQL in the documentation", words)
	return ""
}

// A payment that came before the machine, and is told to it as documented, is
// one that came already when it is delivered again.
func TestFactsOfBeforeAreTold(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	m := machineOf(t, paidBefore)
	s := &shop{t, testdb.New(t)}
	s.exec(`CREATE TABLE orders (tenant_id uuid, id bigint, state text, PRIMARY KEY (tenant_id, id));
		CREATE TABLE payments (payment_no text PRIMARY KEY, tenant_id uuid, order_id bigint, paid_cents integer, paid_at timestamptz);
		INSERT INTO orders VALUES ('` + tenant + `', 7, 'PAID');
		INSERT INTO payments VALUES ('N1', '` + tenant + `', 7, 100, now())`)
	files := fstest.MapFS{"00001_core.sql": {Data: gensql.Core()}, "00002_order.sql": {Data: migrationOf(t, m, nil)}}
	conn := stdlib.OpenDB(*s.pool.Config().ConnConfig)
	t.Cleanup(func() { _ = conn.Close() })
	provider, err := goose.NewProvider(goose.DialectPostgres, conn, files, goose.WithDisableGlobalRegistry(true))
	require.NoError(t, err)
	_, err = provider.Up(ctx)
	require.NoError(t, err)
	sql := documented(t, "INSERT INTO order_facts")
	s.exec(sql)
	s.exec(sql)
	// The same for an identity and a fingerprint of several.
	s.exec(`INSERT INTO order_facts (event, identity, fingerprint, tenant_id, id, outcome, from_status, to_status, version, at)
		SELECT 'payment_seen', jsonb_build_array('EU', 7)::text, jsonb_build_array(5, 'EU')::text, tenant_id, id, 'Applied', to_status, to_status, version, now() FROM order_history`)
	s.finds(nothing, m, model.Past{})

	p := programOf(t, m, nil, keys[1].args)
	paid := func(nr string, cents int) args { return args{"payment_no": nr, "paid_cents": cents} }
	p.says(t, s.pool, "Replayed PAID 1 - payment_succeeded PAID>PAID 1", "PaymentSucceeded", paid("N1", 100))
	p.says(t, s.pool, "Mismatched PAID 1 - payment_succeeded PAID>PAID 1", "PaymentSucceeded", paid("N1", 101))
	p.says(t, s.pool, "Replayed PAID 1 - payment_seen PAID>PAID 1", "PaymentSeen", args{"shop": "EU", "nr": 7, "fee": 5})
	require.Equal(t, "0", s.text(`SELECT count(*)::text FROM fsm_outbox`))
	p.says(t, s.pool, "Compensated PAID 1 - payment_succeeded PAID>PAID 1", "PaymentSucceeded", paid("N2", 100))
	require.Equal(t, "1", s.text(`SELECT count(*)::text FROM fsm_outbox`), "what it was not told of counts")

	var problems diag.List
	files = fstest.MapFS{"definitions/order.yaml": {Data: []byte(paidBefore)}, "queries/told.sql": {Data: []byte(sql)}}
	machines, err := pipeline.Lint(ctx, files, []string{pipeline.Definitions}, &problems)
	require.NoError(t, err)
	_, allowed, err := pipeline.Bypass(ctx, files, []string{"queries"}, machines, &problems)
	require.NoError(t, err)
	require.Equal(t, 1, allowed)
	require.Zero(t, problems.Errors(), "%v", problems.Sorted())
}
