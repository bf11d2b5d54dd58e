package acceptance

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/audit"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/testdb"
)

// long is so long that nothing of these tests is late: their clock stands at noon.
const long = 200 * 365 * 24 * time.Hour

// finds audits the database and compares what is found, a line each.
func (s *shop) finds(want []string, m *model.Machine, past model.Past) audit.Report {
	s.t.Helper()
	lines := []string{}
	report, err := audit.Run(s.t.Context(), s.pool.Config().ConnString(), []*model.Machine{m}, audit.Options{
		Overdue: long, OutboxAge: long, Limit: 100, Past: map[string]model.Past{m.Name: past},
		Found: func(f audit.Finding) error {
			lines = append(lines, f.TextLine())
			return nil
		},
	})
	require.NoError(s.t, err)
	require.Equal(s.t, want, lines)
	for _, note := range report.Notes { // of guards as migrations make them
		require.NotContains(s.t, note, "not written as migrations write it")
	}
	return report
}

var nothing = []string{}

// unguarded runs SQL that the triggers of the table would refuse.
func (s *shop) unguarded(sql string) {
	s.t.Helper()
	s.exec("BEGIN; ALTER TABLE parcels DISABLE TRIGGER USER; " + sql + "; ALTER TABLE parcels ENABLE TRIGGER USER; COMMIT")
}

// at is the key with another id, as the arguments of a call and as an audit
// shows it.
func (k keyed) at(id int) args {
	given := maps.Clone(k.args)
	for name := range given {
		if name != "fsm_key_tenant_id" {
			given[name] = id
		}
	}
	return given
}

func (k keyed) shown(id int) string { return strings.Replace(k.text, "7", fmt.Sprint(id), 1) }

// does makes a call on the row of an id and compares how its answer begins.
func (p program) does(s *shop, k keyed, id int, want, name string, given args) {
	s.t.Helper()
	p.key = k.at(id)
	got, err := p.call(name, given)(s.t.Context(), s.pool)
	require.NoError(s.t, err)
	require.True(s.t, strings.HasPrefix(got, want+" "), "%s %d: %s, not %s", name, id, got, want)
}

// before is a table that was there before its machine, with eight rows, as
// somebody may have made it: varchar, an enum that lacks states, no primary key.
func (s storage) before(k keyed) string {
	types := map[string]string{"text": "varchar(20)", "enum": "parcel_state", "codes": "smallint"}
	tenantColumn, tenantValue := "", ""
	if len(k.args) > 1 {
		tenantColumn, tenantValue = "tenant_id uuid NOT NULL, ", "'"+tenant+"', "
	}
	return strings.NewReplacer(":TYPE", types[s.name], ":PENDING", s.raw["PENDING"], ":PAYING", s.raw["PAYING"], ":PAID", s.raw["PAID"],
		":TENANT", tenantColumn, ":OF", tenantValue, ":KEY", k.columns).Replace(`
		CREATE TYPE parcel_state AS ENUM ('PENDING', 'PAYING', 'PAID');
		CREATE TABLE parcels (:TENANTid bigint NOT NULL, state :TYPE NOT NULL DEFAULT :PENDING, total_cents bigint NOT NULL,
			CONSTRAINT parcels_status_check CHECK (state IS NOT NULL), CONSTRAINT parcels_version_check CHECK (id > 0));
		CREATE UNIQUE INDEX parcels_of_old ON parcels (:KEY);
		INSERT INTO parcels SELECT :OFg, (ARRAY[:PENDING, :PAYING, :PAID, :PENDING]::text[]::` + types[s.name] + `[])[g % 4 + 1], 100 FROM generate_series(1, 8) AS g`)
}

// inserted is a row that a program of before its machine makes.
func (s *shop) inserted(k keyed, id int) {
	s.t.Helper()
	s.exec(fmt.Sprintf(`INSERT INTO parcels (%s, total_cents) VALUES (%s%d, 100)`, k.columns, strings.TrimSuffix(k.values, "8"), id))
}

// existing says of a definition that its table was there before.
func existing(definition string) string {
	return strings.Replace(definition, "name: parcels", "name: parcels\n  existing: true", 1)
}

// everyTable runs a test on each storage and key, with tables that are made for the machine, or were there.
func everyTable(t *testing.T, test func(t *testing.T, s storage, k keyed, taken bool)) {
	everyStorage(t, func(t *testing.T, s storage, k keyed) {
		for name, taken := range map[string]bool{"made": false, "taken in": true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, s, k, taken)
			})
		}
	})
}

