package acceptance

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/testdb"
)

// grown is a table that was there long before its machine: an enum that lacks a
// state, a primary key of another name, and rows that children refer to.
const grown = `
	CREATE TYPE parcel_state AS ENUM ('PENDING', 'PAYING', 'PAID', 'CANCELLED');
	CREATE TABLE parcels (tenant_id uuid, id bigint, state parcel_state NOT NULL DEFAULT 'PENDING', total_cents bigint, note text,
		CONSTRAINT parcels_primary PRIMARY KEY (tenant_id, id));
	CREATE TABLE items (tenant_id uuid NOT NULL, parcel_id bigint NOT NULL, FOREIGN KEY (tenant_id, parcel_id) REFERENCES parcels);
	INSERT INTO parcels SELECT '` + tenant + `', g, (ARRAY['PENDING', 'PAYING', 'PAID', 'CANCELLED'])[g % 4 + 1]::parcel_state, 100, NULL FROM generate_series(1, 100000) AS g;
	INSERT INTO items SELECT tenant_id, id FROM parcels WHERE id <= 10;`

// adoption is a project whose second migration takes a table in.
func adoption(t *testing.T, db *shop, m *model.Machine) *goose.Provider {
	t.Helper()
	files := fstest.MapFS{"00001_core.sql": {Data: gensql.Core()}, "00002_parcel.sql": {Data: migrationOf(t, m, nil)}}
	conn := stdlib.OpenDB(*db.pool.Config().ConnConfig)
	t.Cleanup(func() { _ = conn.Close() })
	provider, err := goose.NewProvider(goose.DialectPostgres, conn, files, goose.WithDisableGlobalRegistry(true))
	require.NoError(t, err)
	_, err = provider.UpTo(t.Context(), 1)
	require.NoError(t, err)
	return provider
}

// statements are those of a migration's way up, as goose cuts them.
func statements(migration string) []string {
	up, _, _ := strings.Cut(migration, "-- +goose Down")
	_, up, _ = strings.Cut(up, "-- +goose Up\n")
	var all []string
	var open []string
	block := false
	for line := range strings.Lines(up) {
		switch {
		case strings.HasPrefix(line, "-- +goose StatementBegin"):
			block = true
		case strings.HasPrefix(line, "-- +goose StatementEnd"):
			block = false
			all, open = append(all, strings.Join(open, "")), nil
		case !block && (strings.TrimSpace(line) == "" || strings.HasPrefix(line, "--")):
		default:
			open = append(open, line)
			if !block && strings.HasSuffix(strings.TrimSpace(line), ";") {
				all, open = append(all, strings.Join(open, "")), nil
			}
		}
	}
	return all
}

// goOn writes as a program of before does, one transaction after the other,
// until told to stop. A statement that would wait long for a lock is an error.
func (s *shop) goOn(t *testing.T) (stop func() int64) {
	t.Helper()
	conn := s.conn()
	_, err := conn.Exec(t.Context(), `SET lock_timeout = '10s'`)
	require.NoError(t, err)
	var rounds atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		for n := int64(200000); ctx.Err() == nil; n++ {
			for _, sql := range []string{
				`INSERT INTO parcels (tenant_id, id, total_cents) VALUES ($1, $2, 100)`,
				`UPDATE parcels SET note = 'seen' WHERE tenant_id = $1 AND id = $2 % 1000 + 1`,
				`INSERT INTO items (tenant_id, parcel_id) VALUES ($1, $2)`,
			} {
				if _, err := conn.Exec(context.WithoutCancel(ctx), sql, tenant, n); err != nil {
					done <- err
					return
				}
			}
			rounds.Add(1)
		}
		done <- nil
	}()
	return func() int64 {
		cancel()
		require.NoError(t, <-done)
		return rounds.Load()
	}
}

