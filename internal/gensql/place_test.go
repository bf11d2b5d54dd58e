package gensql_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// placed is a door whose guard, default and check are given.
func placed(guard, initially, check string) string {
	quoted := func(sql string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(sql) + `"`
	}
	return `machine: door
table:
  name: doors
  key: {column: door_id, type: bigint}
  columns:
    knocks: {type: integer, default: 0}
    colour: {type: text, default: ` + quoted(initially) + `, check: ` + quoted(check) + `}
    open: {type: boolean, default: "NOT false AND 1 IN (1, 2)"}
states: {OPEN: {initial: true}, SHUT: {final: true}}
events: {shut: {}}
transitions: [{event: shut, from: OPEN, to: SHUT, guard: {sql: ` + quoted(guard) + `}}]
`
}

// A default is an expression of its own: one with an operator that is a word would
// end before it, and one with COLLATE give the column another collation.
func TestADefaultEndsWhereItEnds(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	require.Empty(t, land(t, files, placed("true", `'red' COLLATE "C"`, "colour <> 'y'")))
	db := standing(t, files)
	db.up(1)
	db.may("INSERT INTO doors (door_id, status, version) VALUES (1, 'OPEN', 1)")
	db.says("SELECT colour || open::text FROM doors", "redtrue")
	db.says("SELECT count(*)::text FROM pg_attribute AS a JOIN pg_collation AS c ON c.oid = a.attcollation WHERE a.attrelid = 'doors'::regclass AND a.attname = 'colour' AND c.collname = 'C'", "0")
}
