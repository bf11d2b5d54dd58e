package gendiagram_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/gendiagram"
	"github.com/pawl-go/pawl/internal/model"
)

// graph is a diagram as another program read it. Texts are without white space,
// since where lines are broken is the renderer's to choose.
type graph struct {
	// states have all that is written in each, title first.
	states []string
	// titles are, for each state, the title alone, where the reader knows it.
	titles []string
	edges  []edge
	// initial and final are places in states.
	initial []int
	final   []int
	// rest is all other text: the legend.
	rest string
}

type edge struct {
	from, to int
	text     string
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), "") }

// label is what a state or event must be called.
func label(lang, name string, labels []model.Label) string {
	for _, l := range labels {
		if l.Lang == lang {
			return squeeze(l.Text)
		}
	}
	return squeeze(name)
}

type arrow struct{ from, to *model.State }

// arrows are the machine's edges with the texts that must be on each: the
// event, by its label too, and the guard.
func arrows(m *model.Machine, lang string) map[arrow][]string {
	all := map[arrow][]string{}
	for _, t := range m.Transitions {
		for _, from := range t.From {
			a := arrow{from, t.To}
			all[a] = append(all[a], label(lang, t.Event.Name, t.Event.Labels))
			if t.Guard != nil {
				all[a] = append(all[a], "["+t.Guard.Name+"]")
			}
			if from.Deadline != nil && from.Deadline.Event == t.Event {
				all[a] = append(all[a], "○")
			}
			if t.Event.Callback && (from.Deadline == nil || from.Deadline.Event != t.Event) {
				all[a] = append(all[a], "◄")
			}
		}
	}
	return all
}

// identify returns the machine's state for each one that was read, by what is
// written in it. Of states with the same title, the name below tells.
func identify(t *testing.T, m *model.Machine, lang string, g graph) []*model.State {
	t.Helper()
	found := make([]*model.State, len(g.states))
	for i, text := range g.states {
		best := -1
		for _, s := range m.States {
			want := label(lang, s.Name, s.Labels)
			if lang != "" && want != squeeze(s.Name) {
				want += squeeze(s.Name)
			}
			if strings.HasPrefix(text, want) && len(want) > best && !slices.Contains(found, s) && (g.titles == nil || strings.HasPrefix(want, g.titles[i])) {
				found[i], best = s, len(want)
			}
		}
		require.NotNil(t, found[i], "no state is called %q", text)
	}
	return found
}

// requireWhole compares the only diagram of a machine with it.
func requireWhole(t *testing.T, m *model.Machine, lang string, g graph) {
	t.Helper()
	require.Len(t, g.states, len(m.States), "states")
	states := identify(t, m, lang, g)
	want := arrows(m, lang)
	for _, e := range g.edges {
		a := arrow{states[e.from], states[e.to]}
		texts, ok := want[a]
		require.True(t, ok, "no transition leads from %q to %q, or it is drawn twice", a.from.Name, a.to.Name)
		for _, text := range texts {
			require.Contains(t, e.text, text)
		}
		delete(want, a)
	}
	require.Empty(t, want, "not drawn")
	for i, s := range states {
		require.Equal(t, s.Initial, slices.Contains(g.initial, i), "initial: %q", s.Name)
		require.Equal(t, s.Final, slices.Contains(g.final, i), "final: %q", s.Name)
		require.Equal(t, s.Resting, strings.Contains(g.states[i], "□"+map[string]string{"zh": "可停留"}[lang]), "resting: %q", s.Name)
		for _, e := range m.Events {
			if c := e.Cells[s.Index]; !c.Moves() && c.Otherwise == model.Reject && refusals(m, s) <= 6 {
				require.Contains(t, g.states[i], label(lang, e.Name, e.Labels), "refused in %q", s.Name)
			}
		}
	}
	for _, guard := range m.Guards {
		require.Contains(t, g.rest, squeeze("["+guard.Name+"]"+guard.Describe))
	}
}

func refusals(m *model.Machine, s *model.State) int {
	n := 0
	for _, e := range m.Events {
		if c := e.Cells[s.Index]; !c.Moves() && c.Otherwise == model.Reject {
			n++
		}
	}
	return n
}

// drawing is one diagram of a corpus, to be read in one go with all others.
type drawing struct {
	name    string
	machine *model.Machine
	lang    string
	text    string
	hostile bool
}

// wholes are the machines that one picture holds, in the ways they are drawn.
func wholes(t *testing.T, format string) []drawing {
	t.Helper()
	var all []drawing
	add := func(name string, m *model.Machine, o gendiagram.Options, hostile bool) {
		files, err := gendiagram.Render(m, format, o)
		require.NoError(t, err)
		require.Len(t, files, 1)
		all = append(all, drawing{name, m, o.Lang, string(files[0].Content), hostile})
	}
	for _, m := range definitions() {
		add(m.Name, m, gendiagram.Options{}, false)
		add(m.Name+" zh dark", m, gendiagram.Options{Lang: "zh", Theme: gendiagram.Dark, Emits: true}, false)
	}
	for _, m := range hostileNames() {
		add("names from "+m.States[0].Name, m, gendiagram.Options{}, true)
	}
	for _, m := range hostileLabels() {
		add("labels from "+m.States[0].Label("en"), m, gendiagram.Options{Lang: "en"}, true)
	}
	return all
}

// requireParts compares the overview and the slices of a large machine with it:
// the parts of the overview have every state, and every edge once; those of a
// slice have its state's edges, each once. Graphs are in the order of files.
func requireParts(t *testing.T, m *model.Machine, files []gendiagram.File, graphs []graph) {
	t.Helper()
	seen := map[*model.State]bool{}
	edges := map[string]map[arrow]bool{} // by the number in a file's name, "" for the overview
	for i, g := range graphs {
		about := sliceNumber.FindString(files[i].Name)
		if edges[about] == nil {
			edges[about] = map[arrow]bool{}
		}
		states := identify(t, m, "", g)
		for _, s := range states {
			seen[s] = seen[s] || about == ""
		}
		for _, e := range g.edges {
			a := arrow{states[e.from], states[e.to]}
			require.False(t, edges[about][a], "%s: drawn twice", files[i].Name)
			require.Equal(t, about == "", e.text == "", "an overview has no texts, a slice has")
			edges[about][a] = true
		}
	}
	require.Len(t, seen, len(m.States))
	all := arrows(m, "")
	require.Len(t, edges[""], len(all))
	for about, have := range edges {
		if about == "" {
			continue
		}
		n, err := strconv.Atoi(about[1 : len(about)-1])
		require.NoError(t, err)
		want := 0
		for a := range all {
			if a.from == m.States[n-1] || a.to == m.States[n-1] {
				require.True(t, have[a], "%s has no %s to %s", about, a.from.Name, a.to.Name)
				want++
			}
		}
		require.Len(t, have, want)
	}
}

var sliceNumber = regexp.MustCompile(`-[0-9]+-`)

// large are the files of a machine of forty states, and of one whose states are
// few and whose transitions are many.
func large(t *testing.T, format string) (machines []*model.Machine, files [][]gendiagram.File) {
	t.Helper()
	machines = []*model.Machine{line(39), crowd(26, 600)}
	for _, m := range machines {
		files = append(files, render(t, m, format, gendiagram.Options{}))
	}
	return machines, files
}
