package gendiagram_test

import (
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/gendiagram"
	"github.com/pawl-go/pawl/internal/needs"
)

// scxml is PlantUML's export of a state diagram. It has the first line of each
// text alone, with its <U+0000> codes, and calls states by it.
type scxml struct {
	States []struct {
		ID          string `xml:"id,attr"`
		Transitions []struct {
			Event  string `xml:"event,attr"`
			Target string `xml:"target,attr"`
		} `xml:"transition"`
	} `xml:"state"`
}

// plantRead is a diagram with all texts that are drawn, as they are drawn.
type plantRead struct {
	scxml
	shown string
}

var (
	unicodeCode = regexp.MustCompile(`<U\+([0-9A-F]+)>`)
	svgText     = regexp.MustCompile(`<text[^>]*>([^<]*)</text>`)
)

func decoded(text string) string {
	return squeeze(unicodeCode.ReplaceAllStringFunc(text, func(code string) string {
		n, err := strconv.ParseInt(unicodeCode.FindStringSubmatch(code)[1], 16, 32)
		if err != nil {
			return code
		}
		return string(rune(n))
	}))
}

func readPlantUML(t *testing.T, texts ...string) []plantRead {
	t.Helper()
	plantuml := needs.Command(t, "plantuml", "plantuml")
	dir := t.TempDir()
	var files []string
	for i, text := range texts {
		file := filepath.Join(dir, fmt.Sprintf("%03d.puml", i))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		files = append(files, file)
	}
	for _, kind := range []string{"-tscxml", "-tsvg"} {
		cmd := exec.CommandContext(t.Context(), plantuml, append([]string{"-charset", "UTF-8", kind}, files...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	reads := make([]plantRead, len(texts))
	for i, file := range files {
		base := strings.TrimSuffix(file, ".puml")
		data, err := os.ReadFile(base + ".scxml")
		require.NoError(t, err)
		require.NoError(t, xml.Unmarshal(data, &reads[i].scxml))
		svg, err := os.ReadFile(base + ".svg")
		require.NoError(t, err)
		for _, text := range svgText.FindAllSubmatch(svg, -1) {
			var plain string
			require.NoError(t, xml.Unmarshal([]byte("<t>"+string(text[1])+"</t>"), &plain))
			reads[i].shown += squeeze(plain)
		}
	}
	return reads
}

func TestPlantUMLReadsTheMachine(t *testing.T) {
	t.Parallel()
	drawings := wholes(t, "plantuml")
	texts := make([]string, len(drawings))
	for i, d := range drawings {
		texts[i] = d.text
	}
	for i, read := range readPlantUML(t, texts...) {
		d := drawings[i]
		t.Run(d.name, func(t *testing.T) {
			requirePlant(t, d, read)
		})
	}
}

func requirePlant(t *testing.T, d drawing, read plantRead) {
	t.Helper()
	for _, s := range d.machine.States {
		require.Contains(t, read.shown, label(d.lang, s.Name, s.Labels))
		require.Contains(t, read.shown, squeeze(s.Name))
	}
	for _, texts := range arrows(d.machine, d.lang) {
		for _, text := range texts {
			require.Contains(t, read.shown, text)
		}
	}
	for _, g := range d.machine.Guards {
		require.Contains(t, read.shown, squeeze("["+g.Name+"]"+g.Describe))
	}
	have := map[[2]string]int{}
	for _, s := range read.States {
		for _, tr := range s.Transitions {
			have[[2]string{decoded(s.ID), decoded(tr.Target)}]++
		}
	}
	want := map[[2]string]int{}
	for a := range arrows(d.machine, d.lang) {
		want[[2]string{label(d.lang, a.from.Name, a.from.Labels), label(d.lang, a.to.Name, a.to.Labels)}]++
	}
	for _, s := range d.machine.States {
		title := label(d.lang, s.Name, s.Labels)
		if s.Initial {
			want[[2]string{"start", title}]++
		}
		if s.Final {
			want[[2]string{title, "end"}]++
		}
	}
	require.Equal(t, want, have)
}

// The overview and three slices of a machine of forty states.
func TestPlantUMLReadsALargeMachine(t *testing.T) {
	t.Parallel()
	m := line(39)
	files := render(t, m, "plantuml", gendiagram.Options{})
	require.Len(t, files, 41)
	read := readPlantUML(t, string(files[0].Content), string(files[1].Content), string(files[20].Content), string(files[40].Content))
	counts := make([]int, len(read))
	for i, r := range read {
		for _, s := range r.States {
			for _, tr := range s.Transitions {
				if s.ID != "start" && tr.Target != "end" {
					counts[i]++
				}
			}
		}
	}
	all := 0
	for a := range arrows(m, "") {
		if a.to.Name == "Cancelled" {
			all++
		}
	}
	require.Equal(t, []int{len(arrows(m, "")), 4, 6, all}, counts)
}