// A big table is taken in while a program of before goes on. What holds the
// table against others reads none of its rows, and what does not get its lock
// gives up and can be run again.
func TestABigTableIsTakenIn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	m := machineOf(t, strings.Replace(storages[1].definition(keys[1]), "name: parcels", "name: parcels\n  existing: true", 1))
	s := &shop{t, testdb.New(t)}
	s.exec(grown)
	provider := adoption(t, s, m)

	// Somebody holds a row for long: the migration gives up and has done nothing.
	held := s.begin(pgx.TxOptions{})
	_, err := held.Exec(ctx, `UPDATE parcels SET note = 'mine' WHERE id = 4`)
	require.NoError(t, err)
	_, err = provider.Up(ctx)
	require.Equal(t, "55P03", sqlState(t, err))
	require.Equal(t, "0", s.text(`SELECT count(*)::text FROM pg_attribute WHERE attrelid = 'parcels'::regclass AND attname = 'lock_version'`))
	require.NoError(t, held.Commit(ctx))

	stop := s.goOn(t)
	read := s.runEach(statements(string(migrationOf(t, m, nil))))
	require.Greater(t, read, int64(300000), "three looks at 100,000 rows at least were seen by the measure")
	require.Positive(t, stop(), "the program of before went on")

	// Again a row is held, now when all that is left is to take the rows in.
	held = s.begin(pgx.TxOptions{})
	_, err = held.Exec(ctx, `UPDATE parcels SET note = 'mine' WHERE id = 4`)
	require.NoError(t, err)
	_, err = s.conn().Exec(ctx, `CALL parcel_adopt()`)
	require.Equal(t, "55P03", sqlState(t, err))
	require.ErrorContains(t, err, "1 rows of parcels are held by other transactions")
	require.Equal(t, "4", s.text(`SELECT string_agg(o.id::text, ' ') FROM parcels AS o WHERE NOT EXISTS (SELECT FROM parcel_history AS h WHERE h.id = o.id)`))
	require.NoError(t, held.Commit(ctx))

	// A cut-off attempt left an index of no use. Run once more, everything is there.
	s.exec(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'parcels_deadline_idx'::regclass`)
	_, err = provider.Up(ctx)
	require.NoError(t, err)
	require.Equal(t, "true", s.text(`SELECT indisvalid::text FROM pg_index WHERE indexrelid = 'parcels_deadline_idx'::regclass`))
	s.requireTakenIn()
	require.Equal(t, "0", s.text(`SELECT count(*)::text FROM parcels WHERE (due_at IS NULL) = (state IN ('PENDING', 'PAYING'))`))
	require.Equal(t, "seen", s.text(`SELECT note FROM parcels WHERE id = 1`))
	s.exec(`UPDATE parcels SET due_at = NULL WHERE id = 8`)
	s.exec(`CALL parcel_adopt()`)
	s.requireTakenIn()
	require.Equal(t, "1", s.text(`SELECT count(*)::text FROM parcels WHERE id = 8 AND due_at IS NULL`), "only what is taken in gets a deadline")

	s.servesAdopted(m)

	_, err = provider.DownTo(ctx, 1)
	require.NoError(t, err)
	require.Equal(t, "0", s.text(`SELECT count(*)::text FROM pg_class WHERE relname IN ('parcel_history', 'parcel_facts', 'parcels_deadline_idx')`))
	require.Equal(t, "0", s.text(`SELECT ((SELECT count(*) FROM pg_trigger WHERE tgrelid = 'parcels'::regclass AND NOT tgisinternal AND tgname LIKE 'parcel%') + (SELECT count(*) FROM pg_proc WHERE proname LIKE 'parcel%') + (SELECT count(*) FROM pg_constraint WHERE conrelid = 'parcels'::regclass AND contype = 'c'))::text`))
	s.exec(`UPDATE parcels SET state = 'PAID' WHERE id = 8`) // as before
	_, err = provider.Up(ctx)
	require.NoError(t, err)
	s.requireTakenIn()
	require.Equal(t, "adopted:>SHIPPED", programOf(t, m, nil, args{"fsm_key_tenant_id": tenant, "fsm_key_id": 4}).history(t, s.pool))
}

// runEach runs the statements, each in a transaction where it may be, and
// refuses those that read rows under a lock that keeps others from reading or
// writing. It returns how many rows were read in all.
func (s *shop) runEach(all []string) int64 {
	s.t.Helper()
	ctx, conn := s.t.Context(), s.conn()
	var total int64
	for _, statement := range all {
		if strings.HasPrefix(statement, "CALL ") {
			continue
		}
		if strings.Contains(statement, "CONCURRENTLY") {
			_, err := conn.Exec(ctx, statement)
			require.NoError(s.t, err, statement)
			continue
		}
		var rows int64
		var strong string
		for range 100 { // others write, so that a lock may not be had at once
			tx, err := conn.Begin(ctx)
			require.NoError(s.t, err)
			var earlier int64 // what earlier transactions read, and the server has not filed yet
			require.NoError(s.t, tx.QueryRow(ctx, `SELECT pg_stat_get_xact_tuples_returned('parcels'::regclass)`).Scan(&earlier))
			if _, err = tx.Exec(ctx, statement); err == nil {
				require.NoError(s.t, tx.QueryRow(ctx, `SELECT pg_stat_get_xact_tuples_returned('parcels'::regclass) - $1,
					COALESCE((SELECT string_agg(mode, ' ') FROM pg_locks WHERE pid = pg_backend_pid() AND relation = 'parcels'::regclass
						AND mode IN ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock')), '')`, earlier).Scan(&rows, &strong))
				require.NoError(s.t, tx.Commit(ctx))
				break
			}
			require.NoError(s.t, tx.Rollback(ctx))
			require.Equal(s.t, "55P03", sqlState(s.t, err), statement)
		}
		require.False(s.t, strong != "" && rows > 0, "%d rows were read under %s by: %s", rows, strong, statement)
		total += rows
	}
	return total
}

