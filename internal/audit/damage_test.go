package audit_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// states is the CHECK with a state that the definition lacks.
const states = `ALTER TABLE orders DROP CONSTRAINT orders_status_check, ADD CONSTRAINT orders_status_check CHECK (status IN
	('PENDING', 'PAYING', 'PAID', 'SHIPPED', 'COMPLETED', 'CANCELLED', 'REFUNDING', 'REFUNDED', 'LIMBO'));`

// changedAudit is what is found when history and fsm_audit tell of one correction
// otherwise.
var changedAudit = []string{`order 00000000-0000-4000-8000-000000000003 version 2: unaudited-force: the entry is forced, and fsm_audit has another actor, reason or request id for it: one of the two was changed by hand`}

// edgeTrigger is the trigger of edges made anew.
func edgeTrigger(fires, when string) string {
	return `DROP TRIGGER order_edge ON orders; CREATE TRIGGER order_edge ` + fires + ` ON orders FOR EACH ROW ` + when + ` EXECUTE FUNCTION order_refuse_edge()`
}

// damages are planted in the fixture, each in a database of its own; what is
// found is that and nothing beside it.
var damages = []struct {
	name, sql string
	want      []string
}{
	{"a row in an unknown state", states + `UPDATE orders SET status = 'LIMBO' WHERE order_id = '00000000-0000-4000-8000-000000000001'`,
		[]string{`order 00000000-0000-4000-8000-000000000001 version 1: unknown-state: the row is "LIMBO", which is no state of the definition`}},
	{"history leads to an unknown state", `UPDATE order_history SET to_status = 'LIMBO' WHERE order_id = '00000000-0000-4000-8000-000000000004' AND version = 1`,
		[]string{
			`order 00000000-0000-4000-8000-000000000004 version 1: unknown-state: "create" led to "LIMBO", which is no state of the definition`,
			`order 00000000-0000-4000-8000-000000000004 version 2: broken-chain: "pay" left "PENDING", and the entry before it led to "LIMBO"`,
		}},
	{"a version below 1", `ALTER TABLE orders DROP CONSTRAINT orders_version_check; UPDATE orders SET version = 0 WHERE order_id = '00000000-0000-4000-8000-000000000001'`,
		[]string{
			`order: constraint-missing: orders has no orders_version_check: CHECK of the version`,
			`order 00000000-0000-4000-8000-000000000001: bad-version: the row's version is 0; the first is 1`,
		}},
	{"a row without history", `DELETE FROM order_history WHERE order_id = '00000000-0000-4000-8000-000000000002'`,
		[]string{`order 00000000-0000-4000-8000-000000000002 version 3: no-history: the row has no history`}},
	{"a row moved by hand", `UPDATE orders SET status = 'SHIPPED', deadline_at = now() + interval '1 day' WHERE order_id = '00000000-0000-4000-8000-000000000002'`,
		[]string{`order 00000000-0000-4000-8000-000000000002 version 3: history-mismatch: the row is SHIPPED, its history ends in "PAID"`}},
	{"a version counted by hand", `UPDATE orders SET version = 4 WHERE order_id = '00000000-0000-4000-8000-000000000002'`,
		[]string{`order 00000000-0000-4000-8000-000000000002 version 4: history-mismatch: the row is at version 4, its history ends at version 3`}},
	{"a version counted back by hand", `UPDATE orders SET version = 2 WHERE order_id = '00000000-0000-4000-8000-000000000002'`,
		[]string{`order 00000000-0000-4000-8000-000000000002 version 2: history-mismatch: the row is at version 2, its history ends at version 3`}},
	{"history without its beginning", `DELETE FROM order_history WHERE order_id = '00000000-0000-4000-8000-000000000004' AND version = 1`,
		[]string{`order 00000000-0000-4000-8000-000000000004 version 2: bad-beginning: the history begins with "pay" from "PENDING" at version 2, not with a creation`}},
	{"a creation in another state", `UPDATE orders SET status = 'PAID', deadline_at = NULL WHERE order_id = '00000000-0000-4000-8000-000000000001';
		UPDATE order_history SET to_status = 'PAID' WHERE order_id = '00000000-0000-4000-8000-000000000001'`,
		[]string{`order 00000000-0000-4000-8000-000000000001 version 1: bad-beginning: the row was created in PAID; the initial state is PENDING`}},
	{"a gap in the versions", `DELETE FROM order_history WHERE order_id = '00000000-0000-4000-8000-000000000004' AND version = 2`,
		[]string{`order 00000000-0000-4000-8000-000000000004 version 3: version-gap: the history goes from version 1 to version 3`}},
	{"a version twice", `ALTER TABLE order_history DROP CONSTRAINT order_history_pkey;
		INSERT INTO order_history SELECT * FROM order_history WHERE order_id = '00000000-0000-4000-8000-000000000004' AND version = 3`,
		[]string{
			`order: constraint-missing: order_history has no order_history_pkey: primary key`,
			`order 00000000-0000-4000-8000-000000000004 version 3: version-gap: the history has version 3 twice`,
		}},
	{"history that does not chain", `UPDATE order_history SET from_status = 'PENDING' WHERE order_id = '00000000-0000-4000-8000-000000000004' AND version = 3`,
		[]string{`order 00000000-0000-4000-8000-000000000004 version 3: broken-chain: "cancel" left "PENDING", and the entry before it led to "PAYING"`}},
	{"an illegal edge", `UPDATE orders SET status = 'COMPLETED', version = 2, deadline_at = NULL WHERE order_id = '00000000-0000-4000-8000-000000000001';
		INSERT INTO order_history (order_id, version, event, from_status, to_status, at) VALUES ('00000000-0000-4000-8000-000000000001', 2, 'receive', 'PENDING', 'COMPLETED', now())`,
		[]string{`order 00000000-0000-4000-8000-000000000001 version 2: illegal-edge: "receive" led from PENDING to COMPLETED, which no transition does`}},
	{"an edge by another event", `UPDATE order_history SET event = 'expire' WHERE order_id = '00000000-0000-4000-8000-000000000004' AND version = 3`,
		[]string{`order 00000000-0000-4000-8000-000000000004 version 3: wrong-event: "expire" led from PAYING to CANCELLED, which other events do`}},
	{"an edge by an unknown event", `UPDATE order_history SET event = 'abandon' WHERE order_id = '00000000-0000-4000-8000-000000000004' AND version = 3`,
		[]string{`order 00000000-0000-4000-8000-000000000004 version 3: wrong-event: "abandon" led from PAYING to CANCELLED, which other events do`}},
	{"a correction of nobody", `ALTER TABLE order_history DROP CONSTRAINT order_history_forced_check; UPDATE order_history SET reason = '' WHERE forced`,
		[]string{
			`order: constraint-missing: order_history has no order_history_forced_check: CHECK of forced entries`,
			`order 00000000-0000-4000-8000-000000000003 version 2: unsigned-force: the entry is forced, and has no actor or no reason`,
		}},
	{"a correction by hand", `DELETE FROM fsm_audit`,
		[]string{`order 00000000-0000-4000-8000-000000000003 version 2: unaudited-force: the entry is forced, and fsm_audit does not tell of it: the history was written by hand`}},
	{"a correction audited with another state", `UPDATE fsm_audit SET to_status = 'SHIPPED'`,
		[]string{`order 00000000-0000-4000-8000-000000000003 version 2: unaudited-force: the entry is forced, and fsm_audit does not tell of it: the history was written by hand`}},
	{"a correction audited by another actor", `UPDATE fsm_audit SET actor = 'bob'`, changedAudit},
	{"a correction audited for another reason", `UPDATE fsm_audit SET reason = 'ticket 8'`, changedAudit},
	{"a correction audited by another request", `UPDATE fsm_audit SET request_id = 'r1'`, changedAudit},
	{"a correction of another actor in the history", `UPDATE order_history SET actor = 'bob' WHERE forced`, changedAudit},
	{"a correction audited again, of a row that had the key before", `INSERT INTO fsm_audit (machine, key, version, action, from_status, to_status, actor, reason, at)
		SELECT machine, key, version, action, from_status, to_status, 'bob', 'ticket 1', at FROM fsm_audit`, []string{}},
	{"a row gone without its history", `DELETE FROM orders WHERE order_id = '00000000-0000-4000-8000-000000000003'`,
		[]string{`order 00000000-0000-4000-8000-000000000003: orphan-history: the history has 2 entries of a row that is not there`}},
	{"facts of no row", `UPDATE order_facts SET order_id = '00000000-0000-4000-8000-00000000000a' WHERE identity = 'p9'`,
		[]string{`order 00000000-0000-4000-8000-00000000000a: orphan-facts: the database has 1 fact of a row that is not there`}},
	{"a fact of an event without identity", `UPDATE order_facts SET event = 'ship' WHERE identity = 'p9'`,
		[]string{`order 00000000-0000-4000-8000-000000000002 version 3: unknown-fact: there is a fact of "ship", which is no event with an identity`}},
	{"a fact without identity", `UPDATE order_facts SET identity = '' WHERE identity = 'p9'`,
		[]string{`order 00000000-0000-4000-8000-000000000002 version 3: empty-identity: a fact of "payment_succeeded" has no identity`}},
	{"a fact that never moved the row", `INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at)
		VALUES ('payment_failed', 'p1', '00000000-0000-4000-8000-000000000001', '', 'Applied', 'PAYING', 'PENDING', 2, now())`,
		[]string{`order 00000000-0000-4000-8000-000000000001 version 2: fact-mismatch: a fact of "payment_failed" was Applied at version 2, and the history has no such entry`}},
	{"a fact before the history", `UPDATE order_facts SET version = 0 WHERE identity = 'p2'`,
		[]string{
			`order 00000000-0000-4000-8000-000000000002 version 3: fact-missing: "payment_succeeded" has an identity and moved the row, and no fact says so`,
			`order 00000000-0000-4000-8000-000000000002: fact-mismatch: 1 fact was Applied before the history begins`,
		}},
	{"a fact of another edge", `UPDATE order_facts SET from_status = 'PENDING' WHERE identity = 'p2'`,
		[]string{`order 00000000-0000-4000-8000-000000000002 version 3: fact-mismatch: a fact of "payment_succeeded" leads from "PENDING" to "PAID", the entry from "PAYING" to "PAID"`}},
	{"a second fact of one move", `UPDATE order_facts SET outcome = 'Applied', from_status = 'PAYING' WHERE identity = 'p9'`,
		[]string{`order 00000000-0000-4000-8000-000000000002 version 3: fact-mismatch: a second fact of "payment_succeeded" was Applied at version 3`}},
	{"a fact of another event's move", `UPDATE order_facts SET event = 'payment_failed', outcome = 'Applied' WHERE identity = 'p9'`,
		[]string{`order 00000000-0000-4000-8000-000000000002 version 3: fact-mismatch: a fact of "payment_failed" was Applied at version 3, and the history has "payment_succeeded" there`}},
	{"a fact of no known outcome", `UPDATE order_facts SET outcome = 'Done' WHERE identity = 'p9'`,
		[]string{`order 00000000-0000-4000-8000-000000000002 version 3: fact-mismatch: a fact of "payment_succeeded" has the outcome "Done"`}},
	{"a compensation of the future", `UPDATE order_facts SET version = 4 WHERE identity = 'p9'`,
		[]string{`order 00000000-0000-4000-8000-000000000002 version 4: fact-mismatch: a fact of "payment_succeeded" was Compensated at version 4, and the row is at version 3`}},
	{"a compensation that moved", `UPDATE order_facts SET to_status = 'REFUNDING' WHERE identity = 'p9'`,
		[]string{`order 00000000-0000-4000-8000-000000000002 version 3: fact-mismatch: a fact of "payment_succeeded" was Compensated, which moves nothing, and leads from "PAID" to "REFUNDING"`}},
	{"a compensation in another state", `UPDATE order_facts SET from_status = 'SHIPPED', to_status = 'SHIPPED' WHERE identity = 'p9'`,
		[]string{`order 00000000-0000-4000-8000-000000000002 version 3: fact-mismatch: a fact of "payment_succeeded" was Compensated in "SHIPPED", and version 3 is "PAID"`}},
	{"a lost fact", `DELETE FROM order_facts WHERE identity = 'p2'`,
		[]string{`order 00000000-0000-4000-8000-000000000002 version 3: fact-missing: "payment_succeeded" has an identity and moved the row, and no fact says so`}},
	{"a deadline nobody came for", `UPDATE orders SET deadline_at = now() - interval '2 hours' WHERE order_id = '00000000-0000-4000-8000-000000000001'`,
		[]string{`order 00000000-0000-4000-8000-000000000001 version 1: overdue: the row is overdue in PENDING: expire has not come`}},
	{"a deadline that is only just due", `UPDATE orders SET deadline_at = now() - interval '30 minutes' WHERE order_id = '00000000-0000-4000-8000-000000000001'`, []string{}},
	{"a lost deadline", `UPDATE orders SET deadline_at = NULL WHERE order_id = '00000000-0000-4000-8000-000000000001'`,
		[]string{`order 00000000-0000-4000-8000-000000000001 version 1: deadline-missing: the row has no deadline, so nothing moves it out of PENDING by expire`}},
	{"a deadline where there is none", `UPDATE orders SET deadline_at = now() + interval '1 day' WHERE order_id = '00000000-0000-4000-8000-000000000002'`,
		[]string{`order 00000000-0000-4000-8000-000000000002 version 3: stray-deadline: the row has a deadline, and PAID has none`}},
	{"runs below zero", `UPDATE orders SET deadline_runs = -1 WHERE order_id = '00000000-0000-4000-8000-000000000001'`,
		[]string{`order 00000000-0000-4000-8000-000000000001 version 1: bad-runs: the row's deadline ran -1 times`}},
	{"an outbox nobody empties", `UPDATE fsm_outbox SET at = '2020-02-29 12:00:00+00' WHERE topic = 'order_paid'`,
		[]string{`order 00000000-0000-4000-8000-000000000002 version 3: outbox-stale: nobody has taken "order_paid" of "payment_succeeded" from the outbox since 2020-02-29 12:00:00+00`}},
	{"a topic of nobody", `UPDATE fsm_outbox SET topic = 'order_lost' WHERE topic = 'order_paid'`,
		[]string{`order 00000000-0000-4000-8000-000000000002 version 3: outbox-unknown: the outbox has "order_lost" of "payment_succeeded", which no definition emits`}},
	{"an outbox row of no machine", `UPDATE fsm_outbox SET machine = 'parcel' WHERE topic = 'order_paid'`,
		[]string{`parcel 00000000-0000-4000-8000-000000000002 version 3: outbox-unknown: the outbox has "order_paid" of "payment_succeeded", which no definition emits`}},
	{"a column of another type", `ALTER TABLE orders ALTER COLUMN deadline_runs TYPE bigint`,
		[]string{`order: column-type: orders.deadline_runs is bigint, not integer`}},
	{"a column that may be empty", `ALTER TABLE orders ALTER COLUMN version DROP NOT NULL`,
		[]string{`order: column-type: orders.version may be NULL`}},
	{"no CHECK of the states", `ALTER TABLE orders DROP CONSTRAINT orders_status_check`,
		[]string{`order: constraint-missing: orders has no orders_status_check: CHECK of the states`}},
	{"a CHECK that rows from before may break", `ALTER TABLE orders DROP CONSTRAINT orders_version_check, ADD CONSTRAINT orders_version_check CHECK (version > 0) NOT VALID`,
		[]string{`order: constraint-not-valid: orders: orders_version_check, the CHECK of the version, is not valid: rows from before were never checked`}},
	{"facts that may count twice", `ALTER TABLE order_facts DROP CONSTRAINT order_facts_pkey`,
		[]string{`order: constraint-missing: order_facts has no order_facts_pkey: primary key, by which a fact counts once`}},
	{"a CHECK of the states that takes anything", `ALTER TABLE orders DROP CONSTRAINT orders_status_check, ADD CONSTRAINT orders_status_check CHECK (status <> 'zzz')`,
		[]string{`order: guard-weakened: orders_status_check takes a row in a state that is none`}},
	{"a CHECK of the version that takes any", `ALTER TABLE orders DROP CONSTRAINT orders_version_check, ADD CONSTRAINT orders_version_check CHECK (version > -99)`,
		[]string{`order: guard-weakened: orders_version_check takes a version below 1`}},
	{"a CHECK of the version that takes 0", `ALTER TABLE orders DROP CONSTRAINT orders_version_check, ADD CONSTRAINT orders_version_check CHECK (version >= 0)`,
		[]string{`order: guard-weakened: orders_version_check takes a version below 1`}},
	{"a CHECK of the version in other words", `ALTER TABLE orders DROP CONSTRAINT orders_version_check, ADD CONSTRAINT orders_version_check CHECK (NOT version < 1)`, []string{}},
	{"a CHECK of corrections that asks no reason", `ALTER TABLE order_history DROP CONSTRAINT order_history_forced_check, ADD CONSTRAINT order_history_forced_check CHECK (NOT forced OR actor <> '' OR reason <> '')`,
		[]string{`order: guard-weakened: order_history_forced_check takes a forced entry without actor or reason`}},
	{"an edge trigger that never fires", edgeTrigger(`AFTER UPDATE`, `WHEN (false)`),
		[]string{`order: guard-weakened: the trigger order_edge lets a row move without its version being counted by one`}},
	{"an edge trigger that looks at the states alone", edgeTrigger(`AFTER UPDATE`, `WHEN (OLD.status = 'PAID' AND NEW.status = 'PENDING')`),
		[]string{`order: guard-weakened: the trigger order_edge lets a row move without its version being counted by one`}},
	{"an edge trigger that looks at the version alone", edgeTrigger(`AFTER UPDATE`, `WHEN (NEW.version <> OLD.version + 1)`),
		[]string{`order: guard-weakened: the trigger order_edge lets a row get another key`}},
	{"an edge trigger of one column", edgeTrigger(`AFTER UPDATE OF customer_id`, ``),
		[]string{`order: guard-weakened: the trigger order_edge does not fire after every such change of a row`}},
	{"an edge trigger of another change", edgeTrigger(`AFTER INSERT`, ``),
		[]string{`order: guard-weakened: the trigger order_edge does not fire after every such change of a row`}},
	{"an edge trigger before the change", edgeTrigger(`BEFORE UPDATE`, ``),
		[]string{`order: guard-weakened: the trigger order_edge does not fire after every such change of a row`}},
	{"an edge trigger made anew", edgeTrigger(`AFTER UPDATE`, ``), []string{}},
	{"a birth trigger that looks at the state alone", `DROP TRIGGER order_birth ON orders; CREATE TRIGGER order_birth AFTER INSERT ON orders FOR EACH ROW WHEN (NEW.status <> 'PENDING') EXECUTE FUNCTION order_refuse_edge('PENDING')`,
		[]string{`order: guard-weakened: the trigger order_birth lets a row begin at another version than 1`}},
	{"history that may outlive its row", `DROP TRIGGER order_gone ON orders; CREATE TRIGGER order_gone AFTER DELETE ON orders FOR EACH ROW WHEN (OLD.version > 1) EXECUTE FUNCTION order_forget()`,
		[]string{`order: guard-weakened: the trigger order_gone has a condition, so that history and facts may outlive their row`}},
	{"a function of the name in another schema", `CREATE SCHEMA elsewhere; CREATE FUNCTION elsewhere.order_refuse_edge() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
		DROP TRIGGER order_edge ON orders; CREATE TRIGGER order_edge AFTER UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION elsewhere.order_refuse_edge()`,
		[]string{`order: trigger-missing: orders: the trigger order_edge, which refuses illegal edges, calls a function order_refuse_edge of another schema`}},
	{"a trigger gone", `DROP TRIGGER order_edge ON orders`,
		[]string{`order: trigger-missing: orders has no trigger order_edge with the function order_refuse_edge, which refuses illegal edges`}},
	{"a trigger with another function", `DROP TRIGGER order_gone ON orders; CREATE TRIGGER order_gone AFTER DELETE ON orders FOR EACH ROW EXECUTE FUNCTION payment_forget()`,
		[]string{`order: trigger-missing: orders has no trigger order_gone with the function order_forget, which ends history and facts with their row`}},
}

