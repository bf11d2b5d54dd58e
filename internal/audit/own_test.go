package audit_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// lease has all names of its own, codes for states, a key of two columns, and a
// table that was there before it.
const lease = `
machine: lease
table:
  name: leases
  key: [{column: tenant, type: text}, {column: lease_no, type: bigint}]
  existing: true
  status: {column: phase, type: smallint}
  version: revision
  deadline: {at: due_at, runs: due_runs}
states:
  OFFERED: {initial: true, code: 10, deadline: {after: 1h, event: remind, max: 2}}
  SIGNED:  {code: 20, was: ACCEPTED}
  PAUSED:  {code: 30, retired: true}
  ENDED:   {code: 40, final: true}
events:
  remind: {otherwise: {ignore: '*'}}
  sign:
    params: {deed_no: text}
    identity: [deed_no]
  resume: {}
  end:    {}
transitions:
  - {event: remind, from: OFFERED, to: OFFERED, emit: [remind_due]}
  - {event: sign,   from: OFFERED, to: SIGNED}
  - {event: resume, from: PAUSED,  to: SIGNED}
  - {event: end,    from: SIGNED,  to: ENDED}
`

// leases are the tables, as migrations make them; no two keys have
// one collation, as may be in a table that was there before. The rows: 1 signed under the
// old name of the state, 2 adopted where it stood and reminded for the last
// time, 3 paused before that was retired, 4 forced.
const leases = `
CREATE TABLE leases (tenant text COLLATE ucs_basic NOT NULL, lease_no bigint NOT NULL, phase smallint NOT NULL, revision bigint NOT NULL,
  due_at timestamptz, due_runs integer NOT NULL DEFAULT 0,
  CONSTRAINT leases_primary PRIMARY KEY (tenant, lease_no),
  CONSTRAINT leases_fsm_status_check CHECK (phase IN (10, 20, 30, 40)), CONSTRAINT leases_fsm_version_check CHECK (revision > 0));
CREATE TABLE lease_history (tenant text COLLATE "C" NOT NULL, lease_no bigint NOT NULL, version bigint NOT NULL, event text NOT NULL, from_status text, to_status text NOT NULL,
  actor text NOT NULL DEFAULT '', reason text NOT NULL DEFAULT '', request_id text NOT NULL DEFAULT '', forced boolean NOT NULL DEFAULT false, at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT lease_history_pkey PRIMARY KEY (tenant, lease_no, version), CONSTRAINT lease_history_forced_check CHECK (NOT forced OR actor <> '' AND reason <> ''));
CREATE TABLE lease_facts (event text NOT NULL, identity text NOT NULL, tenant text NOT NULL, lease_no bigint NOT NULL, fingerprint text NOT NULL DEFAULT '',
  outcome text NOT NULL, from_status text NOT NULL, to_status text NOT NULL, version bigint NOT NULL, at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT lease_facts_pkey PRIMARY KEY (event, identity));
CREATE FUNCTION lease_refuse_edge() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.tenant = OLD.tenant AND NEW.lease_no = OLD.lease_no AND (
    NEW.revision = OLD.revision AND NEW.phase = OLD.phase
    OR NEW.revision = OLD.revision + 1 AND (
         OLD.phase = 10 AND NEW.phase IN (10, 20)
      OR OLD.phase = 20 AND NEW.phase IN (40)
      OR OLD.phase = 30 AND NEW.phase IN (20)
    )
  ) THEN
    RETURN NULL;
  END IF;
  IF TG_OP = 'INSERT' THEN
    RAISE EXCEPTION 'lease: no row begins so';
  END IF;
  IF NEW.tenant = OLD.tenant AND NEW.lease_no = OLD.lease_no AND NEW.revision = OLD.revision + 1 AND EXISTS (
    SELECT 1 FROM lease_history AS h WHERE h.tenant = NEW.tenant AND h.lease_no = NEW.lease_no AND h.version = NEW.revision
      AND h.forced AND (CASE h.from_status WHEN 'ACCEPTED' THEN 'SIGNED' ELSE h.from_status END)::text = CASE OLD.phase WHEN 10 THEN 'OFFERED' WHEN 20 THEN 'SIGNED' WHEN 30 THEN 'PAUSED' WHEN 40 THEN 'ENDED' ELSE OLD.phase::text END
      AND (CASE h.to_status WHEN 'ACCEPTED' THEN 'SIGNED' ELSE h.to_status END)::text = CASE NEW.phase WHEN 10 THEN 'OFFERED' WHEN 20 THEN 'SIGNED' WHEN 30 THEN 'PAUSED' WHEN 40 THEN 'ENDED' ELSE NEW.phase::text END) THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'lease: no edge';
END $$;
CREATE FUNCTION lease_forget() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
INSERT INTO leases VALUES ('a', 1, 20, 2, NULL, 0), ('a', 2, 10, 7, NULL, 2), ('b', 1, 30, 2, NULL, 0), ('b"', 3, 40, 3, NULL, 0);
INSERT INTO lease_history (tenant, lease_no, version, event, from_status, to_status, actor, reason, forced) VALUES
  ('a', 1, 1, 'create', NULL, 'OFFERED', '', '', false), ('a', 1, 2, 'sign', 'OFFERED', 'ACCEPTED', '', '', false),
  ('a', 2, 6, 'adopted', NULL, 'OFFERED', '', '', false), ('a', 2, 7, 'remind', 'OFFERED', 'OFFERED', '', '', false),
  ('b', 1, 1, 'create', NULL, 'OFFERED', '', '', false), ('b', 1, 2, 'pause', 'OFFERED', 'PAUSED', '', '', false),
  ('b"', 3, 1, 'create', NULL, 'OFFERED', '', '', false), ('b"', 3, 2, 'correct', 'OFFERED', 'SIGNED', 'ann', 'ticket 7', true),
  ('b"', 3, 3, 'end', 'ACCEPTED', 'ENDED', '', '', false);
INSERT INTO lease_facts (event, identity, tenant, lease_no, outcome, from_status, to_status, version) VALUES ('sign', 'd1', 'a', 1, 'Applied', 'OFFERED', 'SIGNED', 2);
INSERT INTO fsm_audit (machine, key, version, action, from_status, to_status, actor, reason, at) VALUES ('lease', '["b\"", 3]', 2, 'correct', 'OFFERED', 'ACCEPTED', 'ann', 'ticket 7', now());
CREATE TRIGGER lease_edge AFTER UPDATE ON leases FOR EACH ROW EXECUTE FUNCTION lease_refuse_edge();
CREATE TRIGGER lease_birth AFTER INSERT ON leases FOR EACH ROW WHEN (NEW.phase <> 10 OR NEW.revision <> 1) EXECUTE FUNCTION lease_refuse_edge();
CREATE TRIGGER lease_gone AFTER DELETE ON leases FOR EACH ROW EXECUTE FUNCTION lease_forget();`