// requireTakenIn compares each row with the one entry that it begins with.
func (s *shop) requireTakenIn() {
	s.t.Helper()
	require.Equal(s.t, "0", s.text(`SELECT count(*)::text FROM parcels AS o FULL JOIN parcel_history AS h ON h.tenant_id = o.tenant_id AND h.id = o.id
		WHERE (h.event = 'adopted' AND h.from_status IS NULL AND h.to_status = o.state::text AND h.version = o.lock_version) IS NOT TRUE`))
}

// servesAdopted makes calls on a row that was taken in, and on a new one.
func (s *shop) servesAdopted(m *model.Machine) {
	s.t.Helper()
	p := programOf(s.t, m, nil, args{"fsm_key_tenant_id": tenant, "fsm_key_id": 4})
	p.says(s.t, s.pool, "Applied PAYING 2 - pay PENDING>PAYING 2", "Pay", args{"fsm_version": 1})
	p.says(s.t, s.pool, "Applied PAID 3 - paid PAYING>PAID 3", "Paid", args{"nr": "N1", "cents": 100})
	p.says(s.t, s.pool, "Replayed PAID 3 - paid PAYING>PAID 3", "Paid", args{"nr": "N1", "cents": 100})
	p.says(s.t, s.pool, "Applied SHIPPED 4 - ship PAID>SHIPPED 4", "Ship", args{"limit_cents": 100})
	require.Equal(s.t, "adopted:>PENDING pay:PENDING>PAYING paid:PAYING>PAID ship:PAID>SHIPPED", p.history(s.t, s.pool))
	s.exec(`DELETE FROM parcel_history WHERE id = 4 AND event = 'adopted'`)
	s.exec(`CALL parcel_adopt()`)
	require.Equal(s.t, "adopted:>PENDING pay:PENDING>PAYING paid:PAYING>PAID ship:PAID>SHIPPED", p.history(s.t, s.pool), "a row that moved first begins where it moved from")
	require.Equal(s.t, "1", s.text(`SELECT version::text FROM parcel_history WHERE id = 4 AND event = 'adopted'`))
	fresh := programOf(s.t, m, nil, args{"fsm_key_tenant_id": tenant, "fsm_key_id": 300000})
	fresh.says(s.t, s.pool, "Applied PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 100})
	fresh.says(s.t, s.pool, "Replayed PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 100})
	_, err := s.pool.Exec(s.t.Context(), `UPDATE parcels SET state = 'SHIPPED' WHERE id = 8`)
	requireViolation(s.t, err, "parcel_edge", "raw")
}

// Rows in a state that the machine does not know are named, and nothing but
// columns was added: whoever wrote before goes on.
func TestRowsInUnknownStatesAreNamed(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	m := machineOf(t, strings.Replace(storages[0].definition(keys[0]), "name: parcels", "name: parcels\n  existing: true", 1))
	s := &shop{t, testdb.New(t)}
	s.exec(`CREATE TABLE parcels (id bigint PRIMARY KEY, state varchar(20), total_cents bigint);
		INSERT INTO parcels VALUES (1, 'PENDING', 100), (2, 'LIMBO', 100), (3, 'LIMBO', 100), (4, 'PAID', 100), (5, '%', 100)`)
	provider := adoption(t, s, m)
	_, err := provider.Up(ctx)
	require.ErrorContains(t, err, "parcels has rows in states that parcel does not have: % (1 rows), LIMBO (2 rows)")
	s.exec(`INSERT INTO parcels VALUES (6, 'LIMBO', NULL)`)
	_, err = provider.Up(ctx)
	require.ErrorContains(t, err, "parcels has rows without a value in: total_cents")
	s.exec(`UPDATE parcels SET state = 'PENDING', total_cents = 1 WHERE state IN ('LIMBO', '%')`)
	_, err = provider.Up(ctx)
	require.NoError(t, err)
	require.Equal(t, "PENDING PENDING PENDING PAID PENDING PENDING", s.text(`SELECT string_agg(to_status, ' ' ORDER BY id) FROM parcel_history WHERE event = 'adopted'`))
}

// A table that is not what the definition says is refused before anything is
// changed.
func TestAnotherTableIsRefused(t *testing.T) {
	t.Parallel()
	m := machineOf(t, strings.Replace(storages[2].definition(keys[1]), "name: parcels", "name: parcels\n  existing: true", 1))
	for name, tc := range map[string]struct{ sql, want string }{
		"no table":     {`SELECT 1`, "parcels is no table here"},
		"a view":       {`CREATE VIEW parcels AS SELECT 1 AS id`, "parcels is no table here"},
		"other types":  {`CREATE TABLE parcels (tenant_id uuid, id integer, state bigint, PRIMARY KEY (tenant_id, id))`, "id is integer, not bigint; state is bigint, not smallint"},
		"another key":  {`CREATE TABLE parcels (tenant_id uuid, id bigint PRIMARY KEY)`, "no primary key or unique index of NOT NULL columns on exactly (tenant_id, id)"},
		"part of it":   {`CREATE TABLE parcels (tenant_id uuid NOT NULL, id bigint NOT NULL); CREATE UNIQUE INDEX ON parcels (tenant_id, id) WHERE id > 5`, "no primary key"},
		"may be empty": {`CREATE TABLE parcels (tenant_id uuid, id bigint UNIQUE); CREATE UNIQUE INDEX ON parcels (tenant_id, id)`, "no primary key"},
		"deferrable":   {`CREATE TABLE parcels (tenant_id uuid, id bigint, PRIMARY KEY (tenant_id, id) DEFERRABLE)`, "no primary key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shop{t, testdb.New(t)}
			s.exec(tc.sql)
			shape := `SELECT COALESCE(string_agg(attrelid::regclass || '.' || attname, ' ' ORDER BY attnum), '') FROM pg_attribute WHERE attrelid = to_regclass('parcels') AND attnum > 0`
			before := s.text(shape)
			_, err := adoption(t, s, m).Up(t.Context())
			require.ErrorContains(t, err, tc.want)
			require.Equal(t, before, s.text(shape))
		})
	}
}
