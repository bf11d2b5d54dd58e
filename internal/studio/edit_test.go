package studio_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/pawl-go/pawl/internal/pipeline"
	"github.com/pawl-go/pawl/internal/studio"
)

// journey is a machine with many states.
func journey(states int) string {
	var b strings.Builder
	b.WriteString("machine: journey\nstates:\n  STOP_0: {initial: true}\n")
	for i := 1; i < states; i++ {
		fmt.Fprintf(&b, "  STOP_%d: {%s}\n", i, map[bool]string{true: "final: true"}[i == states-1])
	}
	b.WriteString("events:\n  go_on: {expect: version}\n  go_back: {expect: version}\ntransitions:\n")
	for i := range states - 1 {
		fmt.Fprintf(&b, "  - {event: go_on, from: STOP_%d, to: STOP_%d}\n", i, i+1)
		if i%6 == 5 {
			fmt.Fprintf(&b, "  - {event: go_back, from: STOP_%d, to: STOP_%d}\n", i, i-5)
		}
	}
	return b.String()
}

func TestPagesHearOfAnEdit(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"lamp.yaml": lamp}), studio.Options{})
	next := s.listen()
	event, first := next()
	require.Equal(t, "changed", event, "the stream begins with what there is")
	require.Contains(t, said(s.parsed("/")), "A lamp")

	s.write("lamp.yaml", strings.Replace(lamp, "A lamp", "A green lamp", 1))
	event, second := next()
	require.Equal(t, "changed", event)
	require.NotEqual(t, first, second)
	_, body := s.get(200, "/m/lamp")
	require.Contains(t, body, "A green lamp")
	require.Contains(t, body, `data-heard="`+second+`"`)

	s.write("torch.yaml", strings.Replace(lamp, "machine: lamp", "machine: torch", 1))
	_, third := next()
	require.NotEqual(t, second, third)
	s.get(200, "/m/torch")

	require.NoError(t, os.Remove(filepath.Join(s.dir, "definitions", "torch.yaml")))
	s.look()
	_, fourth := next()
	require.Equal(t, second, fourth, "equal definitions are called the same")
	s.get(404, "/m/torch")
}

// A file that is still being written is left alone: it is taken when two looks see the
// same.
func TestAMistakeLeavesTheLastPicture(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"lamp.yaml": lamp, "other.yaml": strings.Replace(lamp, "machine: lamp", "machine: other", 1)}), studio.Options{})
	for name, text := range map[string]string{
		"a state that there is not": strings.Replace(lamp, `to: "ON"`, `to: "GREEN"`, 1),
		"no YAML":                   "machine: lamp\nstates: {\n",
		"nothing":                   "",
		"another kind of file":      "\x00\x01\xff",
	} {
		s.write("lamp.yaml", text)
		root := s.parsed("/m/lamp")
		require.Contains(t, said(root), "The definition has errors now.", name)
		require.Len(t, states(root), 2, name)
		source := s.parsed("/m/lamp/source")
		require.Contains(t, said(source), "FSM", name)
		require.NotContains(t, said(s.parsed("/m/other")), "The definition has errors now.", name)
		require.Regexp(t, `[1-9]\d* errors?\b`, said(s.parsed("/")), name)
		for _, page := range []string{"suites", "suites/all-cells", "diff"} {
			s.get(200, "/m/lamp/"+page)
		}
		s.write("lamp.yaml", lamp)
		require.NotContains(t, said(s.parsed("/m/lamp")), "The definition has errors now.", name)
	}
}

func states(root *html.Node) (names []string) {
	for n := range root.Descendants() {
		if classes, _ := attribute(n, "class"); strings.HasPrefix(classes, "pawl-state") {
			name, _ := attribute(n, "data-state")
			names = append(names, name)
		}
	}
	return names
}

func TestAFileThatWasNeverRightHasItsFindings(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"odd name.yaml": "states: {\n", "known.yaml": strings.Replace(lamp, `to: "ON"`, `to: "GREEN"`, 1)}), studio.Options{})
	require.Contains(t, said(s.parsed("/m/odd%20name")), "there is no machine yet")
	require.Contains(t, said(s.parsed("/m/lamp")), "there is no machine yet", "its name is known all the same")
	s.get(200, "/m/odd%20name/suites")
	s.get(200, "/m/odd%20name/diff")
	s.get(404, "/m/odd%20name/suites/all-cells")
	s.get(404, "/m/odd%20name/files/x.svg")
}

// The card of a definition that was never right leads to the lines of its first errors; one
// that was right keeps its picture, and leads there, too.
func TestCardsOfWrongDefinitionsLeadToTheirLines(t *testing.T) {
	t.Parallel()
	wrong := strings.Replace(lamp, `to: "ON"`, `to: "GREEN"`, 1)
	line := 1 + strings.Count(wrong[:strings.Index(wrong, "GREEN")], "\n")
	s := serve(t, project(t, map[string]string{"lamp.yaml": wrong, "torch.yaml": strings.Replace(lamp, "machine: lamp", "machine: torch", 1)}), studio.Options{})
	s.write("torch.yaml", strings.Replace(wrong, "machine: lamp", "machine: torch", 1))
	for _, name := range []string{"lamp", "torch"} {
		card := byID(s.parsed("/"), "card-"+name)
		var to []string
		for _, list := range under(card, "firsts") {
			for n := range list.Descendants() {
				if href, ok := attribute(n, "href"); ok {
					to = append(to, href)
				}
			}
		}
		require.Equal(t, []string{fmt.Sprintf("/m/%s/source#L%d", name, line)}, to)
		require.Contains(t, said(card), `state "GREEN" is not declared`)
		require.Len(t, states(card), map[string]int{"lamp": 0, "torch": 2}[name], name)
		require.Len(t, under(card, "excerpt"), map[string]int{"lamp": 1, "torch": 0}[name], name)
	}
	require.Empty(t, under(s.parsed("/m/lamp/source"), "firsts"))
}

