// Package gendiagram writes a machine as text that other programs draw: Mermaid,
// Graphviz dot and PlantUML. What is drawn, and in which order, internal/picture
// says; here it gets its lines, its colours and its escapes.
//
// Any name and any text of a definition is safe: a format's own words, quotes,
// comments, markup and directives in it are shown as they were written. What no
// reader could see, such as a character that turns the direction of writing
// round, is shown as U+FFFD.
package gendiagram

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
)

// Options say how a machine is drawn. The zero value draws names, in light.
type Options struct {
	// Lang is a BCP 47 tag: labels in that language where there are some, beside
	// the names, and the words around them. Empty is for names alone, in English.
	Lang string
	// Theme is Light or Dark; empty is Light.
	Theme Theme
	// Emits says whether arrows tell what they write to the outbox.
	Emits bool
	// State is the one to draw with what leads in and out; nil is for the whole
	// machine.
	State *model.State
}

// Theme is whether a picture is for a light or a dark ground.
type Theme string

// The themes.
const (
	Light Theme = "light"
	Dark  Theme = "dark"
)

// Themes returns the themes, the one that is meant when none is given first.
func Themes() []Theme { return []Theme{Light, Dark} }

// File is one diagram.
type File struct {
	// Name has no folder. It is of letters, digits, '_', '-' and '.' alone, and
	// unique among the files of one call, also where letter case does not count.
	Name    string
	Content []byte
}

// format is one language of diagrams.
type format struct {
	name, ending string
	write        func(scene) string
	// limit is what readers take, in UTF-16 code units; 0 is without end.
	limit int
}

var formats = []format{
	{"mermaid", "mmd", mermaid, mermaidLimit},
	{"dot", "dot", dot, 0},
	{"plantuml", "puml", plantUML, 0},
}

// Formats returns the names of the formats.
func Formats() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

// Render draws a machine. The first file, MACHINE.mmd or with the format's
// ending, is the whole picture where that can be read: up to picture.Large
// states and, for Mermaid, below the size that it refuses. Any other machine has
// an overview there, without what is written on its arrows, and a file a
// state: MACHINE-07-Paid.mmd, numbered in the order of the states. A file that
// would still be too big is cut into several, MACHINE-part2.mmd and so on,
// each complete in itself.
//
// The errors are those of a format or a theme that does not exist.
func Render(m *model.Machine, name string, o Options) ([]File, error) {
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == name })
	if i < 0 {
		return nil, fmt.Errorf("no format %q; there are %s", name, strings.Join(Formats(), ", "))
	}
	if o.Theme == "" {
		o.Theme = Light
	}
	if !slices.Contains(Themes(), o.Theme) {
		return nil, fmt.Errorf("no theme %q; there are light and dark", string(o.Theme))
	}
	r := renderer{machine: m, format: formats[i], options: o}
	whole := picture.Of(m)
	if o.State != nil {
		r.split(picture.SliceName(m, o.State), whole.Slice(o.State))
		return r.files, nil
	}
	if len(m.States) <= picture.Large && r.fits(whole) {
		r.add(m.Name, whole)
		return r.files, nil
	}
	r.split(m.Name, whole.Overview())
	for _, s := range m.States {
		r.split(picture.SliceName(m, s), whole.Slice(s))
	}
	return r.files, nil
}

type renderer struct {
	machine *model.Machine
	format  format
	options Options
	files   []File
}

func (r *renderer) text(p *picture.Picture) string {
	return r.format.write(newScene(p, r.options))
}

func (r *renderer) fits(p *picture.Picture) bool {
	return r.format.limit == 0 || units(r.text(p)) <= r.format.limit
}

// split adds a picture in as many files as it needs.
func (r *renderer) split(base string, p *picture.Picture) {
	for _, part := range p.Split(r.fits) {
		name := base
		if part.Part > 1 {
			name += fmt.Sprintf("-part%d", part.Part)
		}
		r.add(name, part)
	}
}

func (r *renderer) add(base string, p *picture.Picture) {
	r.files = append(r.files, File{Name: base + "." + r.format.ending, Content: []byte(r.text(p))})
}

// units is the length of a text in UTF-16 code units, as JavaScript counts.
func units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}
