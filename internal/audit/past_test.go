package audit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/audit"
	"github.com/pawl-go/pawl/internal/model"
)

// What earlier migrations made is no damage, and nothing more is let pass than
// they say.
func TestThePastIsNoDamage(t *testing.T) {
	t.Parallel()
	d := migrated(t)
	d.exec(leases)
	d.exec(`ALTER TABLE leases DISABLE TRIGGER USER;
		ALTER TABLE leases DROP CONSTRAINT leases_fsm_status_check, ADD CONSTRAINT leases_fsm_status_check CHECK (phase IN (10, 20, 30, 40, -5, 60));
		INSERT INTO leases VALUES ('c', 1, -5, 2, now(), 0), ('c', 2, 60, 1, NULL, 0), ('c', 3, 20, 2, now(), 0), ('c', 4, 40, 2, NULL, 0);
		INSERT INTO lease_history (tenant, lease_no, version, event, from_status, to_status) VALUES
			('c', 1, 1, 'create', NULL, 'DRAFT'), ('c', 1, 2, 'put_off', 'DRAFT', 'LATER'),
			('c', 2, 1, 'create', NULL, 'DRAFT'),
			('c', 3, 1, 'create', NULL, 'OFFERED'), ('c', 3, 2, 'sign', 'OFFERED', 'ACCEPTED'),
			('c', 4, 1, 'create', NULL, 'OFFERED'), ('c', 4, 2, 'give_up', 'OFFERED', 'ENDED');
		INSERT INTO lease_facts (event, identity, tenant, lease_no, outcome, from_status, to_status, version) VALUES
			('sign', 'd3', 'c', 3, 'Applied', 'OFFERED', 'SIGNED', 2), ('give_up', 'g4', 'c', 4, 'Applied', 'OFFERED', 'ENDED', 2);
		ALTER TABLE leases ENABLE TRIGGER USER`)
	m := define(t, lease)
	var lines []string
	o := options(&lines)
	o.Past = map[string]model.Past{"lease": {
		States:  []model.PastState{{Name: "LATER", Code: -5, Pending: true}, {Name: "DRAFT", Code: 60}},
		Initial: []string{"OFFERED", "DRAFT"}, Identities: []string{"give_up"}, Due: []string{"ACCEPTED"},
		Edges: [][2]string{{"DRAFT", "LATER"}, {"OFFERED", "ENDED"}},
	}}
	report, err := audit.Run(t.Context(), d.url, []*model.Machine{m}, o)
	require.NoError(t, err)
	require.Equal(t, []string{`lease ["c", 2] version 1: unknown-state: the row is "60", which is no state of the definition`}, lines)
	require.Equal(t, []string{
		`lease: the database knows the state "60", the definition does not: it is older than the database, or the state is gone`,
		"lease: the due times of rows in SIGNED are not judged: programs generated before move them too",
		"lease: 1 row is in the retired state PAUSED",
		"lease: 1 row is in the state LATER, which is no longer declared: programs generated before still bring rows there",
	}, report.Notes)

	// Without the past, all of it is found.
	lines, _ = d.audit(m)
	require.Equal(t, []string{
		`lease ["c", 1] version 2: unknown-state: the row is "-5", which is no state of the definition`,
		`lease ["c", 1] version 1: unknown-state: "create" led to "DRAFT", which is no state of the definition`,
		`lease ["c", 1] version 2: unknown-state: "put_off" led to "LATER", which is no state of the definition`,
		`lease ["c", 2] version 1: unknown-state: the row is "60", which is no state of the definition`,
		`lease ["c", 2] version 1: unknown-state: "create" led to "DRAFT", which is no state of the definition`,
		`lease ["c", 3] version 2: stray-deadline: the row has a deadline, and SIGNED has none`,
		`lease ["c", 4] version 2: illegal-edge: "give_up" led from OFFERED to ENDED, which no transition does`,
		`lease ["c", 4] version 2: unknown-fact: there is a fact of "give_up", which is no event with an identity`,
	}, lines)
}

// fsm_audit keeps the names of when it was written, after the history has got
// the new ones and the definition no longer says was.
func TestACorrectionOfAFormerNameIsAudited(t *testing.T) {
	t.Parallel()
	d := fixture(t)
	d.exec(`UPDATE fsm_audit SET from_status = 'NEW', to_status = 'DONE'`)
	audited := func(former ...[2]string) []string {
		lines := []string{}
		o := options(&lines)
		o.Past = map[string]model.Past{"order": {Former: former}}
		_, err := auditRun(t, d, o)
		require.NoError(t, err)
		return lines
	}
	require.Empty(t, audited([2]string{"NEW", "PENDING"}, [2]string{"DONE", "SHIPPED"}, [2]string{"DONE", "COMPLETED"}))
	unaudited := []string{`order 00000000-0000-4000-8000-000000000003 version 2: unaudited-force: the entry is forced, and fsm_audit does not tell of it: the history was written by hand`}
	require.Equal(t, unaudited, audited([2]string{"NEW", "PENDING"}, [2]string{"DONE", "SHIPPED"}))
	require.Equal(t, unaudited, audited([2]string{"NEW", "PENDING"}))
	require.Equal(t, unaudited, audited())
}

// Migrations tell edges, and not by which events: that an event which is not
// declared any more had one of today's edges is as possible as that it had one
// that is gone.
func TestAnEventOfThenIsForgiven(t *testing.T) {
	t.Parallel()
	past := map[string]model.Past{"order": {Edges: [][2]string{{"PAYING", "CANCELLED"}, {"PENDING", "PAYING"}}}}
	audited := func(event string, past map[string]model.Past) []string {
		d := fixture(t)
		d.exec(`UPDATE order_history SET event = '` + event + `' WHERE order_id = '` + string(cancelled) + `' AND version = 3`)
		lines := []string{}
		o := options(&lines)
		o.Past = past
		_, err := auditRun(t, d, o)
		require.NoError(t, err)
		return lines
	}
	wrong := func(event string) []string {
		return []string{`order ` + string(cancelled) + ` version 3: wrong-event: "` + event + `" led from PAYING to CANCELLED, which other events do`}
	}
	require.Empty(t, audited("abandon", past))
	require.Equal(t, wrong("abandon"), audited("abandon", nil))
	for _, event := range []string{"expire", "create", "correct", "adopted"} { // declared, or the machine's own
		require.Equal(t, wrong(event), audited(event, past))
	}
}
