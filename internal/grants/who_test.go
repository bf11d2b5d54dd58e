package grants

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// may is what a role may do with a table: r reads all columns, d deletes; i and u are
// the columns that it may give and change, or * for all.
type may struct {
	r, d bool
	i, u string
}

var (
	look = may{r: true}
	all  = may{r: true, d: true, i: "*", u: "*"}
	adds = may{r: true, i: "*"}
)

// beside is what the service may do with the tables of the packages beside the
// machines, in both forms.
var beside = map[string]may{
	"fsm_command": all, "fsm_command_archive": adds, "fsm_token": all,
	"fsm_consumed": all, "fsm_dead_letters": all,
	"fsm_deliveries": all, "fsm_inbox": all, "fsm_inbox_archive": adds, "fsm_refused_deliveries": all,
	"fsm_attempt_keys": adds, "fsm_attempts": all, "fsm_attempt_steps": adds, "fsm_attempts_archive": adds,
	"fsm_outbox_holds": all, "fsm_outbox_sent": all, "fsm_outbox_aside": {r: true, i: "*", u: "*"},
	"fsm_audit": adds,
}

const (
	orderSets   = "status version deadline_at deadline_runs paid_cents refund_cents refunded_cents payment_no paid_at"
	orderGives  = "order_id status version deadline_at customer_id sku quantity total_cents"
	historyOwn  = "version event from_status to_status actor reason request_id at"
	factGives   = "event identity fingerprint outcome from_status to_status version at"
	outboxGives = "machine key version event topic payload at"
	auditGives  = "machine key version action from_status to_status actor reason request_id at"
)

// byStatements is what the service may do with the machines' tables where it writes
// by statements of its own. It cannot force: that takes the column forced of a history.
var byStatements = map[string]may{
	"orders":          {r: true, i: orderGives, u: orderSets},
	"order_history":   {r: true, i: "order_id " + historyOwn},
	"order_facts":     {r: true, i: "order_id " + factGives},
	"payments":        {r: true, i: "payment_no status version deadline_at order_id amount_cents", u: "status version deadline_at deadline_runs paid_cents provider_ref settled_at"},
	"payment_history": {r: true, i: "payment_no " + historyOwn},
	"payment_facts":   {r: true, i: "payment_no " + factGives},
	"articles":        {r: true, i: "article_id status version title body", u: "status version published_at"},
	"article_history": {r: true, i: "article_id " + historyOwn},
	"fsm_outbox":      {r: true, d: true, i: outboxGives, u: "hold"},
}

// hidden are columns that somebody who only looks must not see.
var hidden = map[string]string{
	"fsm_token": "hash reply", "fsm_command": "fingerprint headers body", "fsm_command_archive": "fingerprint headers body", "fsm_deliveries": "headers body",
	"fsm_dead_letters": "payload metadata", "fsm_attempts": "request result", "fsm_attempt_steps": "data", "fsm_attempts_archive": "request result steps",
}

// tablesOf lists the tables of machines and packages, with their columns, as the
// database has them.
func tablesOf(t *testing.T, s *stage) map[string][]string {
	t.Helper()
	rows, err := s.pool.Query(t.Context(), `
		SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum)
		FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname !~ '^(shop_|goose_)'
		GROUP BY c.relname`)
	require.NoError(t, err)
	tables := map[string][]string{}
	var name string
	var columns []string
	_, err = pgx.ForEachRow(rows, []any{&name, &columns}, func() error {
		tables[name] = slices.Clone(columns)
		return nil
	})
	require.NoError(t, err)
	return tables
}

// want is what a role may do with a table in a form.
func want(form, role, table string) may {
	given, own := byStatements[table]
	if m, ok := beside[table]; ok {
		given = m
	}
	switch role {
	case "migrator":
		return all
	case "reader":
		return look
	case "support":
		if form == functions {
			return look
		}
		switch {
		case strings.HasSuffix(table, "_history"):
			given.i += " forced"
		case table == "fsm_audit":
			return may{r: true, i: auditGives}
		case table == "fsm_outbox":
			return may{r: true, i: outboxGives}
		case !own:
			return look
		}
		return given
	}
	switch {
	case form == functions && table == "fsm_outbox":
		return may{r: true, d: true, u: "hold"}
	case form == functions && own:
		return look
	}
	return given
}

// Every table, column, verb and role: what may be done can be, and nothing else.
func TestWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	for _, form := range []string{statements, functions} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			s := open(t, form)
			tables := tablesOf(t, s)
			for name := range beside {
				require.Contains(t, tables, name)
			}
			refunds := byStatements["refunds"]
			require.Empty(t, refunds, "the table below says what it may")
			for _, role := range roles {
				conn := s.as(role)
				for name, columns := range tables {
					if strings.HasPrefix(name, "refund") {
						continue // the same again
					}
					s.tryTable(t, conn, form, role, name, columns)
				}
			}
		})
	}
}

