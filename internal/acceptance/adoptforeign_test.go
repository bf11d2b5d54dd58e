package acceptance

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/testdb"
)

// plain is a table that can be taken in.
const plain = `CREATE TABLE parcels (id bigint PRIMARY KEY, state text NOT NULL, total_cents bigint, due_at timestamptz);
	INSERT INTO parcels VALUES (1, 'PENDING', 100), (2, 'PAID', 100);`

// takenIn is the machine of a storage whose table was there before.
func takenIn(t *testing.T, s storage, k keyed) *model.Machine {
	t.Helper()
	return machineOf(t, existing(s.definition(k)))
}

// catalog is all that a schema holds, with what it is.
const catalog = `SELECT string_agg(o.what, E'\n' ORDER BY o.what) FROM (
	SELECT concat_ws(' ', c.relname, c.relkind, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid), pg_get_indexdef(c.oid)) AS what
		FROM pg_class AS c LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND c.relkind = 'r'
		LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
		WHERE c.relnamespace = 'public'::regnamespace AND c.relname NOT LIKE 'goose%' AND c.relkind IN ('r', 'i', 'v', 'S')
	UNION ALL SELECT pg_get_functiondef(p.oid) FROM pg_proc AS p WHERE p.pronamespace = 'public'::regnamespace
	UNION ALL SELECT pg_get_triggerdef(g.oid) FROM pg_trigger AS g WHERE NOT g.tgisinternal
	UNION ALL SELECT k.conname || pg_get_constraintdef(k.oid) FROM pg_constraint AS k WHERE k.connamespace = 'public'::regnamespace
) AS o`

// What the user has under a name of ours is neither replaced nor, on the way
// back, dropped: it is named before anything is changed.
func TestWhatTheUserHasIsNotTakenOver(t *testing.T) {
	t.Parallel()
	m := takenIn(t, storages[0], keys[0])
	nothing := ` RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;`
	for name, tc := range map[string]struct{ sql, want string }{
		"history":       {`CREATE TABLE parcel_history (id bigint, note text)`, "parcel_history"},
		"history alike": {`CREATE TABLE parcel_history (id bigint, version bigint, event text, from_status text, to_status text, at timestamptz)`, "parcel_history"},
		"facts":         {`CREATE VIEW parcel_facts AS SELECT 1 AS one`, "parcel_facts"},
		"facts key":     {`CREATE INDEX parcel_facts_key_idx ON parcels (total_cents)`, "parcel_facts_key_idx"},
		"history key":   {`CREATE TABLE notes (id bigint CONSTRAINT parcel_history_pkey PRIMARY KEY)`, "parcel_history_pkey"},
		"index":         {`CREATE INDEX parcels_deadline_idx ON parcels (total_cents)`, "parcels_deadline_idx"},
		"wider index":   {`CREATE INDEX parcels_deadline_idx ON parcels (due_at)`, "parcels_deadline_idx"},
		"other index":   {`CREATE INDEX parcels_deadline_idx ON parcels (due_at) WHERE total_cents > 0`, "parcels_deadline_idx"},
		"functions":     {`CREATE FUNCTION parcel_forget()` + nothing + `CREATE FUNCTION parcel_refuse_edge()` + nothing, "parcel_forget, parcel_refuse_edge"},
		"procedure":     {`CREATE PROCEDURE parcel_adopt() LANGUAGE sql AS 'SELECT 1'`, "parcel_adopt"},
		"triggers": {`CREATE FUNCTION mine()` + nothing + `CREATE TRIGGER parcel_edge AFTER UPDATE ON parcels FOR EACH ROW EXECUTE FUNCTION mine();
			CREATE TRIGGER parcel_gone AFTER DELETE ON parcels FOR EACH ROW EXECUTE FUNCTION mine()`, "trigger parcel_edge, trigger parcel_gone"},
		"check":          {`ALTER TABLE parcels ADD CONSTRAINT parcels_total_cents_fsm_check CHECK (total_cents > 5)`, "constraint parcels_total_cents_fsm_check"},
		"in another one": {`CREATE SCHEMA other; CREATE TABLE other.parcel_history (id bigint); ALTER DATABASE here SET search_path = public, other`, "parcel_history"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shop{t, testdb.New(t)}
			s.exec(plain)
			s.exec(strings.Replace(tc.sql, "DATABASE here", "DATABASE "+s.text(`SELECT quote_ident(current_database())`), 1))
			provider := adoption(t, s, m)
			before := s.text(catalog)
			_, err := provider.Up(t.Context())
			require.ErrorContains(t, err, "something else is called as what parcel needs: "+tc.want+"; rename it")
			require.Equal(t, "42710", sqlState(t, err))
			require.Equal(t, before, s.text(catalog))
		})
	}
}

