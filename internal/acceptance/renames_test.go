package acceptance

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"testing/fstest"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/testdb"
)

// forcedEntry is where the edge trigger compares names of states.
var forcedEntry = regexp.MustCompile(`AND h\.forced AND .* THEN`)

// bothNames is a database that takes the state PAYING by its name of before
// too. The migration that leads there is the business of other tests; here its
// outcome is written by hand.
func bothNames(t *testing.T, m *model.Machine) *pgxpool.Pool {
	text := string(migrationOf(t, m, nil))
	text = strings.NewReplacer("= 'PAYING' AND", "IN ('PAYING', 'AWAITING') AND", "'PAYING'", "'PAYING', 'AWAITING'").Replace(text)
	text = strings.ReplaceAll(text, "THEN 'PAYING', 'AWAITING'", "THEN 'PAYING'") // of a code
	text = forcedEntry.ReplaceAllString(text, "AND h.forced) THEN")
	return testdb.New(t, testdb.WithMigrations(fstest.MapFS{
		"00001_core.sql": {Data: gensql.Core()}, "00002_parcel.sql": {Data: []byte(text)},
	}))
}

// While a state is renamed, programs of before, of the step expand and of the
// step migrate read one another's rows, history and facts.
func TestARenameIsReadByBothNames(t *testing.T) {
	t.Parallel()
	for _, s := range storages {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.isPaid = "state IS NOT NULL"
			text := s.definition(keys[0])
			m := machineOf(t, strings.Replace(text, "PAYING:    {", "PAYING:    {was: AWAITING, ", 1))
			db := bothNames(t, m)
			of := func(step string) program {
				return programOf(t, m, &gensql.Schema{Renames: []gensql.Rename{{Was: "AWAITING", Is: "PAYING", Step: step}}}, keys[0].args)
			}
			expand, migrate := of(gensql.RenameExpand), of(gensql.RenameMigrate)
			before := programOf(t, machineOf(t, strings.ReplaceAll(text, "PAYING", "AWAITING")), nil, keys[0].args)
			stored := func(name string) {
				t.Helper()
				if s.codes {
					name = "20"
				}
				require.Equal(t, name, textIn(t, db, `SELECT state::text FROM parcels`))
			}
			at := func(minutes int) args { return args{"fsm_now": noon.Add(time.Duration(minutes) * time.Minute)} }
			to := func(state string) args { return args{"fsm_to": state, "fsm_actor": "ann", "fsm_reason": "ticket"} }
			fact := args{"nr": "N1", "cents": 99}

			expand.says(t, db, "Applied PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 100})
			before.says(t, db, "Applied AWAITING 2 - pay PENDING>AWAITING 2", "Pay", nil)
			for _, p := range []struct {
				program
				name string
			}{{before, "AWAITING"}, {expand, "PAYING"}, {migrate, "PAYING"}} {
				p.says(t, db, strings.ReplaceAll("Replayed X 2 - pay PENDING>X 2", "X", p.name), "Pay", nil)
				p.says(t, db, strings.ReplaceAll("Ignored X 2 - pay PENDING>X 2", "X", p.name), "Expire", nil)
			}
			expand.says(t, db, "Compensated PAYING 2 - paid PAYING>PAYING 2", "Paid", fact)
			before.says(t, db, "Replayed AWAITING 2 - paid AWAITING>AWAITING 2", "Paid", fact)
			migrate.says(t, db, "Replayed PAYING 2 - paid PAYING>PAYING 2", "Paid", fact)
			stored("AWAITING")

			require.Equal(t, "7 PAYING>PAYING 3", migrate.swept(t, db, "SweepQuery", at(15)))
			stored("PAYING")
			expand.says(t, db, "Replayed PAYING 3 - pay PENDING>PAYING 2", "Pay", nil)
			require.Equal(t, "7 PAYING>PAYING 4", expand.swept(t, db, "SweepQuery", at(30)))
			stored("AWAITING")
			require.Empty(t, migrate.swept(t, db, "SweepQuery", at(9999)), "the loop was counted through both names")

			migrate.says(t, db, "Ignored PAYING 4 -  > 0", "Correct", to("PAYING"))
			expand.says(t, db, "Ignored PAYING 4 -  > 0", "Correct", to("PAYING"))
			expand.says(t, db, "Applied PENDING 5 - correct PAYING>PENDING 5", "Correct", to("PENDING"))
			expand.says(t, db, "Applied PAYING 6 - correct PENDING>PAYING 6", "Correct", to("PAYING"))
			stored("AWAITING")
			migrate.says(t, db, "Applied PENDING 7 - correct PAYING>PENDING 7", "Correct", to("PENDING"))
			migrate.says(t, db, "Applied PAYING 8 - pay PENDING>PAYING 8", "Pay", nil)
			stored("PAYING")

			const told = "create:>PENDING pay:PENDING>PAYING query:PAYING>PAYING query:PAYING>PAYING correct:PAYING>PENDING correct:PENDING>PAYING correct:PAYING>PENDING pay:PENDING>PAYING"
			require.Equal(t, told, expand.history(t, db))
			require.Equal(t, told, migrate.history(t, db))
			require.Equal(t, ">PENDING PENDING>AWAITING PAYING>PAYING AWAITING>AWAITING AWAITING>PENDING PENDING>AWAITING PAYING>PENDING PENDING>PAYING",
				textIn(t, db, `SELECT string_agg(concat(from_status, '>', to_status), ' ' ORDER BY version) FROM parcel_history`), "each step writes its name")
			require.Equal(t, "AWAITING>AWAITING", textIn(t, db, `SELECT from_status || '>' || to_status FROM parcel_facts`))
			require.Equal(t, "refund_due AWAITING>AWAITING|query_due PAYING>PAYING|query_due AWAITING>AWAITING", textIn(t, db,
				`SELECT string_agg(concat(topic, ' ', payload ->> 'from', '>', payload ->> 'to'), '|' ORDER BY id) FROM fsm_outbox`))
			require.Equal(t, "AWAITING>PENDING|PENDING>AWAITING|PAYING>PENDING", textIn(t, db, `SELECT string_agg(from_status || '>' || to_status, '|' ORDER BY id) FROM fsm_audit`))
		})
	}
}

// Without a rename under way, the migrations make no difference to a statement.
func TestNoRenameNoDifference(t *testing.T) {
	t.Parallel()
	for _, s := range storages {
		m := machineOf(t, s.definition(keys[1]))
		schema := gensql.SchemaOf(m)
		require.Equal(t, string(gensql.Queries(m, nil)), string(gensql.Queries(m, &schema)))
		schema.Renames = []gensql.Rename{{Was: "X", Is: "GONE", Step: gensql.RenameMigrate}}
		require.Equal(t, string(gensql.Queries(m, nil)), string(gensql.Queries(m, &schema)), "a state that is gone")
	}
}
