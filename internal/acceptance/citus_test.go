package acceptance

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// citusRules stands in for Citus on plain PostgreSQL. It distributes nothing, but
// refuses what Citus's documentation says that it refuses.
const citusRules = `
CREATE TABLE distributed (name regclass PRIMARY KEY, by text NOT NULL, type regtype NOT NULL);

CREATE TABLE local (name regclass PRIMARY KEY);
CREATE VIEW pg_dist_partition AS SELECT name AS logicalrelid FROM distributed UNION ALL SELECT name FROM local;

CREATE FUNCTION citus_add_local_table_to_metadata(table_name regclass) RETURNS void LANGUAGE sql AS $$ INSERT INTO local VALUES (table_name) $$;

CREATE FUNCTION create_distributed_table(table_name regclass, distribution_column text, colocate_with text DEFAULT 'default') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  col record; bad text;
BEGIN
  SELECT attnum, atttypid::regtype AS type INTO STRICT col FROM pg_attribute WHERE attrelid = table_name AND attname = distribution_column;
  SELECT indexrelid::regclass INTO bad FROM pg_index WHERE indrelid = table_name AND indisunique AND NOT col.attnum = ANY (indkey::int2[]);
  IF bad IS NOT NULL THEN
    RAISE EXCEPTION '%: unique without the distribution column', bad;
  END IF;
  IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = table_name AND NOT tgisinternal) AND current_setting('citus.enable_unsafe_triggers', true) IS DISTINCT FROM 'on' THEN
    RAISE EXCEPTION '%: triggers', table_name;
  END IF;
  IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = table_name AND NOT tgisinternal AND tgtype & 1 = 0) THEN
    RAISE EXCEPTION '%: a trigger for each statement', table_name;
  END IF;
  IF colocate_with <> 'none' AND (SELECT d.type FROM distributed AS d WHERE d.name = colocate_with::regclass) IS DISTINCT FROM col.type THEN
    RAISE EXCEPTION '%: not to be colocated with %', table_name, colocate_with;
  END IF;
  INSERT INTO distributed VALUES (table_name, distribution_column, col.type);
END $$;`

// What distributes this repository's tables keeps to the rules, leaves every unique
// index as it was, and takes facts alone out of what goes with a row.
func TestTheCitusFileKeepsToTheRules(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../../gen/citus.sql")
	require.NoError(t, err)
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	unique := `SELECT string_agg(pg_get_indexdef(indexrelid), E'\n' ORDER BY indexrelid) FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid
		WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace AND c.relname NOT IN ('distributed', 'local')`
	var before, after string
	require.NoError(t, pool.QueryRow(t.Context(), unique).Scan(&before))
	_, err = pool.Exec(t.Context(), citusRules)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), "BEGIN;"+string(file)+";COMMIT") // one session, as psql's
	require.NoError(t, err)
	require.NoError(t, pool.QueryRow(t.Context(), unique).Scan(&after))
	require.Equal(t, before, after)

	var by string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT string_agg(name || ' by ' || by, ', ' ORDER BY name::text) FROM distributed`).Scan(&by))
	require.Equal(t, "article_history by article_id, articles by article_id, order_facts by identity, order_history by order_id, orders by order_id, "+
		"payment_facts by identity, payment_history by payment_no, payments by payment_no, refund_facts by identity, refund_history by refund_no, refunds by refund_no", by)

	_, err = order.Create(t.Context(), pool, order.CreateParams{Key: key1, CustomerID: "ann", Sku: "tea", Quantity: 1, TotalCents: 100})
	require.NoError(t, err)
	_, err = order.PaymentSucceeded(t.Context(), pool, key1, order.PaymentSucceededParams{PaymentNo: "P1", PaidCents: 100})
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), "DELETE FROM orders")
	require.NoError(t, err)
	var left string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT concat((SELECT count(*) FROM order_history), ' ', (SELECT string_agg(identity, ' ') FROM order_facts))`).Scan(&left))
	require.Equal(t, "0 P1", left, "the payment was counted, and stays so")
}

// The file passes over what Citus has already, so it is run again after each migration:
// a new machine and first facts are spread then, and the function that such a migration
// brought back leaves facts alone once more.
func TestTheCitusFileIsRunAgain(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../../gen/citus.sql")
	require.NoError(t, err)
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	_, err = pool.Exec(t.Context(), citusRules)
	require.NoError(t, err)
	shape := func() (text string) {
		t.Helper()
		_, err := pool.Exec(t.Context(), "BEGIN;"+string(file)+";COMMIT")
		require.NoError(t, err)
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT concat((SELECT string_agg(concat_ws(' ', name, by), ', ' ORDER BY name::text) FROM distributed), (SELECT count(*) FROM local),
			(SELECT string_agg(prosrc, '' ORDER BY proname) FROM pg_proc WHERE proname LIKE '%\_forget'))`).Scan(&text))
		return text
	}
	first := shape()
	require.NotContains(t, first, "DELETE FROM order_facts")
	require.Equal(t, first, shape())
	_, err = pool.Exec(t.Context(), `DELETE FROM distributed WHERE name::text LIKE 'article%' OR name = 'order_facts'::regclass;
		CREATE OR REPLACE FUNCTION order_forget() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM order_facts; RETURN NULL; END $$`)
	require.NoError(t, err)
	require.Equal(t, first, shape())
}

// The stand-in itself refuses what it is there to refuse.
func TestTheRulesOfCitusBite(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	_, err := pool.Exec(t.Context(), citusRules)
	require.NoError(t, err)
	for sql, want := range map[string]string{
		`SELECT create_distributed_table('order_facts', 'order_id', colocate_with => 'none')`:     "order_facts_pkey: unique without the distribution column",
		`SELECT create_distributed_table('orders', 'order_id', colocate_with => 'none')`:          "orders: triggers",
		`SELECT create_distributed_table('order_history', 'order_id', colocate_with => 'orders')`: "order_history: not to be colocated with orders",
	} {
		_, err := pool.Exec(t.Context(), sql)
		require.ErrorContains(t, err, want, sql)
	}
}
