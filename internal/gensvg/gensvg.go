// Package gensvg draws a machine as SVG, with nothing installed: its states as
// boxes, its transitions as arrows with what is written on them, the happy path
// straight through the middle. What is drawn comes from internal/picture and
// where it stands from internal/layered; here it gets its looks.
//
// No script and nothing from outside is in a picture. Every name and text of a
// definition is escaped, and the same machine always gives the same bytes.
package gensvg

import (
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
)

// Theme is the colours of a picture.
type Theme string

const (
	// Auto follows the reader's own setting, light or dark.
	Auto Theme = "auto"
	// Light is dark ink on a light ground, for paper too.
	Light Theme = "light"
	// Dark is the other way round.
	Dark Theme = "dark"
)

// Options say how a machine is drawn.
type Options struct {
	// Lang is the language of labels and of the words around them, a BCP 47 tag;
	// without one, states and events are called by their names alone and the
	// words are English.
	Lang string
	// Theme is Auto when it is empty.
	Theme Theme
	// Emits writes on each arrow what its transition writes to the outbox.
	Emits bool
	// State is the one to draw with what leads in and out, alone; nil is for the
	// whole machine. Fragment does not look at it.
	State *model.State
	// NoSlices leaves out the pictures of single states.
	NoSlices bool
	// ID begins the ids in the picture, and tells those of several in one page
	// apart. It is the machine's name when empty.
	ID string
	// NoTitle leaves out the machine's name and description, and NoLegend what
	// explains the signs, for a page that has them elsewhere.
	NoTitle, NoLegend bool
	// Figures leaves a place for a page's figure at each box and behind each event on an
	// arrow: a g of class pawl-figure, empty but for what Marks put into it. That of state N has the id ID-fN and its
	// origin at the upper right corner of the box. That of arc A of edge N has the id
	// ID-gN-A, and from its origin, which is in the middle of the line, room for
	// FigureWidth × FigureHeight. All are numbered from 1.
	Figures bool
}

// File is one picture.
type File struct {
	// Name is the file's, such as order.svg or, for a slice, order-07-Paid.svg,
	// numbered in the order of the states. It has no folder.
	Name string
	// State is the one that a slice is about; nil for the picture of the machine.
	State *model.State
	// Content is well-formed XML.
	Content []byte
}

// MaxStates and MaxEdges are what one picture of a whole machine has at most.
const (
	MaxStates = 60
	MaxEdges  = 300
)

// TooLarge says why there is no picture of a whole machine.
type TooLarge struct {
	Machine       *model.Machine
	States, Edges int
}

// Error names the machine, its size and the limits.
func (e *TooLarge) Error() string {
	return fmt.Sprintf("machine %s has %d states and %d edges: one picture holds at most %d and %d, and those that can be placed readably; its states are drawn one by one",
		e.Machine.Name, e.States, e.Edges, MaxStates, MaxEdges)
}

// Render draws the machine: one picture of it or, for a machine of more than
// picture.Large states, one without what is written on arrows, and one of each
// state with what leads in and out. For a machine that is too large for one
// picture the error is a *TooLarge, and the files are those of the states alone;
// there is no other error.
func Render(m *model.Machine, o Options) ([]File, error) {
	o = o.filled(m)
	whole := picture.Of(m)
	if o.State != nil {
		d, err := draw(whole.Slice(o.State), o, true)
		if err != nil {
			return nil, err
		}
		return []File{{Name: picture.SliceName(m, o.State) + ".svg", State: o.State, Content: d.file()}}, nil
	}
	var files []File
	main := whole
	if len(m.States) > picture.Large {
		main = whole.Overview()
	}
	d, err := draw(main, o, true)
	if err == nil {
		files = append(files, File{Name: m.Name + ".svg", Content: d.file()})
	}
	if o.NoSlices || len(m.States) <= picture.Large && err == nil {
		return files, err
	}
	for _, s := range m.States {
		slice, sliceErr := draw(whole.Slice(s), o, true)
		if sliceErr == nil {
			files = append(files, File{Name: picture.SliceName(m, s) + ".svg", State: s, Content: slice.file()})
		}
	}
	return files, err
}

// Fragment draws a picture of a machine or of a part of it as an svg element
// for an HTML page, without a style: the page has Style once. A picture that is
// too large is a *TooLarge.
//
// Each state is a g of class pawl-state with data-state, its name; each arrow a
// g of class pawl-edge with data-from and data-to; each transition on it a g of
// class pawl-arc with data-event; all are below one g of class pawl-graph.
// Ids are ID-sN and ID-eN, numbered from 1 by the places of states in
// the machine and of edges in the picture.
func Fragment(p *picture.Picture, o Options) ([]byte, error) {
	d, err := Draw(p, o)
	if err != nil {
		return nil, err
	}
	return d.file(), nil
}

// Draw is Fragment for a picture that gets marks: nearly all of the work is done here, once
// for all of them.
func Draw(p *picture.Picture, o Options) (*Drawing, error) {
	return draw(p, o.filled(p.Machine), false)
}

// filled gives the options that are not given, and an ID that is one word.
func (o Options) filled(m *model.Machine) Options {
	if o.Theme == "" {
		o.Theme = Auto
	}
	if o.ID == "" {
		o.ID = m.Name
	}
	o.ID = strings.Join(strings.Fields(o.ID), "_")
	return o
}

// draw composes the picture and writes it.
func draw(p *picture.Picture, o Options, alone bool) (*Drawing, error) {
	s, ok := compose(p, o)
	if !ok {
		return nil, &TooLarge{Machine: p.Machine, States: len(p.Nodes), Edges: len(p.Edges)}
	}
	return s.write(alone), nil
}