// Own names, codes, composite keys, former names, retired states and rows that
// were there before are all in order.
func TestOwnColumnsAndFormerStates(t *testing.T) {
	t.Parallel()
	d := migrated(t)
	d.exec(leases)
	m := define(t, lease)
	lines, report := d.audit(m)
	require.Empty(t, lines)
	require.Equal(t, []string{"lease: 1 row is in the retired state PAUSED"}, report.Notes)

	d.exec(`ALTER TABLE leases DROP CONSTRAINT leases_fsm_status_check, ADD CONSTRAINT leases_fsm_status_check CHECK (phase IN (10, 20, 30, 40, 99));
		ALTER TABLE leases DISABLE TRIGGER USER;
		UPDATE leases SET phase = 99 WHERE tenant = 'b' AND lease_no = 1;
		ALTER TABLE leases ENABLE TRIGGER USER;
		UPDATE leases SET due_runs = 1 WHERE tenant = 'a' AND lease_no = 2;
		DELETE FROM lease_facts; DELETE FROM fsm_audit;
		INSERT INTO lease_facts (event, identity, tenant, lease_no, outcome, from_status, to_status, version) VALUES ('sign', 'd2', 'a', 10, 'Applied', 'OFFERED', 'SIGNED', 2)`)
	lines, report = d.audit(m)
	require.Equal(t, []string{
		`lease ["a", 1] version 2: fact-missing: "sign" has an identity and moved the row, and no fact says so`,
		`lease ["a", 2] version 7: deadline-missing: the row has no deadline, so nothing moves it out of OFFERED by remind`,
		`lease ["a", 10]: orphan-facts: the database has 1 fact of a row that is not there`,
		`lease ["b", 1] version 2: unknown-state: the row is "99", which is no state of the definition`,
		`lease ["b\"", 3] version 2: unaudited-force: the entry is forced, and fsm_audit does not tell of it: the history was written by hand`,
	}, lines)
	require.Equal(t, []string{`lease: the database knows the state "99", the definition does not: it is older than the database, or the state is gone`}, report.Notes)
}

