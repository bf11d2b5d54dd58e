package audit_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/testdb"
)

// lamp keeps its history in partitions, for HISTORY.
const lamp = `
machine: lamp
table: {name: lamps, key: {column: lamp_id, type: integer}, history: HISTORY}
states: {NEW: {initial: true}, LIT: {}, DARK: {final: true}}
events:
  light: {params: {by: text}, identity: [by]}
  burn:  {}
transitions: [{event: light, from: NEW, to: LIT}, {event: burn, from: LIT, to: DARK}]
`

// lamps are rows whose first entries were dropped: all of 1, the creation of 2,
// and of 3 that of its fact; 4 has all.
const lamps = `
ALTER TABLE lamps DISABLE TRIGGER USER;
INSERT INTO lamps (lamp_id, status, version) VALUES (1, 'NEW', 1), (2, 'LIT', 2), (3, 'DARK', 3), (4, 'NEW', 1);
ALTER TABLE lamps ENABLE TRIGGER USER;
INSERT INTO lamp_history (lamp_id, version, event, from_status, to_status, at) VALUES
  (2, 2, 'light', 'NEW', 'LIT', now()), (3, 3, 'burn', 'LIT', 'DARK', now()), (4, 1, 'create', NULL, 'NEW', now());
INSERT INTO lamp_facts (event, identity, lamp_id, fingerprint, outcome, from_status, to_status, version, at) VALUES
  ('light', 'ann', 2, '', 'Applied', 'NEW', 'LIT', 2, now()), ('light', 'bob', 3, '', 'Applied', 'NEW', 'LIT', 2, now());`

// What was dropped is not missed where a definition drops it, and everything
// else is found, a version that is there twice in two partitions too.
func TestAHistoryInPartitions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		history string
		want    []string
	}{
		{"{partition: month, keep: 400d}", []string{}},
		{"{partition: month}", []string{
			`lamp 1 version 1: no-history: the row has no history`,
			`lamp 2 version 2: bad-beginning: the history begins with "light" from "NEW" at version 2, not with a creation`,
			`lamp 3 version 3: bad-beginning: the history begins with "burn" from "LIT" at version 3, not with a creation`,
			`lamp 3 version 2: fact-mismatch: 1 fact was Applied before the history begins`,
		}},
	} {
		t.Run(c.history, func(t *testing.T) {
			t.Parallel()
			m := define(t, strings.Replace(lamp, "HISTORY", c.history, 1))
			var problems diag.List
			d := open(t, testdb.WithMigrations(fstest.MapFS{"00001_core.sql": {Data: gensql.Core()}, "00002_lamp.sql": {Data: gensql.Migration(m, nil, &problems)}}))
			require.Empty(t, problems.Sorted())
			d.exec(lamps)
			lines, _ := d.audit(m)
			require.Equal(t, c.want, lines)

			d.exec(`INSERT INTO lamp_history (lamp_id, version, event, to_status, at) VALUES (4, 1, 'create', 'NEW', now() - interval '1 day'); UPDATE lamps SET version = 1 WHERE lamp_id = 4`)
			lines, _ = d.audit(m)
			require.Equal(t, append(c.want, `lamp 4 version 1: version-gap: the history has version 1 twice`), lines)
			d.exec(`ALTER TABLE lamp_history DROP CONSTRAINT lamp_history_pkey`)
			lines, _ = d.audit(m)
			require.Contains(t, lines, `lamp: constraint-missing: lamp_history has no lamp_history_pkey: primary key`)
		})
	}
}