// An audit finds nothing in what the calls leave, however the table keeps
// states and keys and whoever made it, and in a damaged one the damage alone.
func TestAnAuditOfEveryStorage(t *testing.T) {
	t.Parallel()
	everyTable(t, func(t *testing.T, st storage, k keyed, taken bool) {
		definition, status := st.definition(k), "parcels_status_check"
		if taken {
			definition, status = existing(definition), "parcels_fsm_status_check"
		}
		m := machineOf(t, definition)
		s := &shop{t, testdb.New(t)}
		if taken {
			s.exec(st.before(k))
		}
		_, err := adoption(t, s, m).Up(t.Context())
		require.NoError(t, err)
		p := programOf(t, m, nil, k.args)
		to := func(state string) args { return args{"fsm_to": state, "fsm_actor": "ann", "fsm_reason": "ticket"} }
		if taken {
			s.finds(nothing, m, model.Past{})
			s.inserted(k, 100)
			s.finds([]string{"parcel " + k.shown(100) + " version 1: no-history: the row has no history; if a program of before its machine inserted it, CALL parcel_adopt() takes it in"}, m, model.Past{})
			s.inserted(k, 101)
			p.does(s, k, 101, "Applied CANCELLED 2", "Cancel", nil) // before it is taken in
			s.exec(`CALL parcel_adopt()`)
			s.finds(nothing, m, model.Past{})
			p.does(s, k, 100, "Applied CANCELLED 2", "Cancel", nil)
			p.does(s, k, 4, "Applied PAYING 2", "Pay", nil)
			p.does(s, k, 4, "Applied PAID 3", "Paid", args{"nr": "N4", "cents": 100})
			p.does(s, k, 8, "Applied SHIPPED 2", "Correct", to("SHIPPED"))
		}
		for id := 301; id <= 304; id++ {
			p.does(s, k, id, "Applied PENDING 1", "Create", args{"total_cents": 100})
		}
		p.does(s, k, 301, "Applied PAYING 2", "Pay", nil)
		require.Equal(t, k.shown(301)+" PAYING>PAYING 3", p.swept(t, s.pool, "SweepQuery", args{"fsm_now": noon.Add(time.Hour)}))
		require.Equal(t, k.shown(301)+" PAYING>PAYING 4", p.swept(t, s.pool, "SweepQuery", args{"fsm_now": noon.Add(2 * time.Hour)}))
		p.does(s, k, 301, "Compensated PAYING 4", "Paid", args{"nr": "N1", "cents": 99})
		s.finds(nothing, m, model.Past{}) // the deadline of 301 is used up
		p.does(s, k, 301, "Applied PAID 5", "Paid", args{"nr": "N2", "cents": 100})
		p.does(s, k, 301, "Applied SHIPPED 6", "Ship", args{"limit_cents": 100})
		p.does(s, k, 302, "Applied PAID 2", "Correct", to("PAID"))
		p.does(s, k, 303, "Applied CANCELLED 2", "Cancel", nil)
		require.Empty(t, s.finds(nothing, m, model.Past{}).Notes)

		s.unguarded(strings.NewReplacer(":shipped", st.raw["SHIPPED"], ":status", status).Replace(`
			UPDATE parcels SET state = :shipped WHERE id = 303;
			UPDATE parcels SET due_at = NULL WHERE id = 304;
			DELETE FROM parcel_facts WHERE version = 5;
			DELETE FROM fsm_audit WHERE version = 2 AND to_status = 'PAID';
			ALTER TABLE parcels DROP CONSTRAINT :status`))
		s.exec(`ALTER TABLE parcels DISABLE TRIGGER parcel_birth`)
		s.finds([]string{
			"parcel: constraint-missing: parcels has no " + status + ": CHECK of the states",
			"parcel: trigger-disabled: parcels: the trigger parcel_birth, which refuses rows that do not begin as they should, is disabled",
			"parcel " + k.shown(301) + ` version 5: fact-missing: "paid" has an identity and moved the row, and no fact says so`,
			"parcel " + k.shown(303) + ` version 2: history-mismatch: the row is SHIPPED, its history ends in "CANCELLED"`,
			"parcel " + k.shown(304) + " version 1: deadline-missing: the row has no deadline, so nothing moves it out of PENDING by expire",
			"parcel " + k.shown(302) + " version 2: unaudited-force: the entry is forced, and fsm_audit does not tell of it: the history was written by hand",
		}, m, model.Past{})
	})
}
