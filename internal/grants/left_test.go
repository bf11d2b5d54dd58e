package grants

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/gen/order"
)

// generous is what somebody may have granted before there was this file, or beside it.
const generous = `
GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC, pawl_app, pawl_reader;
GRANT ALL ON ALL TABLES IN SCHEMA public TO pawl_support WITH GRANT OPTION;
GRANT UPDATE (total_cents), REFERENCES (order_id) ON orders TO pawl_app, pawl_reader;
GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO PUBLIC, pawl_app, pawl_reader;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO PUBLIC, pawl_app, pawl_reader;
GRANT CREATE ON SCHEMA public TO PUBLIC, pawl_app, pawl_writer, pawl_support, pawl_reader;
DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO PUBLIC, pawl_app, pawl_reader', current_database()); END $$;
ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO pawl_app, pawl_reader;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO pawl_app, pawl_reader;
`

// What was granted before is taken away where this file does not give it: then all is
// as it is on a new database.
func TestWhatWasGrantedBeforeIsTakenAway(t *testing.T) {
	t.Parallel()
	for _, form := range []string{statements, functions} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			s := open(t, form)
			want := s.rights()
			require.NotEmpty(t, want)
			s.run("CREATE TABLE mine (x integer)") // which the file does not touch
			s.run(s.named(generous))
			support := s.as("support")
			_, err := support.Exec(t.Context(), s.named("SET ROLE pawl_support; GRANT DELETE ON orders TO pawl_reader")) // by somebody who is not the owner
			require.NoError(t, err)
			app := s.as("app")
			require.NotEqual(t, denied, tried(t, app, "TRUNCATE order_facts"))
			s.run(s.file())
			require.Empty(t, less(s.rights(), want), "more than is meant")
			require.Empty(t, less(want, s.rights()), "less than is meant")
			for _, sql := range []string{
				"TRUNCATE order_facts", "DELETE FROM orders", "UPDATE orders SET total_cents = 1", "CREATE SCHEMA more", "CREATE TABLE more (x integer)",
				"SELECT setval('fsm_outbox_id_seq', 1)", "CREATE TRIGGER more BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION order_refuse_edge()",
				"DELETE FROM goose_db_version",
			} {
				require.Equal(t, denied, tried(t, app, sql), sql)
			}
			require.Empty(t, tried(t, app, "INSERT INTO mine VALUES (1)"))
			name := s.function("fsm_order_correct")
			require.Equal(t, denied, tried(t, app, "SELECT * FROM public."+name+"(NULL"+strings.Repeat(", NULL", strings.Count(s.arguments(name), ","))+")"))
		})
	}
}

// less are those of a list that are not in another.
func less(list, other []string) (more []string) {
	for _, one := range list {
		if _, found := slices.BinarySearch(other, one); !found {
			more = append(more, one)
		}
	}
	return more
}