// tryTable tries every verb. Where it is granted, something else may refuse it, such as
// a CHECK: what counts is whether the privilege does.
func (s *stage) tryTable(t *testing.T, conn *pgx.Conn, form, role, table string, columns []string) {
	t.Helper()
	m := want(form, role, table)
	unseen := strings.Fields(hidden[table])
	allowed := func(yes bool, sql string) {
		t.Helper()
		got := tried(t, conn, sql)
		require.Equal(t, !yes, got == denied, "%s, %s: %s ends with %q", form, role, sql, got)
	}
	in := func(list, column string) bool { return list == "*" || slices.Contains(strings.Fields(list), column) }
	for _, c := range columns {
		secret := slices.Contains(unseen, c) && (role == "reader" || role == "support")
		allowed(m.r && !secret, fmt.Sprintf("SELECT %q FROM %s LIMIT 0", c, table))
		allowed(in(m.i, c), fmt.Sprintf("INSERT INTO %s (%q) VALUES (DEFAULT)", table, c))
		allowed(in(m.u, c), fmt.Sprintf("UPDATE %s SET %q = DEFAULT WHERE false", table, c))
	}
	owner := role == "migrator"
	allowed(m.d, fmt.Sprintf("DELETE FROM %s WHERE false", table))
	for _, sql := range []string{
		"TRUNCATE %s CASCADE", "ALTER TABLE %s ADD COLUMN more integer", "ALTER TABLE %s DISABLE TRIGGER USER", "DROP TABLE %s CASCADE",
		"COMMENT ON TABLE %s IS 'mine'", "CREATE INDEX ON %s ((1))", "ALTER TABLE %s OWNER TO CURRENT_USER",
	} {
		allowed(owner, fmt.Sprintf(sql, table))
	}
	if !owner {
		require.Equal(t, "", given(t, conn, table), "%s may hand on", role)
	}
}

// given is what everybody may do with a table once the session has tried to give it all
// away: whoever may do something, and not hand it on, is only warned.
func given(t *testing.T, conn *pgx.Conn, table string) (list string) {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(t.Context())) }()
	if _, err = tx.Exec(t.Context(), "GRANT ALL ON "+table+" TO PUBLIC"); err != nil {
		require.Equal(t, denied, state(t, err))
		return ""
	}
	require.NoError(t, tx.QueryRow(t.Context(), `
		SELECT COALESCE(string_agg(a.privilege_type, ' '), '') FROM pg_class AS c, aclexplode(c.relacl) AS a
		WHERE c.oid = $1::regclass AND a.grantee = 0`, table).Scan(&list))
	return list
}

// What is no table: the schema, roles, sequences, functions.
func TestWhoMayDoElse(t *testing.T) {
	t.Parallel()
	for _, form := range []string{statements, functions} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			s := open(t, form)
			a := func(roles ...string) []string { return roles }
			for _, tc := range []struct {
				sql string
				may []string
			}{
				{"CREATE TABLE mine (x integer)", a("migrator")},
				{"CREATE FUNCTION mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'", a("migrator")},
				{"CREATE SCHEMA mine", nil},
				{"CREATE EXTENSION pg_trgm", nil},
				{"CREATE ROLE mine", nil},
				{"SET ROLE " + s.prefix + "writer", nil},
				{"SET ROLE " + s.prefix + "migrator", a("migrator")},
				{"SET ROLE " + s.prefix + "support", a("support")},
				{"SET ROLE " + s.prefix + "reader", a("support", "reader")},
				{"SET SESSION AUTHORIZATION " + s.prefix + "writer", nil},
				{"SET session_replication_role = replica", nil}, // triggers would not fire
				{"SELECT nextval('fsm_fence'), nextval('fsm_command_fence')", a("app", "migrator")},
				{"SELECT setval('fsm_fence', 1)", a("migrator")},
				{"ALTER SEQUENCE fsm_fence RESTART", a("migrator")},
				{"ALTER FUNCTION order_refuse_edge() RESET search_path", a("migrator")},
				{"DROP TRIGGER order_edge ON orders", a("migrator")},
				{"COPY orders TO PROGRAM 'true'", nil},
				{"SELECT pg_read_file('/etc/passwd')", nil},
				{"LOCK TABLE orders IN ACCESS EXCLUSIVE MODE", a("migrator")},
			} {
				for _, role := range roles {
					if role == "migrator" && strings.HasPrefix(tc.sql, "SET ROLE") {
						continue // a session of it has that role, and its members' are a superuser's to give
					}
					conn := s.as(role)
					got := tried(t, conn, tc.sql)
					require.Equal(t, !slices.Contains(tc.may, role), got == denied, "%s: %s ends with %q", role, tc.sql, got)
					require.NoError(t, conn.Close(t.Context()))
				}
			}
		})
	}
}
