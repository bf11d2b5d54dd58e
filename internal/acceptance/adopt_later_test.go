package acceptance

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/testdb"
)

// evolved is a project with the adoption of a table by one definition, and what
// comes when the definition has changed to another.
func evolved(t *testing.T, db *shop, was, is string) *goose.Provider {
	t.Helper()
	var problems diag.List
	files := fstest.MapFS{"00001_core.sql": {Data: gensql.Core()}, "00002_parcel.sql": {Data: migrationOf(t, machineOf(t, was), nil)}}
	prev := gensql.SchemaOf(machineOf(t, was))
	for i, content := range gensql.Migrations(machineOf(t, is), &prev, &problems) {
		files[fmt.Sprintf("%05d_parcel.sql", 3+i)] = &fstest.MapFile{Data: content}
	}
	require.Empty(t, problems.Sorted())
	conn := stdlib.OpenDB(*db.pool.Config().ConnConfig)
	t.Cleanup(func() { _ = conn.Close() })
	provider, err := goose.NewProvider(goose.DialectPostgres, conn, files, goose.WithDisableGlobalRegistry(true))
	require.NoError(t, err)
	_, err = provider.UpTo(t.Context(), 2)
	require.NoError(t, err)
	return provider
}

// A column that is declared only later is taken as it is where the table has
// it, and added where it may be added; otherwise nothing is changed.
func TestAColumnIsDeclaredLater(t *testing.T) {
	t.Parallel()
	was := existing(storages[0].definition(keys[0]))
	for name, tc := range map[string]struct {
		column string // how the table has it, none for not at all
		yaml   string
		prepare, want,
		shape string // type, NOT NULL and default after it
	}{
		"not there, optional":       {"", "{type: text, optional: true}", "", "", "text f "},
		"not there, default":        {"", "{type: text, default: \"'EU'\"}", "", "", "text t 'EU'::text"},
		"not there, required":       {"", "text", "", "parcels is not what the definition says: there is no column region, and a new one would have no value for the rows there are; add it first, or", ""},
		"there, required":           {"text NOT NULL DEFAULT 'EU'", "text", "", "", "text t 'EU'::text"},
		"there, to be required":     {"text DEFAULT 'EU'", "text", "", "", "text t 'EU'::text"},
		"there, gets its default":   {"text", "{type: text, default: \"'EU'\", check: region <> ''}", "UPDATE parcels SET region = 'US'", "", "text t 'EU'::text"},
		"there, optional":           {"text", "{type: text, optional: true}", "", "", "text f "},
		"another type":              {"varchar(9)", "{type: text, optional: true}", "", "region is character varying(9), not text; alter the table first", ""},
		"optional, and must not be": {"text NOT NULL DEFAULT ''", "{type: text, optional: true}", "", "region is NOT NULL, not optional; alter", ""},
		"without a default":         {"text", "text", "UPDATE parcels SET region = 'US'", "region may be empty and has no default, and programs of before leave it so; alter", ""},
		"empty":                     {"text", "{type: text, default: \"'EU'\"}", "", "parcels has rows without a value in: region; give those rows a value, then migrate again", ""},
		"refused by the check":      {"text NOT NULL DEFAULT 'EU'", "{type: text, check: region <> 'EU'}", "", "parcels has 2 rows that the check of region refuses; mend the rows, then migrate again", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			s := &shop{t, testdb.New(t)}
			s.exec(`CREATE TABLE parcels (id bigint PRIMARY KEY, state text, total_cents bigint); INSERT INTO parcels VALUES (1, 'PENDING', 100), (2, 'PAID', 100)`)
			if tc.column != "" {
				s.exec("ALTER TABLE parcels ADD COLUMN region " + tc.column)
			}
			is := strings.Replace(was, "  columns:\n", "  columns:\n    region: "+tc.yaml+"\n", 1)
			provider := evolved(t, s, was, is)
			if tc.prepare != "" {
				s.exec(tc.prepare)
			}
			of := programOf(t, machineOf(t, was), nil, args{"fsm_key": 7})
			const shape = `SELECT COALESCE(string_agg(format_type(a.atttypid, a.atttypmod) || ' ' || left(a.attnotnull::text, 1) || ' ' || COALESCE(pg_get_expr(d.adbin, d.adrelid), ''), ''), 'none')
				FROM pg_attribute AS a LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum WHERE a.attrelid = 'parcels'::regclass AND a.attname = 'region'`
			const constraints = `SELECT count(*)::text FROM pg_constraint WHERE conrelid = 'parcels'::regclass AND contype = 'c'`
			before, had := s.text(shape), s.text(constraints)
			_, err := provider.Up(ctx)
			if tc.want != "" {
				require.ErrorContains(t, err, tc.want)
				require.Equal(t, []string{before, had}, []string{s.text(shape), s.text(constraints)})
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.shape, s.text(shape))
			of.says(t, s.pool, "Applied PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 100})
			if strings.Contains(tc.yaml, "check") {
				_, err = s.pool.Exec(ctx, `UPDATE parcels SET region = '' WHERE id = 1`)
				requireViolation(t, err, "parcels_region_fsm_check", "check")
			}
			_, err = provider.DownTo(ctx, 2)
			require.NoError(t, err)
			require.Equal(t, tc.shape, s.text(shape), "the way back leaves it")
			require.Equal(t, had, s.text(constraints))
			_, err = provider.Up(ctx)
			require.NoError(t, err)
		})
	}
}
