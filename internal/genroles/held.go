package genroles

import (
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/internal/sqlname"
)

// harmless are roles of PostgreSQL's own that read no rows and write none.
var harmless = []string{
	"pg_monitor", "pg_read_all_settings", "pg_read_all_stats", "pg_stat_scan_tables",
	"pg_signal_backend", "pg_signal_autovacuum_worker", "pg_checkpoint", "pg_use_reserved_connections",
}

// strong are settings of a superuser's by which somebody who was given one would get
// around triggers, or have a library of his loaded.
var strong = []string{
	"session_replication_role", "allow_system_table_mods", "dynamic_library_path", "session_preload_libraries",
	"lo_compat_privileges", "plpgsql.variable_conflict",
}

// fault is something that must not be: rows of a word for each.
type fault struct{ why, query string }

// faults are what must not be, however it came to be: what each role may do is what
// the grants above say, and nothing more by other roles, by grants of others, or by
// what somebody has made who could once. Their queries have who, the roles with
// rights; becomes, those and what each can become; and ours, see plan.ours.
func (p *plan) faults() []fault {
	n := p.names
	schema, writer, app := sqlname.Literal(n.Schema), sqlname.Literal(n.Writer), sqlname.Literal(n.App)
	// stranger is somebody's object that one with the rights of ours can replace, and
	// whoever migrates cannot.
	stranger := func(owner string) string {
		return fmt.Sprintf(`EXISTS (SELECT FROM pg_roles AS x WHERE x.oid = %[1]s AND NOT x.rolsuper AND NOT pg_has_role(x.oid, %[2]s, 'MEMBER') AND x.rolname <> %[3]s
      AND EXISTS (SELECT FROM who AS w WHERE w.name <> %[2]s AND (pg_has_role(x.oid, w.oid, 'MEMBER') OR pg_has_role(w.oid, x.oid, 'MEMBER'))))`,
			owner, sqlname.Literal(n.Migrator), writer)
	}
	return []fault{
		{"whoever runs this has to have the role that owns each table", `
    SELECT c.oid::regclass::text FROM ours AS o JOIN pg_class AS c ON c.oid = o.part WHERE NOT pg_has_role(c.relowner, 'USAGE')`},
		{"a role is a member of another, and may do more than it should", fmt.Sprintf(`
    SELECT format('%%s of %%s', b.name, r.rolname) FROM becomes AS b JOIN pg_roles AS r ON r.oid = b.other
    WHERE b.other <> b.oid AND (r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls
      OR r.oid IN (SELECT w.oid FROM who AS w)
      OR r.rolname LIKE 'pg\_%%' AND r.rolname NOT IN (%s) AND NOT (b.name = %s AND r.rolname = 'pg_database_owner'))`, literals(harmless), sqlname.Literal(n.Migrator))},
		{"a role has rights on a table by another role", fmt.Sprintf(`
    SELECT format('%%s on %%s by %%s', b.name, c.oid::regclass, b.other::regrole) FROM becomes AS b CROSS JOIN ours AS o JOIN pg_class AS c ON c.oid = o.part
    WHERE b.name <> %s AND b.other <> b.oid AND CASE WHEN c.relkind = 'S' THEN has_sequence_privilege(b.other, c.oid, 'USAGE, SELECT, UPDATE')
      ELSE has_table_privilege(b.other, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') OR has_any_column_privilege(b.other, c.oid, 'SELECT, INSERT, UPDATE, REFERENCES') END`, sqlname.Literal(n.Migrator))},
		{"rights are left that this file did not give", `
    SELECT format('%s on %s for %s', a.privilege_type, a.part::regclass, CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END)
    FROM (
      SELECT o.part, o.whole, c.relowner, e.* FROM ours AS o JOIN pg_class AS c ON c.oid = o.part CROSS JOIN LATERAL aclexplode(c.relacl) AS e
      UNION ALL
      SELECT o.part, o.whole, c.relowner, e.* FROM ours AS o JOIN pg_class AS c ON c.oid = o.part JOIN pg_attribute AS t ON t.attrelid = c.oid CROSS JOIN LATERAL aclexplode(t.attacl) AS e
    ) AS a
    WHERE a.grantee <> a.relowner AND (a.grantee = 0 OR a.grantee IN (SELECT w.oid FROM who AS w))
      AND (a.grantee = 0 OR a.part <> a.whole OR a.grantor <> a.relowner OR a.is_grantable)`},
		{"a role may change the table of migrations", fmt.Sprintf(`
    SELECT b.name FROM becomes AS b JOIN pg_class AS c ON c.relnamespace = %s::regnamespace AND c.relname = %s
    WHERE b.name <> %s AND has_table_privilege(b.other, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')`, schema, sqlname.Literal(sqlname.Versions), sqlname.Literal(n.Migrator))},
		{"a role may create in the schema, or schemas", fmt.Sprintf(`
    SELECT b.name FROM becomes AS b WHERE b.name <> %s
      AND (has_schema_privilege(b.other, %s, 'CREATE') OR has_database_privilege(b.other, current_database(), 'CREATE'))`, sqlname.Literal(n.Migrator), schema)},
		{"a role may call what it should not", fmt.Sprintf(`
    SELECT format('%%s %%s', b.name, p.oid::regprocedure) FROM becomes AS b JOIN pg_proc AS p ON p.proowner = %s::regrole
    WHERE b.name NOT IN (%[1]s, %s) AND has_function_privilege(b.other, p.oid, 'EXECUTE')
      AND NOT (b.name = %s AND p.proname !~ '_correct_[0-9a-f]{%d}$'%s OR b.name = %s)
    UNION ALL
    SELECT format('%%s %%s', a.grantee::regrole, p.oid::regprocedure) FROM pg_proc AS p CROSS JOIN LATERAL aclexplode(p.proacl) AS a
    WHERE p.pronamespace = 'pg_catalog'::regnamespace AND a.grantee IN (SELECT w.oid FROM who AS w)`, writer, sqlname.Literal(n.Migrator), app, digits, p.forcing(), sqlname.Literal(n.Support))},
		{"the writer owns what is no function of a machine's", fmt.Sprintf(`
    SELECT p.oid::regprocedure::text FROM pg_proc AS p
    WHERE p.proowner = %s::regrole AND (p.pronamespace <> %s::regnamespace OR p.proname !~ '^fsm_.*_[0-9a-f]{%d}$')`, writer, schema, digits)},
		{"somebody with the rights of a role here owns what the machines' SQL may run; drop it, or give it to the migrator", fmt.Sprintf(`
    SELECT p.oid::regprocedure::text FROM pg_proc AS p WHERE p.pronamespace = %[1]s::regnamespace AND %[2]s
    UNION ALL
    SELECT p.oid::regoperator::text FROM pg_operator AS p WHERE p.oprnamespace = %[1]s::regnamespace AND %[3]s
    UNION ALL
    SELECT format('type %%s', p.oid::regtype) FROM pg_type AS p WHERE p.typnamespace = %[1]s::regnamespace AND p.typtype IN ('e', 'd') AND %[4]s
    UNION ALL
    SELECT format('trigger %%s', t.tgname) FROM ours AS o JOIN pg_trigger AS t ON t.tgrelid = o.part AND NOT t.tgisinternal
      JOIN pg_proc AS p ON p.oid = t.tgfoid AND p.pronamespace <> %[1]s::regnamespace WHERE %[2]s`, schema, stranger("p.proowner"), stranger("p.oprowner"), stranger("p.typowner"))},
		{"a role may set what is a superuser's to set", fmt.Sprintf(`
    SELECT format('%%s %%s', b.name, s.name) FROM becomes AS b CROSS JOIN unnest(ARRAY[%s]) AS s(name)
    WHERE b.name <> %s AND has_parameter_privilege(b.other, s.name, 'SET')`, literals(strong), sqlname.Literal(n.Migrator))},
		{"whoever was given a role may do more than it by rights of his own", fmt.Sprintf(`
    SELECT format('%%s on %%s by %%s', l.name, a.part::regclass, a.has::regrole) FROM logins AS l JOIN (
      SELECT o.part, c.relowner AS has FROM ours AS o JOIN pg_class AS c ON c.oid = o.part
      UNION
      SELECT o.part, e.grantee FROM ours AS o JOIN pg_class AS c ON c.oid = o.part CROSS JOIN LATERAL aclexplode(c.relacl) AS e
      UNION
      SELECT o.part, e.grantee FROM ours AS o JOIN pg_attribute AS t ON t.attrelid = o.part CROSS JOIN LATERAL aclexplode(t.attacl) AS e
    ) AS a ON a.has <> 0 AND a.has NOT IN (SELECT w.oid FROM who AS w) AND pg_has_role(l.oid, a.has, 'MEMBER')
    UNION ALL
    SELECT format('%%s on %%s', l.name, c.oid::regclass) FROM logins AS l JOIN pg_class AS c ON c.relnamespace = %[1]s::regnamespace AND c.relname = %[2]s
    WHERE pg_has_role(l.oid, c.relowner, 'MEMBER') OR has_table_privilege(l.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
    UNION ALL
    SELECT format('%%s of %%s', l.name, r.rolname) FROM logins AS l JOIN pg_roles AS r ON pg_has_role(l.oid, r.oid, 'MEMBER')
    WHERE r.rolsuper OR r.rolcreaterole OR r.rolname LIKE 'pg\_%%' AND r.rolname NOT IN (%[3]s)
    UNION ALL
    SELECT format('%%s in schema %%s', l.name, s.nspname) FROM logins AS l JOIN pg_namespace AS s ON s.nspname = %[1]s
    WHERE pg_has_role(l.oid, s.nspowner, 'MEMBER') OR has_schema_privilege(l.oid, s.oid, 'CREATE')
    UNION ALL
    SELECT format('%%s in the database', l.name) FROM logins AS l WHERE has_database_privilege(l.oid, current_database(), 'CREATE')
    UNION ALL
    SELECT format('%%s %%s', l.name, p.oid::regprocedure) FROM logins AS l JOIN pg_proc AS p ON p.pronamespace = 'pg_catalog'::regnamespace
      CROSS JOIN LATERAL aclexplode(p.proacl) AS a WHERE a.grantee = l.oid
    UNION ALL
    SELECT format('%%s %%s', l.name, s.name) FROM logins AS l CROSS JOIN unnest(ARRAY[%[4]s]) AS s(name) WHERE has_parameter_privilege(l.oid, s.name, 'SET')`,
			schema, sqlname.Literal(sqlname.Versions), literals(harmless), literals(strong))},
	}
}