// What a program of before did is taken in again: an adoption may leave
// versions out, and bears facts of what happened before. It comes from where
// the history was all the same.
func TestAdoptedAgain(t *testing.T) {
	t.Parallel()
	d := migrated(t)
	d.exec(leases)
	d.exec(`ALTER TABLE leases DISABLE TRIGGER USER;
		UPDATE leases SET revision = 9, phase = 40 WHERE lease_no = 2;
		ALTER TABLE leases ENABLE TRIGGER USER;
		UPDATE leases SET due_runs = 0, due_at = NULL WHERE lease_no = 2;
		INSERT INTO lease_history (tenant, lease_no, version, event, from_status, to_status) VALUES ('a', 2, 9, 'adopted', 'OFFERED', 'ENDED');
		INSERT INTO lease_facts (event, identity, tenant, lease_no, outcome, from_status, to_status, version) VALUES
			('sign', 'd7', 'a', 2, 'Applied', 'ENDED', 'ENDED', 9), ('sign', 'd8', 'a', 2, 'Applied', 'ENDED', 'ENDED', 9)`)
	lines, _ := d.audit(define(t, lease))
	require.Empty(t, lines)
	d.exec(`UPDATE lease_history SET from_status = 'SIGNED' WHERE version = 9`)
	lines, _ = d.audit(define(t, lease))
	require.Equal(t, []string{`lease ["a", 2] version 9: broken-chain: "adopted" left "SIGNED", and the entry before it led to "OFFERED"`}, lines)
}

// note keeps its state as an enum, by a name that one state had before.
const note = `
machine: note
table: {name: notes, key: {column: note_id, type: integer}, status: {column: state, enum: note_state}}
states: {DRAFT: {initial: true}, SENT: {final: true, was: POSTED}}
events: {send: {}}
transitions: [{event: send, from: DRAFT, to: SENT}]
`

const notes = `
CREATE TYPE note_state AS ENUM ('DRAFT', 'POSTED', 'SENT', 'LOST');
CREATE TABLE notes (note_id integer PRIMARY KEY, state note_state NOT NULL, version bigint NOT NULL CHECK (version > 0),
  CONSTRAINT notes_status_check CHECK (state::text IN ('DRAFT', 'POSTED', 'SENT', 'LOST')));
CREATE TABLE note_history (note_id integer NOT NULL, version bigint NOT NULL, event text NOT NULL, from_status text, to_status text NOT NULL,
  actor text NOT NULL DEFAULT '', reason text NOT NULL DEFAULT '', request_id text NOT NULL DEFAULT '', forced boolean NOT NULL DEFAULT false, CONSTRAINT note_history_forced_check CHECK (NOT forced OR actor <> '' AND reason <> ''), PRIMARY KEY (note_id, version));
CREATE FUNCTION note_refuse_edge() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.note_id = OLD.note_id AND (
    NEW.version = OLD.version AND NEW.state = OLD.state
    OR NEW.version = OLD.version AND OLD.state::text = 'POSTED' AND NEW.state::text = 'SENT'
    OR NEW.version = OLD.version + 1 AND (
         OLD.state::text = 'DRAFT' AND NEW.state::text IN ('SENT', 'POSTED')
    )
  ) THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'note: no edge';
END $$;
CREATE FUNCTION note_forget() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
INSERT INTO notes VALUES (2, 'POSTED', 2), (10, 'LOST', 1);
INSERT INTO note_history VALUES (2, 1, 'create', NULL, 'DRAFT'), (2, 2, 'send', 'DRAFT', 'SENT'), (10, 1, 'create', NULL, 'DRAFT');
CREATE TRIGGER note_edge AFTER UPDATE ON notes FOR EACH ROW EXECUTE FUNCTION note_refuse_edge();
CREATE TRIGGER note_birth AFTER INSERT ON notes FOR EACH ROW EXECUTE FUNCTION note_refuse_edge();
CREATE TRIGGER note_gone AFTER DELETE ON notes FOR EACH ROW EXECUTE FUNCTION note_forget();`

func TestEnumsAndFormerNames(t *testing.T) {
	t.Parallel()
	d := migrated(t)
	d.exec(notes)
	m := define(t, note)
	lines, report := d.audit(m)
	require.Equal(t, []string{`note 10 version 1: unknown-state: the row is "LOST", which is no state of the definition`}, lines)
	require.Equal(t, []string{
		`note: the database knows the state "LOST", the definition does not: it is older than the database, or the state is gone`,
		`note: 1 row is kept as "POSTED", the former name of SENT`,
	}, report.Notes)

	// What cannot be read as what it should be is not read at all.
	d.exec(`ALTER TABLE notes DROP CONSTRAINT notes_version_check, ALTER COLUMN version TYPE text, ADD CHECK (version > '0')`)
	lines, report = d.audit(m)
	require.Equal(t, []string{`note: column-type: notes.version is text, not bigint`}, lines)
	require.Equal(t, []string{
		`note: the database knows the state "LOST", the definition does not: it is older than the database, or the state is gone`,
		`note: the rows were not read, since a column is of another type`,
	}, report.Notes)
}
