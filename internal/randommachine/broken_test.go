package randommachine_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/mutate"
	"github.com/pawl-go/pawl/internal/randommachine"
)

// breakable are the machine's statements as internal/mutate takes them: beside what
// is run, with parameters by number.
func (b *built) breakable(t *testing.T) []*mutate.Source {
	t.Helper()
	var schema *gensql.Schema
	file := string(gensql.Queries(b.m, schema))
	var run strings.Builder
	run.WriteString("package db\n")
	at := named.FindAllStringSubmatchIndex(file, -1)
	for i, m := range at {
		end := len(file)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		sql := strings.TrimSpace(file[m[1]:end])
		for strings.HasPrefix(sql, "--") { // the comment of the query
			_, sql, _ = strings.Cut(sql, "\n")
		}
		name := file[m[2]:m[3]]
		fmt.Fprintf(&run, "const q%d = %q\n", i, "-- name: "+name+" :x\n"+numbered(strings.TrimSuffix(sql, ";")).sql+"\n")
	}
	sources, err := mutate.Load(fstest.MapFS{"queries/m.sql": {Data: []byte(file)}, "gen/db/m.sql.go": {Data: []byte(run.String())}})
	if errors.Is(err, mutate.ErrUnread) {
		return nil // a text in it looks like a parameter
	}
	require.NoError(t, err)
	return sources
}

// breakOnce breaks one statement of the machine by an operator, and says what it did;
// empty where the operator finds nothing.
func (b *built) breakOnce(t *testing.T, operator string, r *rand.Rand) string {
	t.Helper()
	sources := b.breakable(t)
	r.Shuffle(len(sources), func(i, j int) { sources[i], sources[j] = sources[j], sources[i] })
	var all []*mutate.Mutant
	for _, s := range sources {
		if s.Name == gensql.QueryName(b.m, "History") || s.Name == gensql.QueryName(b.m, "Get") || len(all) > 0 {
			continue // nobody asks here what these say
		}
		mutants, err := mutate.Mutants(s)
		require.NoError(t, err)
		for _, m := range mutants {
			if m.Operator == operator {
				all = append(all, m)
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	m := all[r.IntN(len(all))]
	b.queries[m.Source.Name] = query{sql: m.SQL(), params: b.queries[m.Source.Name].params}
	return m.String()
}

// broken are ways in which a renderer could be wrong: operators of internal/mutate.
var broken = []string{
	"is-true",     // what NULL means to a guard
	"number",      // of a version, or a cell
	"topic-twice", // emits
	"interval",    // of a deadline
	"param-other", // identities
}

// others are the rest of the operators whose changes calls one after the other show.
var others = []string{
	"and-drop", "state-add", "state-drop", "cell-other", "when-drop", "arithmetic", "write-twice", "write-drop", "topic-other", "set-drop", "event-other", "outcome-other", "value-swap", "compare",
}

var allBroken = flag.Bool("broken", false, "break statements in all ways, not in a few")

// within is how many machines may pass before a broken statement is noticed.
const within = 40

// Broken statements are noticed. How soon is logged.
func TestBrokenStatementsAreNoticed(t *testing.T) {
	t.Parallel()
	if raced {
		t.Skip("one goroutine's work on parse trees, which the race detector makes take minutes; make test-plain has it")
	}
	var names []string
	for _, op := range mutate.Operators() {
		names = append(names, op.Name)
	}
	if *allBroken {
		broken = append(broken, others...)
	}
	generator := rapid.Custom(randommachine.Definition)
	for _, operator := range broken {
		require.Contains(t, names, operator)
		t.Run(operator, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			r := rand.New(rand.NewPCG(1, 2))
			tried := 0
			for seed := 0; tried < within; seed++ {
				definition := generator.Example(seed)
				m, err := build(definition)
				if err != nil {
					continue
				}
				what := m.breakOnce(t, operator, r)
				if what == "" {
					continue
				}
				tried++
				c := rapid.Custom(func(t *rapid.T) randommachine.Case {
					c := randommachine.Case{Definition: definition, Keys: randommachine.Keys(t, m.m, rows)}
					c.Steps = randommachine.Steps(t, m.m, len(c.Keys), steps)
					return c
				}).Example(seed)
				if err := b.try(t.Context(), m, c); err != nil {
					t.Logf("noticed on machine %d: %s\n%v", tried, what, err)
					return
				}
			}
			require.Fail(t, "not noticed")
		})
	}
}
