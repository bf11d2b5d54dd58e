package pipeline_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// lease keeps nothing under the usual names, and its table was there before.
const lease = `machine: lease
table:
  name: leases
  EXISTING
  key: [{column: tenant, type: text}, {column: lease_no, type: bigint}]
  status: {column: phase, type: smallint}
  version: revision
  deadline: {at: due_at, runs: due_runs}
states:
  OFFERED: {initial: true, code: 10, deadline: {after: 1h, event: remind, max: 2}}
  SIGNED:  {code: 20, resting: true}
events:
  remind: {otherwise: {ignore: '*'}}
  sign: {params: {deed_no: text}, identity: [deed_no]}
transitions:
  - {event: remind, from: OFFERED, to: OFFERED}
  - {event: sign, from: OFFERED, to: SIGNED}
`

// Hand-written SQL is held to the names that the machine really has: a column
// of the usual name is anybody's where the machine's has another.
func TestBypassKnowsTheNamesThereAre(t *testing.T) {
	t.Parallel()
	const fine = `UPDATE leases SET status = 'x', version = 1, deadline_at = NULL, deadline_runs = 0, note = '';
ALTER TABLE leases DROP CONSTRAINT leases_phase_check, DROP CONSTRAINT leases_revision_check, DROP CONSTRAINT OTHER_status_check, DROP COLUMN status;
`
	const around = `UPDATE leases SET phase = 20, revision = 2, due_at = NULL, due_runs = 1 WHERE tenant = 'a' AND lease_no = 1;
INSERT INTO leases (tenant, lease_no, phase) VALUES ('a', 1, 20);
ALTER TABLE leases DROP CONSTRAINT OWN_status_check;
ALTER TABLE leases DROP CONSTRAINT OWN_version_check;
ALTER TABLE leases DROP CONSTRAINT leases_pkey;
ALTER TABLE leases DISABLE TRIGGER lease_birth;
DELETE FROM lease_facts;
`
	for name, tc := range map[string]struct{ existing, own, other string }{
		"made":     {"", "leases", "leases_fsm"},
		"existing": {"  existing: true\n", "leases_fsm", "leases"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := strings.NewReplacer("  EXISTING\n", tc.existing, "OWN", tc.own, "OTHER", tc.other)
			fsys := fstest.MapFS{
				"definitions/lease.yaml": {Data: []byte(r.Replace(lease))},
				"queries/a_fine.sql":     {Data: []byte(r.Replace(fine))},
				"queries/b_around.sql":   {Data: []byte(r.Replace(around))},
			}
			var problems diag.List
			machines, err := pipeline.Lint(t.Context(), fsys, []string{pipeline.Definitions}, &problems)
			require.NoError(t, err)
			require.Empty(t, problems.Sorted())
			read, allowed, err := pipeline.Bypass(t.Context(), fsys, []string{"queries"}, machines, &problems)
			require.NoError(t, err)
			require.Equal(t, []int{2, 0}, []int{read, allowed})
			var b strings.Builder
			require.NoError(t, problems.Text(&b))
			require.Equal(t, r.Replace(`queries/b_around.sql:1:19: FSM070 the column "phase" of "leases" is set by machine "lease" alone: call one of its events
queries/b_around.sql:1:31: FSM070 the column "revision" of "leases" is set by machine "lease" alone: call one of its events
queries/b_around.sql:1:45: FSM070 the column "due_at" of "leases" is set by machine "lease" alone: call one of its events
queries/b_around.sql:1:60: FSM070 the column "due_runs" of "leases" is set by machine "lease" alone: call one of its events
queries/b_around.sql:2:39: FSM071 the INSERT gives the column "phase" of "leases", which is set by machine "lease" alone: call Create
queries/b_around.sql:3:36: FSM073 it drops the constraint "OWN_status_check", which guards "leases"
queries/b_around.sql:4:36: FSM073 it drops the constraint "OWN_version_check", which guards "leases"
queries/b_around.sql:5:36: FSM073 it drops the constraint "leases_pkey", which guards "leases"
queries/b_around.sql:6:36: FSM073 it disables the trigger "lease_birth", which guards "leases"
queries/b_around.sql:7:13: FSM072 the DELETE writes to "lease_facts", which machine "lease" keeps by itself
`), b.String())
		})
	}
}
