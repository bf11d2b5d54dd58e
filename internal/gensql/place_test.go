package gensql_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/gensql"
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

// sqlc takes lines that begin with # for comments of MySQL, wherever they stand, and
// leaves them out: half a guard would be gone.
func TestNoLineOfAQueryBeginsWithAnOperator(t *testing.T) {
	t.Parallel()
	m := machine(t, placed("knocks\n# 5\n= 5 AND colour <> 'x'", "'red'", "colour <> 'y'"))
	queries := string(gensql.Queries(m, nil))
	require.Equal(t, 4, strings.Count(queries, "(o.knocks # 5 = 5 AND o.colour <> 'x') IS TRUE"))
	for line := range strings.Lines(queries) {
		require.False(t, strings.HasPrefix(line, "#"), line)
	}
}

// White space in a constant is part of it, between dollars too.
func TestConstantsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	m := machine(t, placed("colour <> $$a  b$$", "$$red  one$$", "colour <> $x$ c  d $x$"))
	queries := string(gensql.Queries(m, nil))
	require.Contains(t, queries, "(o.colour <> $$a  b$$) IS TRUE")
	require.Contains(t, queries, "$$red  one$$")
	files := fstest.MapFS{}
	require.Empty(t, land(t, files, placed("colour <> $$a  b$$", "$$red  one$$", "colour <> $x$ c  d $x$")))
	db := standing(t, files)
	db.up(1)
	db.may("INSERT INTO doors (door_id, status, version) VALUES (1, 'OPEN', 1)")
	db.says("SELECT colour FROM doors", "red  one")
	db.cannot("UPDATE doors SET colour = ' c  d '")
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

// goose looks for its commands in all comments, and the line that says what a
// migration made is one.
func TestGooseTakesNoTextForACommand(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	check := "colour <> '-- +goose Down'\nAND colour <> '+goose Up'"
	require.Empty(t, land(t, files, placed("true", "'red'", check)))
	db := standing(t, files)
	db.up(1)
	db.may("INSERT INTO doors (door_id, status, version) VALUES (1, 'OPEN', 1)")
	db.cannot("UPDATE doors SET colour = '+goose Up'", "UPDATE doors SET colour = '-- +goose Down'")
	db.down(0)
	columns := schema(t, files).Columns
	require.Equal(t, check, columns[1].Check)
}