// forcing is a condition on p, a function of the writer's: that it is no correction of
// now, whatever its name.
func (p *plan) forcing() string { return p.without(func(s Statement) bool { return s.Forces }) }

// held refuses to commit where something must not be, and says all that.
func (p *plan) held() string {
	n := p.names
	var found strings.Builder
	for i, f := range p.faults() {
		if i > 0 {
			found.WriteString("\n    UNION ALL")
		}
		fmt.Fprintf(&found, "\n    SELECT %s, f.what FROM (%s\n    ) AS f(what)", sqlname.Literal(f.why), f.query)
	}
	return fmt.Sprintf(`
-- What must hold now: that nobody may do more than is said above, by whatever was
-- granted, made or joined before. What does not hold is said, and nothing is changed.
DO $$
DECLARE
  wrong text;
BEGIN
  WITH who AS (
    SELECT r.oid, r.rolname AS name FROM pg_roles AS r WHERE r.rolname IN (%s)
  ), becomes AS ( -- who reads is what support is too, and says so above
    SELECT w.oid, w.name, r.oid AS other FROM who AS w JOIN pg_roles AS r ON pg_has_role(w.oid, r.oid, 'MEMBER')
    WHERE NOT (w.name = %s AND r.rolname = %s)
  ), logins AS ( -- who was given one of them; one who makes roles is a member of those he made, and uses none
    SELECT r.oid, r.rolname AS name FROM pg_roles AS r
    WHERE NOT r.rolsuper AND r.oid NOT IN (SELECT w.oid FROM who AS w) AND NOT pg_has_role(r.oid, %s, 'MEMBER')
      AND EXISTS (SELECT FROM who AS w WHERE pg_has_role(r.oid, w.oid, CASE WHEN r.rolcreaterole THEN 'USAGE' ELSE 'MEMBER' END))
  ), ours AS (%s), found (why, what) AS (%s
  ), said AS (
    SELECT f.why || ': ' || string_agg(DISTINCT f.what, ', ' ORDER BY f.what) AS line FROM found AS f GROUP BY f.why
  )
  SELECT string_agg(s.line, '; ' ORDER BY s.line) INTO wrong FROM said AS s;
  IF wrong IS NOT NULL THEN
    RAISE EXCEPTION 'this must not be, and the file does not take it away: %%', wrong;
  END IF;
END $$;
`, literals([]string{n.Migrator, n.Writer, n.App, n.Support, n.Reader}), sqlname.Literal(n.Support), sqlname.Literal(n.Reader), sqlname.Literal(n.Migrator), p.ours(), found.String())
}
