package pipeline

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/sqlcgen"
	"github.com/pawl-go/pawl/internal/syntax"
)

// Whatever the table keeps of a state, and whichever rename is under way, sqlc
// knows the type of every column of an answer: a text, where it is a state.
func TestSqlcKnowsTheTypesOfEveryStorage(t *testing.T) {
	t.Parallel()
	definition := `machine: MACHINE
table:
  name: MACHINEs
  key: KEY
  status: STATUS
  version: revision
states:
  OPEN: {initial: true, deadline: {after: 1h, event: shut}CODE1}
  SHUT: {was: CLOSED, resting: trueCODE2}
events:
  shut: {otherwise: {replay: [SHUT], reject: '*'}}
  noise: {otherwise: {ignore: '*'}}
  told: {source: callback, params: {nr: bigint}, identity: [nr], otherwise: {compensate: {states: '*', emit: [look]}}}
transitions:
  - {event: shut, from: OPEN, to: SHUT}
`
	const several = "[{column: site, type: text}, {column: day, type: date}]"
	rename := []gensql.Rename{{Was: "CLOSED", Is: "SHUT", Step: gensql.RenameExpand}}
	in := sqlcgen.Input{Migrations: []sqlcgen.File{{Name: "core.sql", Content: gensql.Core()}}}
	for _, s := range []struct {
		machine, status string
		codes, renamed  bool
		key             string
	}{
		{"texta", "place", false, false, several}, {"textb", "place", false, true, several}, {"textc", "place", false, false, "{column: day, type: date}"},
		{"enuma", "{column: place, enum: place_a}", false, false, several}, {"enumb", "{column: place, enum: place_b}", false, true, several},
		{"codea", "{column: place, type: smallint}", true, false, several}, {"codeb", "{column: place, type: bigint}", true, true, several},
		{"parta", "place", false, true, several}, {"partb", "{column: place, type: bigint}", true, false, "{column: day, type: date}"},
	} {
		replace := []string{"KEY", s.key, "MACHINE", s.machine, "STATUS", s.status, "CODE1", "", "CODE2", ""}
		if s.codes {
			replace = []string{"KEY", s.key, "MACHINE", s.machine, "STATUS", s.status, "CODE1", ", code: 1", "CODE2", ", code: 2"}
		}
		if strings.HasPrefix(s.machine, "part") {
			replace = append(replace, "  version: revision", "  version: revision\n  history: {partition: week}")
		}
		var problems diag.List
		m := check.Run(syntax.Parse(s.machine, []byte(strings.NewReplacer(replace...).Replace(definition)), &problems), &problems)
		require.Zero(t, problems.Errors(), "%v", problems.Sorted())
		schema := gensql.SchemaOf(m)
		if s.renamed {
			schema.Renames = rename
		}
		in.Migrations = append(in.Migrations, sqlcgen.File{Name: s.machine + ".sql", Content: gensql.Migration(m, nil, &problems)})
		in.Queries = append(in.Queries, sqlcgen.File{Name: s.machine + ".sql", Content: gensql.Queries(m, &schema)})
	}
	files, issues, err := sqlcgen.Generate(t.Context(), in)
	require.NoError(t, err)
	require.Empty(t, issues)
	rows := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name, ".sql.go") {
			continue
		}
		require.NotContains(t, string(f.Content), "interface{}", f.Name)
		for line := range strings.Lines(string(f.Content)) {
			fields := strings.Fields(line)
			if len(fields) != 2 || !slices.Contains([]string{"Place", "FsmMadeFrom", "FromStatus", "Key"}, fields[0]) {
				continue
			}
			require.Equal(t, "string", fields[1], "%s: %s", f.Name, line)
			rows++
		}
	}
	// Each machine tells place and made-from in create, shut, noise, told and
	// correct, and in the batches of three of them, the place in get, a from in
	// history, key and from in the sweep.
	// Where the place is plain text, get is sqlc's row of the table itself.
	require.Equal(t, 9*(5*2+3*2+1+1+2)-2, rows)
}
