package grants

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A role is worth what those who were given it may do besides: what a login was granted
// before there was this file, owns, or has by a role of its own is refused too.
func TestWhatALoginMayByItselfIsRefused(t *testing.T) {
	t.Parallel()
	s := open(t, functions)
	const database = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I OWNER TO %I', current_database(), 'NAME'); END $$"
	var admin string
	require.NoError(t, s.pool.QueryRow(t.Context(), "SELECT current_user").Scan(&admin))
	s.run(s.named("CREATE ROLE pawl_other; CREATE TYPE mood AS ENUM ('good', 'bad')"))
	for _, wrong := range []struct{ do, undo, attack, says string }{
		{
			"GRANT UPDATE ON orders TO pawl_login_app", "REVOKE ALL ON orders FROM pawl_login_app",
			"UPDATE orders SET status = 'PAID', version = version + 1", "pawl_login_app on orders by pawl_login_app",
		},
		{
			"GRANT UPDATE (total_cents) ON orders TO pawl_login_app", "REVOKE ALL (total_cents) ON orders FROM pawl_login_app",
			"UPDATE orders SET total_cents = 1", "pawl_login_app on orders by pawl_login_app",
		},
		{
			"GRANT DELETE ON order_facts TO pawl_other; GRANT pawl_other TO pawl_login_app", "REVOKE pawl_other FROM pawl_login_app; REVOKE ALL ON order_facts FROM pawl_other",
			"DELETE FROM order_facts", "pawl_login_app on order_facts by pawl_other",
		},
		{
			"GRANT DELETE ON goose_db_version TO pawl_login_app", "REVOKE ALL ON goose_db_version FROM pawl_login_app",
			"DELETE FROM goose_db_version", "pawl_login_app on goose_db_version",
		},
		{
			strings.Replace(database, "NAME", "pawl_login_app", 1), strings.Replace(database, "NAME", admin, 1),
			"DROP TABLE order_history CASCADE", "pawl_login_app of pg_database_owner",
		},
		{
			"ALTER SCHEMA public OWNER TO pawl_login_app", "ALTER SCHEMA public OWNER TO pg_database_owner",
			"DROP TABLE order_history CASCADE", "pawl_login_app in schema public",
		},
		{
			"GRANT CREATE ON SCHEMA public TO pawl_login_app", "REVOKE CREATE ON SCHEMA public FROM pawl_login_app",
			"CREATE FUNCTION public.mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'", "pawl_login_app in schema public",
		},
		{
			"GRANT pg_write_all_data TO pawl_login_app", "REVOKE pg_write_all_data FROM pawl_login_app",
			"UPDATE orders SET total_cents = 1", "pawl_login_app of pg_write_all_data",
		},
		{
			"GRANT EXECUTE ON FUNCTION pg_read_file(text) TO pawl_login_app", "REVOKE EXECUTE ON FUNCTION pg_read_file(text) FROM pawl_login_app",
			"SELECT pg_read_file('PG_VERSION')", "pawl_login_app pg_read_file",
		},
		{
			"GRANT SET ON PARAMETER session_replication_role TO pawl_login_app", "REVOKE SET ON PARAMETER session_replication_role FROM pawl_login_app",
			"SET LOCAL session_replication_role = replica", "pawl_login_app session_replication_role",
		},
		{
			"ALTER ROLE pawl_login_app CREATEROLE", "ALTER ROLE pawl_login_app NOCREATEROLE",
			"CREATE ROLE pawl_other_still", "pawl_login_app of pawl_login_app",
		},
		{
			"ALTER TYPE mood OWNER TO pawl_login_app", "ALTER TYPE mood OWNER TO pawl_migrator",
			"ALTER TYPE mood RENAME VALUE 'bad' TO 'worse'", "type mood",
		},
	} {
		s.run(s.named(wrong.do))
		require.Empty(t, tried(t, s.as("app"), s.named(wrong.attack)), "%s: is no attack", wrong.do)
		require.Contains(t, s.refused(), s.named(wrong.says), wrong.do)
		s.run(s.named(wrong.undo))
		require.NotEmpty(t, tried(t, s.as("app"), s.named(wrong.attack)), "%s: was not undone", wrong.do)
	}
	require.Empty(t, s.refused())
}