func TestDamageIsFound(t *testing.T) {
	t.Parallel()
	machines := definitions(t)
	for _, tc := range damages {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := fixture(t)
			d.plant(tc.sql)
			lines, _ := d.audit(machines...)
			require.Equal(t, tc.want, lines)
		})
	}
}

// Triggers are enabled again after damage, so the one that is not stands alone.
func TestADisabledTriggerIsFound(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"DISABLE TRIGGER", "ENABLE REPLICA TRIGGER"} {
		d := fixture(t)
		d.exec(`ALTER TABLE orders ` + how + ` order_edge; ALTER TABLE orders ENABLE ALWAYS TRIGGER order_birth`)
		lines, _ := d.audit(definitions(t)...)
		require.Equal(t, []string{`order: trigger-disabled: orders: the trigger order_edge, which refuses illegal edges, is disabled`}, lines, how)
	}
}

// Where the database is newer or older than the definition, that is a note.
func TestOtherStatesInTheCheckAreNoted(t *testing.T) {
	t.Parallel()
	d := fixture(t)
	d.exec(states)
	lines, report := d.audit(definitions(t)...)
	require.Empty(t, lines)
	require.Equal(t, []string{`order: the database knows the state "LIMBO", the definition does not: it is older than the database, or the state is gone`}, report.Notes)

	d.exec(`ALTER TABLE orders DROP CONSTRAINT orders_status_check, ADD CONSTRAINT orders_status_check CHECK (status IN
		('PENDING', 'PAYING', 'PAID', 'SHIPPED', 'COMPLETED', 'CANCELLED', 'REFUNDING'))`)
	lines, report = d.audit(definitions(t)...)
	require.Empty(t, lines)
	require.Equal(t, []string{`order: the definition has the state REFUNDED, the database does not know it: migrations are waiting`}, report.Notes)
}

// Outbox rows of other machines are the business of an audit of all alone.
func TestAPartialAuditLeavesOthersOutboxAlone(t *testing.T) {
	t.Parallel()
	d := fixture(t)
	d.exec(`UPDATE fsm_outbox SET machine = 'parcel', at = '2020-02-29 12:00:00+00' WHERE topic = 'order_paid'`)
	var lines []string
	o := options(&lines)
	o.Partial = true
	_, err := auditRun(t, d, o)
	require.NoError(t, err)
	require.Empty(t, lines)
}