// rights are all that the roles and PUBLIC have on what is the machines', in the
// stage's order, a line each.
func (s *stage) rights() []string {
	s.t.Helper()
	rows, err := s.pool.Query(s.t.Context(), `
		WITH lists (what, list) AS (
			SELECT c.oid::regclass::text, c.relacl FROM pg_class AS c WHERE c.relnamespace = 'public'::regnamespace AND c.relname NOT IN ('mine', 'goose_db_version') AND c.relname !~ '^shop_'
			UNION ALL
			SELECT c.relname || '.' || a.attname, a.attacl FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid WHERE c.relnamespace = 'public'::regnamespace AND c.relname !~ '^(mine|goose_|shop_)'
			UNION ALL
			SELECT p.oid::regprocedure::text, p.proacl FROM pg_proc AS p WHERE p.pronamespace = 'public'::regnamespace AND p.proname ~ '^fsm_.*_[0-9a-f]{10}$'
			UNION ALL
			SELECT 'public', n.nspacl FROM pg_namespace AS n WHERE n.nspname = 'public'
		)
		SELECT format('%s: %s %s%s', l.what, CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END, a.privilege_type, CASE WHEN a.is_grantable THEN ' to hand on' END)
		FROM lists AS l CROSS JOIN LATERAL aclexplode(l.list) AS a
		WHERE a.grantee = 0 OR a.grantee::regrole::text LIKE $1 || '%' ORDER BY 1`, s.prefix)
	require.NoError(s.t, err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(s.t, err)
	slices.Sort(list) // not as the database's collation has it
	return list
}

// Partitions are nobody's but the owner's: those that there are, and those that are
// made later, whatever whoever migrates gives by default.
func TestPartitionsAreTheOwnersAlone(t *testing.T) {
	t.Parallel()
	s := openTrials(t)
	s.run(s.named("GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC, pawl_app, pawl_reader; ALTER DEFAULT PRIVILEGES FOR ROLE pawl_migrator GRANT ALL ON TABLES TO pawl_app; ALTER DEFAULT PRIVILEGES FOR ROLE pawl_migrator IN SCHEMA public GRANT ALL ON TABLES TO PUBLIC"))
	before := s.partitions()
	s.run(s.file())
	_, err := s.as("migrator").Exec(t.Context(), "SELECT * FROM trial_history_keep(now() + interval '1 year')")
	require.NoError(t, err)
	after := s.partitions()
	require.Greater(t, len(after), len(before))
	require.NotEmpty(t, before)
	for _, role := range []string{"app", "support", "reader"} {
		conn := s.as(role)
		for _, part := range after {
			for _, sql := range []string{"SELECT 1 FROM %s", "TRUNCATE %s", "DELETE FROM %s", "UPDATE %s SET actor = 'x'", "INSERT INTO %s DEFAULT VALUES"} {
				sql = strings.Replace(sql, "%s", part, 1)
				require.Equal(t, denied, tried(t, conn, sql), "%s: %s", role, sql)
			}
		}
		require.Empty(t, tried(t, conn, "SELECT 1 FROM trial_history"))
	}
}

func (s *stage) partitions() []string {
	s.t.Helper()
	rows, err := s.pool.Query(s.t.Context(), `SELECT relid::text FROM pg_partition_tree('trial_history') WHERE isleaf ORDER BY 1`)
	require.NoError(s.t, err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(s.t, err)
	return list
}

// What the file cannot take away, or must not, it refuses to go on with, by a
// sentence that says what is so; and then nothing has changed.
func TestWhatMustNotBeIsRefused(t *testing.T) {
	t.Parallel()
	s := open(t, functions)
	name := s.function("fsm_order_correct")
	s.run(s.named("CREATE ROLE pawl_other; GRANT SELECT ON orders TO pawl_other; CREATE SCHEMA aside; GRANT USAGE, CREATE ON SCHEMA aside TO PUBLIC"))
	for _, wrong := range []struct{ do, undo, says string }{
		{"ALTER ROLE pawl_app LOGIN", "ALTER ROLE pawl_app NOLOGIN", "pawl_app may log in"},
		{"ALTER ROLE pawl_reader BYPASSRLS", "ALTER ROLE pawl_reader NOBYPASSRLS", "pawl_reader may log in, or more"},
		{"ALTER ROLE pawl_writer CREATEROLE", "ALTER ROLE pawl_writer NOCREATEROLE", "pawl_writer may log in, or more"},
		{"GRANT pawl_writer TO pawl_login_app", "REVOKE pawl_writer FROM pawl_login_app", "a member of pawl_writer"},
		{"GRANT pawl_migrator TO pawl_app", "REVOKE pawl_migrator FROM pawl_app", "pawl_app of pawl_migrator"},
		{"GRANT pawl_support TO pawl_app", "REVOKE pawl_support FROM pawl_app", "pawl_app of pawl_support"},
		{"GRANT pawl_app TO pawl_reader", "REVOKE pawl_app FROM pawl_reader", "pawl_reader of pawl_app"},
		{"GRANT pg_write_all_data TO pawl_app", "REVOKE pg_write_all_data FROM pawl_app", "pawl_app of pg_write_all_data"},
		{"GRANT pg_read_all_data TO pawl_reader", "REVOKE pg_read_all_data FROM pawl_reader", "pawl_reader of pg_read_all_data"},
		{"ALTER ROLE pawl_other CREATEROLE; GRANT pawl_other TO pawl_app", "ALTER ROLE pawl_other NOCREATEROLE; REVOKE pawl_other FROM pawl_app", "pawl_app of pawl_other"},
		{"ALTER ROLE pawl_app NOINHERIT; GRANT pawl_other TO pawl_app", "ALTER ROLE pawl_app INHERIT; REVOKE pawl_other FROM pawl_app", "pawl_app on orders by pawl_other"},
		{"GRANT pawl_other TO pawl_app; GRANT CREATE ON SCHEMA public TO pawl_other; REVOKE SELECT ON orders FROM pawl_other", "REVOKE pawl_other FROM pawl_app; REVOKE CREATE ON SCHEMA public FROM pawl_other", "may create in the schema, or schemas: pawl_app"},
		{"GRANT pawl_other TO pawl_app; GRANT DELETE ON goose_db_version TO pawl_other", "REVOKE pawl_other FROM pawl_app; REVOKE ALL ON goose_db_version FROM pawl_other", "the table of migrations: pawl_app"},
		{"GRANT pawl_other TO pawl_app; GRANT EXECUTE ON FUNCTION public." + name + " TO pawl_other", "REVOKE pawl_other FROM pawl_app; REVOKE ALL ON FUNCTION public." + name + " FROM pawl_other", "call what it should not: pawl_app " + name},
		{"GRANT EXECUTE ON FUNCTION pg_read_file(text) TO pawl_app", "REVOKE EXECUTE ON FUNCTION pg_read_file(text) FROM pawl_app", "call what it should not: pawl_app pg_read_file"},
		{"GRANT SET ON PARAMETER session_replication_role TO pawl_app", "REVOKE SET ON PARAMETER session_replication_role FROM pawl_app", "pawl_app session_replication_role"},
		{"CREATE FUNCTION aside.mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'; ALTER FUNCTION aside.mine() OWNER TO pawl_writer", "DROP FUNCTION aside.mine()", "no function of a machine's: aside.mine()"},
		{"CREATE FUNCTION same(text, uuid) RETURNS boolean LANGUAGE sql AS 'SELECT true'; ALTER FUNCTION same(text, uuid) OWNER TO pawl_login_app", "DROP FUNCTION same(text, uuid)", "same(text,uuid)"},
		{"CREATE FUNCTION aside.same(text, uuid) RETURNS boolean LANGUAGE sql AS 'SELECT true'; CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = uuid, FUNCTION = aside.same); ALTER OPERATOR public.= (text, uuid) OWNER TO pawl_login_app", "DROP FUNCTION aside.same(text, uuid) CASCADE", "=(text,uuid)"},
		{"CREATE FUNCTION aside.hit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; ALTER FUNCTION aside.hit() OWNER TO pawl_app; CREATE TRIGGER mine BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION aside.hit()", "DROP FUNCTION aside.hit() CASCADE", "trigger mine"},
	} {
		s.run(s.named(wrong.do))
		before := s.rights()
		require.Contains(t, s.refused(), s.named(wrong.says), wrong.do)
		require.True(t, slices.Equal(before, s.rights()), "nothing has changed by what was refused: %s", wrong.do)
		s.run(s.named(wrong.undo))
	}
	require.Empty(t, s.refused())
}

// Somebody who may create roles, and does not own what is the machines', cannot take
// rights away: PostgreSQL refuses, and nothing has changed.
func TestWhoCannotTakeAwayIsTold(t *testing.T) {
	t.Parallel()
	s := open(t, statements)
	s.run(s.named("GRANT DELETE ON orders TO pawl_app; CREATE ROLE pawl_other LOGIN CREATEROLE PASSWORD '" + password + "'"))
	config := s.pool.Config().ConnConfig.Copy()
	config.User, config.Password = s.prefix+"other", password
	conn, err := pgx.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	before := s.rights()
	_, err = conn.PgConn().Exec(t.Context(), s.file()).ReadAll()
	require.Equal(t, denied, state(t, err))
	require.Equal(t, before, s.rights())
}

// Tables that were there before their machine stay their owner's. Whoever may hand on
// rights on one, and does not own it, would give some by its own name that nobody else
// can take back: the file refuses.
func TestWhoeverRunsTheFileOwnsTheTables(t *testing.T) {
	t.Parallel()
	g := keptTables()
	require.NoError(t, g.err)
	s := openOn(t, g, g.migrations)
	s.run(s.named(`CREATE ROLE pawl_other; ALTER TABLE kept OWNER TO pawl_other; CREATE ROLE pawl_login_deploy LOGIN PASSWORD '` + password + `' IN ROLE pawl_migrator, pawl_writer;
		DO $$ BEGIN EXECUTE format('ALTER DATABASE %I OWNER TO pawl_login_deploy', current_database()); END $$; GRANT ALL ON kept TO pawl_login_deploy WITH GRANT OPTION`))
	run := func() error {
		_, err := s.as("deploy").PgConn().Exec(t.Context(), s.file()).ReadAll()
		return err
	}
	before := s.rights()
	err := run()
	require.Equal(t, "P0001", state(t, err), "%v", err)
	require.ErrorContains(t, err, "whoever runs this has to have the role that owns each table: kept")
	require.Equal(t, before, s.rights())
	s.run(s.named("REVOKE ALL ON kept FROM pawl_login_deploy CASCADE; GRANT pawl_other TO pawl_login_deploy"))
	require.NoError(t, run())
}

// A login of more than one role, and a role of somebody's own that has nothing to do
// with the machines, are nobody's business.
func TestWhatMayBeIsLeft(t *testing.T) {
	t.Parallel()
	s := open(t, functions)
	s.run(s.named(`CREATE TABLE mine (x integer); CREATE ROLE pawl_other; GRANT ALL ON mine TO pawl_other; GRANT pawl_other TO pawl_app; GRANT pg_monitor TO pawl_reader;
		GRANT pawl_support TO pawl_login_app; GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO pawl_other`))
	s.run("REVOKE ALL ON FUNCTION public." + s.function("fsm_order_correct") + ", public." + s.function("fsm_payment_correct") + ", public." + s.function("fsm_refund_correct") + ", public." + s.function("fsm_article_correct") + " FROM " + s.prefix + "other")
	require.Empty(t, s.refused())
	app := s.as("app")
	require.Empty(t, tried(t, app, "INSERT INTO mine VALUES (1)"))
	_, err := order.Create(t.Context(), s.through(app), newOrder(key))
	require.NoError(t, err)
	require.Equal(t, "", tried(t, app, s.named("SET ROLE pawl_support")))
}
