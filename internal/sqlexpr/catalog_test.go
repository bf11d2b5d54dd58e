package sqlexpr_test

import (
	"context"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/sqlexpr"
	"github.com/pawl-go/pawl/internal/testdb"
)

var update = flag.Bool("update", false, "write catalog.txt from the server's catalog")

// The lines of catalog.txt, as PostgreSQL's own catalog has them.
const catalogQuery = `
WITH named AS (SELECT oid, typname::text AS name FROM pg_type)
SELECT line FROM (
	SELECT 1 AS part, format('type %s %s %s %s', typname, typcategory, typispreferred::text::char, (typcollation <> 0)::text::char) AS line
	FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype <> 'c' AND typcategory <> 'A' AND typname NOT LIKE 'pg\_%'
	UNION ALL
	SELECT 2, format('cast %s %s %s', s.name, t.name, castcontext) FROM pg_cast JOIN named s ON s.oid = castsource JOIN named t ON t.oid = casttarget
	WHERE s.name NOT LIKE 'pg\_%' AND pg_cast.oid < 16384
	UNION ALL
	SELECT 3, format('operator %s %s %s', oprname, concat_ws(',', l.name, r.name), t.name)
	FROM pg_operator LEFT JOIN named l ON l.oid = oprleft JOIN named r ON r.oid = oprright JOIN named t ON t.oid = oprresult
	WHERE oprname = ANY ($1) AND oprnamespace = 'pg_catalog'::regnamespace
	UNION ALL
	SELECT 4, format('function %s %s %s %s %s %s', proname,
		coalesce((SELECT string_agg(name, ',' ORDER BY i) FROM unnest(proargtypes) WITH ORDINALITY a (oid, i) JOIN named USING (oid)), '-'),
		t.name, coalesce(v.name, '-'), pronargdefaults, coalesce(nullif(array_to_string(proargnames[:pronargs], ','), ''), '-'))
	FROM pg_proc JOIN named t ON t.oid = prorettype LEFT JOIN named v ON v.oid = provariadic
	WHERE proname = ANY ($2) AND pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND NOT proretset
) lines ORDER BY part, line COLLATE "C"`

func TestCatalogIsPostgreSQLs(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	var version int
	require.NoError(t, pool.QueryRow(context.Background(), "SELECT current_setting('server_version_num')::int / 10000").Scan(&version))
	rows, err := pool.Query(context.Background(), catalogQuery, sqlexpr.Operators(), sqlexpr.Functions())
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	if *update {
		require.Empty(t, os.Getenv("CI"), "data is not written anew in CI")
		require.Equal(t, 15, version, "the data is that of the oldest version")
		require.NoError(t, os.WriteFile("catalog.txt", []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	}
	kept, err := os.ReadFile("catalog.txt")
	require.NoError(t, err)
	if version == 15 {
		require.Equal(t, strings.Join(lines, "\n")+"\n", string(kept))
		return
	}
	require.Subset(t, lines, strings.Split(strings.TrimSpace(string(kept)), "\n"))
}
