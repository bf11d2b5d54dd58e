package gendiagram_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/gendiagram"
	"github.com/pawl-go/pawl/internal/needs"
)

// mermaidRead is what the script says of a diagram.
type mermaidRead struct {
	Name, Error string
	States      []struct {
		ID, Note string
		Texts    []string
		Classes  []string
	}
	Edges []struct{ From, To, Text string }
	Shown []string
}

// mermaidIn is a diagram for the script.
type mermaidIn struct {
	Name   string `json:"name"`
	Text   string `json:"text"`
	Render bool   `json:"render"`
}

// readMermaid has Mermaid's own parser read texts, and draw those that are to be
// rendered.
func readMermaid(t *testing.T, all ...mermaidIn) []mermaidRead {
	t.Helper()
	in, err := json.Marshal(all)
	require.NoError(t, err)
	cmd := needs.Node(t, "mermaid.mjs")
	cmd.Stdin = bytes.NewReader(in)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	require.NoError(t, err, problems.String())
	var read []mermaidRead
	require.NoError(t, json.Unmarshal(out, &read))
	require.Len(t, read, len(all))
	return read
}

// markdown are signs in a note as Markdown reads them: as such.
var markdown = regexp.MustCompile("\\\\([*_`~\\\\])")

func (r mermaidRead) graph(t *testing.T) graph {
	t.Helper()
	require.Empty(t, r.Error)
	var g graph
	places := map[string]int{}
	// What parts characters is not seen, and in none of the texts.
	plain := func(text string) string { return squeeze(strings.NewReplacer("<br>", " ", "\u200c", "").Replace(text)) }
	for _, s := range r.States {
		if strings.HasPrefix(s.ID, "root_") {
			continue
		}
		require.NotEmpty(t, s.Texts)
		places[s.ID] = len(g.states)
		g.states = append(g.states, plain(strings.Join(s.Texts, " ")))
		g.titles = append(g.titles, plain(s.Texts[0]))
		g.rest += markdown.ReplaceAllString(plain(s.Note), "$1")
	}
	if len(r.Shown) > 0 {
		g.rest = plain(strings.Join(r.Shown, " ")) // notes are Markdown: what counts is what is drawn
	}
	for _, e := range r.Edges {
		switch {
		case e.From == "root_start":
			g.initial = append(g.initial, places[e.To])
		case e.To == "root_end":
			g.final = append(g.final, places[e.From])
		default:
			require.Contains(t, places, e.From)
			require.Contains(t, places, e.To)
			g.edges = append(g.edges, edge{places[e.From], places[e.To], plain(e.Text)})
		}
	}
	return g
}

// Mermaid reads back the machines as they are, and what it then draws of hostile
// labels is what the definition says, character by character. Drawing takes a
// second a picture.
func TestMermaidReadsTheMachine(t *testing.T) {
	t.Parallel()
	drawings := wholes(t, "mermaid")
	in := make([]mermaidIn, len(drawings))
	for i, d := range drawings {
		in[i] = mermaidIn{d.name, d.text, d.hostile && d.lang != "" || d.machine.Name == "order"}
	}
	for i, read := range readMermaid(t, in...) {
		d := drawings[i]
		t.Run(d.name, func(t *testing.T) {
			require.Empty(t, read.Error, d.text)
			requireWhole(t, d.machine, d.lang, read.graph(t))
			if !in[i].Render {
				return
			}
			shown := make([]string, len(read.Shown))
			for i, s := range read.Shown {
				shown[i] = squeeze(strings.ReplaceAll(s, "\u200c", ""))
			}
			for _, s := range d.machine.States {
				require.Contains(t, shown, label(d.lang, s.Name, s.Labels))
			}
			all := strings.Join(shown, "\n")
			for _, e := range d.machine.Events {
				require.Contains(t, all, label(d.lang, e.Name, e.Labels))
			}
		})
	}
}

// Mermaid keeps its codes in texts in a way of its own, which a text can have too.
func TestMermaidTakesNoTextForItsOwnCode(t *testing.T) {
	t.Parallel()
	m := machine("x.yaml", "machine: m\nstates:\n  A: {initial: true, label: {en: aﬂ°°58¶ßb}}\n")
	text := string(render(t, m, "mermaid", gendiagram.Options{Lang: "en"})[0].Content)
	read := readMermaid(t, mermaidIn{"code", text, true})[0]
	require.Empty(t, read.Error)
	require.Contains(t, read.Shown, "aﬂ\u200c°°58¶\u200cßb")
}

// some leaves out most of the slices.
func some(files []gendiagram.File) (kept []gendiagram.File) {
	for i, f := range files {
		if sliceNumber.FindString(f.Name) == "" || i%50 == 0 {
			kept = append(kept, f)
		}
	}
	return kept
}

// Six hundred transitions are more than Mermaid draws in one picture, and a
// thousand states too: the parts are each read, and have everything.
func TestMermaidReadsALargeMachine(t *testing.T) {
	t.Parallel()
	machines, files := large(t, "mermaid")
	long := line(999)
	machines = append(machines, long)
	files = append(files, some(render(t, long, "mermaid", gendiagram.Options{})))
	var in []mermaidIn
	for _, fs := range files {
		for _, f := range fs {
			in = append(in, mermaidIn{f.Name, string(f.Content), false})
		}
	}
	read := readMermaid(t, in...)
	for i, m := range machines {
		graphs := make([]graph, len(files[i]))
		for j := range files[i] {
			graphs[j] = read[j].graph(t)
		}
		read = read[len(files[i]):]
		requireParts(t, m, files[i], graphs)
	}
}
