package acceptance

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/testdb"
)

// A migration that stops at what it finds leaves nothing that hurts the
// program of before: that inserts and updates as it always did.
func TestAStoppedAdoptionHurtsNobody(t *testing.T) {
	t.Parallel()
	const rails = `CREATE TABLE parcels (id bigint PRIMARY KEY, state smallint DEFAULT 30, total_cents bigint, lock_version integer DEFAULT 0);
		INSERT INTO parcels VALUES (1, 10, 100, 0), (2, 30, 100, 4);`
	for name, tc := range map[string]struct{ sql, want, mend string }{
		"versions below 1": {"", "parcels has 1 rows whose lock_version is below 1; count them up, then migrate again", "UPDATE parcels SET lock_version = lock_version + 1"},
		"no version":       {"UPDATE parcels SET lock_version = NULL", "parcels has rows without a value in: lock_version; give those rows a value, then migrate again", "UPDATE parcels SET lock_version = 1"},
		"unknown states":   {"UPDATE parcels SET lock_version = 1; INSERT INTO parcels VALUES (3, 99, 100, 1)", "parcels has rows in states that parcel does not have: 99 (1 rows); declare the states or", "DELETE FROM parcels WHERE id IN (3, 100)"},
		"a check":          {"UPDATE parcels SET lock_version = 1; INSERT INTO parcels VALUES (3, 10, 0, 1)", "parcels has 1 rows that the check of total_cents refuses; mend the rows, then", "UPDATE parcels SET total_cents = 1"},
		"another history":  {"UPDATE parcels SET lock_version = 1; CREATE TABLE parcel_history (parcel_id bigint)", "something else is called as what parcel needs: parcel_history; rename it", "DROP TABLE parcel_history"},
		"another index":    {"UPDATE parcels SET lock_version = 1; CREATE TABLE x (y int); CREATE INDEX parcels_deadline_idx ON x (y)", "needs: parcels_deadline_idx; rename", "DROP TABLE x"},
		"another function": {"UPDATE parcels SET lock_version = 1; CREATE FUNCTION parcel_forget() RETURNS int LANGUAGE sql AS 'SELECT 1'", "needs: parcel_forget; rename", "DROP FUNCTION parcel_forget()"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			m := machineOf(t, existing(storages[2].definition(keys[0])))
			s := &shop{t, testdb.New(t)}
			s.exec(rails + tc.sql)
			provider := adoption(t, s, m)
			_, err := provider.Up(ctx)
			require.ErrorContains(t, err, tc.want)
			s.exec(`INSERT INTO parcels (id) VALUES (100); UPDATE parcels SET state = 99 WHERE id = 100`)
			require.Equal(t, "99 0", s.text(`SELECT state || ' ' || lock_version FROM parcels WHERE id = 100`), "the defaults are those of before")
			s.exec(`DELETE FROM parcels WHERE id = 100`)
			s.exec(tc.mend)
			s.exec(`UPDATE parcels SET lock_version = 1 WHERE lock_version < 1`)
			_, err = provider.Up(ctx)
			require.NoError(t, err)
			s.exec(`INSERT INTO parcels (id, total_cents) VALUES (101, 1)`)
			require.Equal(t, "10 1", s.text(`SELECT state || ' ' || lock_version FROM parcels WHERE id = 101`), "the defaults fit")
		})
	}
}

// A row that comes in between the look and the constraint stops the migration,
// and the constraint is gone again.
func TestARowThatComesInBetween(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for constraint, row := range map[string]string{
		"parcels_fsm_status_check":      "(3, 99, 100, 1)",
		"parcels_fsm_version_check":     "(3, 10, 100, 0)",
		"parcels_total_cents_fsm_check": "(3, 10, 0, 1)",
		"parcels_fsm_null_check":        "(3, 10, NULL, 1)",
	} {
		m := machineOf(t, existing(storages[2].definition(keys[0])))
		s := &shop{t, testdb.New(t)}
		s.exec(`CREATE TABLE parcels (id bigint PRIMARY KEY, state smallint, total_cents bigint, lock_version integer)`)
		conn := s.conn()
		var err error
		for _, statement := range statements(string(migrationOf(t, m, nil))) {
			if strings.Contains(statement, "ADD CONSTRAINT "+constraint) {
				s.exec(`INSERT INTO parcels VALUES ` + row)
			}
			if _, err = conn.Exec(ctx, statement); err != nil {
				break
			}
		}
		require.ErrorContains(t, err, "such rows came in while the migration ran, and the constraint is gone again; mend the rows, then migrate again", constraint)
		require.ErrorContains(t, err, constraint)
		s.exec(`DELETE FROM parcels; INSERT INTO parcels VALUES ` + row)
	}
}

// What a program of before moved, along edges and with the version, is taken in
// again: in the middle of the history and at its end.
func TestMovesOfBeforeAreTakenIn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	everyStorage(t, func(t *testing.T, st storage, k keyed) {
		m := machineOf(t, existing(st.definition(k)))
		s := &shop{t, testdb.New(t)}
		s.exec(st.before(k))
		r := strings.NewReplacer(":paying", st.raw["PAYING"], ":shipped", st.raw["SHIPPED"], ":key", k.where)
		_, err := adoption(t, s, m).Up(ctx)
		require.NoError(t, err)
		p := programOf(t, m, nil, k.args)
		s.exec(r.Replace(`UPDATE parcels SET state = :paying, lock_version = 2 WHERE :key`))
		p.says(t, s.pool, "Applied PAID 3 - paid PAYING>PAID 3", "Paid", args{"nr": "N1", "cents": 100})
		s.exec(r.Replace(`UPDATE parcels SET state = :shipped, lock_version = 4 WHERE :key`))
		s.finds([]string{
			"parcel " + k.text + " version 3: version-gap: the history goes from version 1 to version 3",
			"parcel " + k.text + " version 4: history-mismatch: the row is at version 4, its history ends at version 3",
		}, m, model.Past{})
		for range 2 {
			s.exec(`CALL parcel_adopt()`)
			require.Equal(t, "adopted:>PENDING adopted:PENDING>PAYING paid:PAYING>PAID adopted:PAID>SHIPPED", p.history(t, s.pool))
			require.Equal(t, "1 2 3 4", s.text(`SELECT string_agg(version::text, ' ' ORDER BY version) FROM parcel_history WHERE id = 7`))
			s.finds(nothing, m, model.Past{})
		}
		_, err = p.call("Correct", args{"fsm_to": "PENDING", "fsm_actor": "a", "fsm_reason": "r"})(ctx, s.pool)
		require.NoError(t, err)
		s.exec(`UPDATE parcels SET due_at = '2020-01-01', due_runs = 2 WHERE id = 7`)
		s.exec(r.Replace(`UPDATE parcels SET state = :paying, lock_version = 6 WHERE :key`))
		s.exec(`CALL parcel_adopt()`)
		require.Equal(t, "true 0", s.text(`SELECT (due_at > now()) || ' ' || due_runs FROM parcels WHERE id = 7`), "the deadline is that of the state it is in now")
		s.finds(nothing, m, model.Past{})
	})
}