func byID(root *html.Node, id string) *html.Node {
	for n := range root.Descendants() {
		if have, _ := attribute(n, "id"); have == id {
			return n
		}
	}
	return nil
}

func TestTwoFilesOfOneNameAreBothShown(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"a.yaml": lamp, "b.yaml": lamp}), studio.Options{})
	require.Contains(t, said(s.parsed("/m/lamp/source")), "a.yaml")
	require.Contains(t, said(s.parsed("/m/lamp-2/source")), "b.yaml")
}

// A folder that cannot be read for a while takes nothing away.
func TestDefinitionsThatAreGoneAreStillShown(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"lamp.yaml": lamp}), studio.Options{})
	next := s.listen()
	_, first := next()
	away := filepath.Join(s.dir, "away")
	require.NoError(t, os.Rename(filepath.Join(s.dir, "definitions"), away))
	s.look()
	_, second := next()
	require.NotEqual(t, first, second)
	require.Contains(t, said(s.parsed("/m/lamp")), "The definitions cannot be read:")
	require.NoError(t, os.Rename(away, filepath.Join(s.dir, "definitions")))
	s.look()
	_, third := next()
	require.Equal(t, first, third)
	require.NotContains(t, said(s.parsed("/m/lamp")), "The definitions cannot be read:")
}

// What cannot be read among the definitions is told by its name, and the others go on.
func TestOneThatCannotBeReadStopsNoOther(t *testing.T) {
	t.Parallel()
	torch := strings.Replace(lamp, "machine: lamp", "machine: torch", 1)
	for kind, place := range map[string]func(s *open, at string) (why string){
		"a linked folder": func(s *open, at string) string {
			require.NoError(s, os.Symlink(s.TempDir(), at))
			return "a link to a folder is not followed"
		},
		"a pipe": func(s *open, at string) string {
			require.NoError(s, syscall.Mkfifo(at, 0o644))
			return "not a regular file"
		},
		"a link to nowhere": func(s *open, at string) string {
			require.NoError(s, os.Symlink(filepath.Join(s.dir, "nowhere"), at))
			return "no such file"
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := serve(t, project(t, map[string]string{"lamp.yaml": lamp, "torch.yaml": torch}), studio.Options{})
			next := s.listen()
			_, first := next()
			at := filepath.Join(s.dir, "definitions", "torch.yaml")
			require.NoError(t, os.Remove(at))
			why := place(s, at)
			s.look()
			_, second := next()
			require.NotEqual(t, first, second)
			page := said(s.parsed("/"))
			require.Contains(t, page, "definitions/torch.yaml")
			require.Contains(t, page, why)
			require.NotContains(t, page, "The definitions cannot be read:")

			s.write("lamp.yaml", strings.Replace(lamp, "A lamp", "A green lamp", 1))
			_, third := next()
			require.NotEqual(t, second, third)
			require.Contains(t, said(s.parsed("/m/lamp")), "A green lamp")
			require.Contains(t, said(s.parsed("/m/torch")), "A lamp", "what was read of it before stays")

			require.NoError(t, os.Remove(at))
			s.write("torch.yaml", torch)
			_, _ = next()
			require.NotContains(t, said(s.parsed("/")), why)
			require.Contains(t, said(s.parsed("/m/lamp")), "A green lamp")
		})
	}
}

func TestWithoutDefinitionsThereIsNoStudio(t *testing.T) {
	t.Parallel()
	_, err := studio.New(t.Context(), studio.Options{Root: project(t, nil), Paths: []string{"definitions"}, Addr: "127.0.0.1:1"})
	require.ErrorIs(t, err, pipeline.ErrNoDefinitions)
	_, err = studio.New(t.Context(), studio.Options{Root: t.TempDir(), Paths: []string{"definitions"}, Addr: "127.0.0.1:1"})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestFindingsStandBesideTheirLine(t *testing.T) {
	t.Parallel()
	text := strings.Replace(lamp, `to: "ON"`, `to: "GREEN"`, 1)
	s := serve(t, project(t, map[string]string{"lamp.yaml": text}), studio.Options{})
	root := s.parsed("/m/lamp/source")
	line := 1 + strings.Count(text[:strings.Index(text, "GREEN")], "\n")
	found := 0
	for n := range root.Descendants() {
		id, ok := attribute(n, "id")
		if !ok || n.Data != "li" || !strings.HasPrefix(id, "L") {
			continue
		}
		text := said(n)
		if strings.Contains(text, "FSM") {
			found++
			require.Equal(t, fmt.Sprintf("L%d", line), id)
			require.Contains(t, text, `"GREEN"`)
			var hit []string
			for below := range n.Descendants() {
				if class, _ := attribute(below, "class"); strings.Contains(class, "hit") {
					hit = append(hit, said(below))
				}
			}
			require.Equal(t, `"`, strings.Join(hit, ""), "the place is underlined")
		}
	}
	require.Equal(t, 1, found)
	require.Contains(t, said(s.parsed("/rules/FSM012")), "A case that fails")
}

func TestStreamsEndWithTheStudio(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"lamp.yaml": lamp}), studio.Options{})
	next := s.listen()
	_, _ = next()
	s.studio.Close()
	event, _ := next()
	require.Empty(t, event)
	s.get(http.StatusServiceUnavailable, "/events")
	s.get(200, "/m/lamp")
}