// Whatever has only something of our names in common is of no matter.
func TestWhatIsNotInTheWayStays(t *testing.T) {
	t.Parallel()
	s := &shop{t, testdb.New(t)}
	s.exec(plain + `CREATE INDEX parcels_deadline_idx ON parcels (due_at) WHERE due_at IS NOT NULL;
		CREATE FUNCTION parcel_forget(id bigint) RETURNS bigint LANGUAGE sql AS 'SELECT id';
		CREATE TABLE other (id bigint);
		CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
		CREATE TRIGGER parcel_edge AFTER UPDATE ON other FOR EACH ROW EXECUTE FUNCTION mine();
		CREATE SCHEMA hidden; CREATE TABLE hidden.parcel_history (id bigint)`)
	provider := adoption(t, s, takenIn(t, storages[0], keys[0]))
	_, err := provider.Up(t.Context())
	require.NoError(t, err)
	_, err = provider.DownTo(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, "2 hidden.parcel_history", s.text(`SELECT concat(parcel_forget(2), ' ', 'hidden.parcel_history'::regclass) FROM pg_trigger WHERE tgname = 'parcel_edge'`))
}

// An adoption that was cut off after any of its statements goes on when it is
// run again, since it knows its own.
func TestACutOffAdoptionKnowsItsOwn(t *testing.T) {
	t.Parallel()
	m := takenIn(t, storages[1], keys[1])
	s := &shop{t, testdb.New(t)}
	s.exec(`CREATE TYPE parcel_state AS ENUM ('PENDING', 'PAID')`)
	s.exec(`CREATE TABLE parcels (tenant_id uuid, id bigint, state parcel_state, PRIMARY KEY (tenant_id, id))`)
	provider := adoption(t, s, m)
	all := statements(string(migrationOf(t, m, nil)))
	require.Greater(t, len(all), 20)
	for done := range all {
		conn := s.conn() // what is set ends with its session
		for _, statement := range all[:done+1] {
			_, err := conn.Exec(t.Context(), statement)
			require.NoError(t, err, "after %d: %s", done, statement)
		}
		require.NoError(t, conn.Close(t.Context()))
	}
	_, err := provider.Up(t.Context())
	require.NoError(t, err)
	_, err = provider.DownTo(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, "0", s.text(`SELECT ((SELECT count(*) FROM pg_class WHERE relname ~ '^parcels?_(history|facts|deadline)') + (SELECT count(*) FROM pg_proc WHERE proname LIKE 'parcel%'))::text`))
}

// A column that is no longer declared is the user's again, default, NOT NULL and
// all; the check of its definition goes, and comes again on the way back.
func TestAColumnIsGivenBack(t *testing.T) {
	t.Parallel()
	yaml := strings.Replace(existing(storages[0].definition(keys[0])), "paid_cents:  {type: bigint, default: 0}",
		"paid_cents:  {type: bigint, default: 0}\n    weight: {type: bigint, default: 3, check: weight > 0}\n    note: text", 1)
	s := &shop{t, testdb.New(t)}
	s.exec(`CREATE TABLE parcels (id bigint PRIMARY KEY, state text NOT NULL, total_cents bigint, weight bigint NOT NULL DEFAULT 9, note text NOT NULL);
		INSERT INTO parcels VALUES (1, 'PENDING', 100, 5, 'mine')`)
	full := machineOf(t, yaml)
	_, err := adoption(t, s, full).Up(t.Context())
	require.NoError(t, err)
	columns := `SELECT string_agg(concat_ws(' ', a.attname, a.attnotnull, pg_get_expr(d.adbin, d.adrelid)), ', ' ORDER BY a.attname)
		FROM pg_attribute AS a LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum WHERE a.attrelid = 'parcels'::regclass AND a.attname IN ('weight', 'note')`
	checks := `SELECT count(*)::text FROM pg_constraint WHERE conrelid = 'parcels'::regclass AND conname = 'parcels_weight_fsm_check'`
	had := s.text(columns)
	require.Contains(t, had, "note t")
	require.Equal(t, "1", s.text(checks))

	was := gensql.SchemaOf(full)
	less := machineOf(t, existing(storages[0].definition(keys[0])))
	migration := string(migrationOf(t, less, &was))
	for _, statement := range statements(migration) {
		s.exec(statement)
	}
	require.Equal(t, had, s.text(columns))
	require.Equal(t, "0", s.text(checks))
	_, back, _ := strings.Cut(migration, "-- +goose Down")
	s.exec(back)
	require.Equal(t, had, s.text(columns))
	require.Equal(t, "1", s.text(checks))

	now, err := gensql.Embedded([]byte(migration))
	require.NoError(t, err)
	require.Len(t, now, 1)
	require.Empty(t, now[0].Left)
	require.Nil(t, now[0].Pending, "nothing is left to be done when the programs of before are gone")

	for _, statement := range statements(migration) {
		s.exec(statement)
	}
	s.exec(`ALTER TABLE parcels ALTER COLUMN weight DROP NOT NULL`) // it is the user's, who does as he likes
	var problems diag.List
	files := gensql.Migrations(full, &now[0], &problems)
	require.Empty(t, problems.Sorted())
	for _, file := range files {
		for _, statement := range statements(string(file)) {
			s.exec(statement)
		}
	}
	require.Equal(t, "note t, weight t 3", s.text(columns), "declared again, it is what the definition says")
	require.Equal(t, "1", s.text(checks))
}
