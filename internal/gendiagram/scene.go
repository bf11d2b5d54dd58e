package gendiagram

import (
	"strings"

	"github.com/pawl-go/pawl/internal/picture"
	"github.com/pawl-go/pawl/internal/wording"
)

// scene is a picture with all its words, cut into lines, and its colours. Its
// texts are as people read them: the formats escape them.
type scene struct {
	source string
	title  string
	colors palette
	nodes  []sceneNode
	edges  []sceneEdge
	legend []string
	// initial is the place of the initial state in nodes, -1 when it is not drawn.
	initial int
}

type sceneNode struct {
	*picture.Node
	// title is what the state is called; never empty.
	title []string
	// under is written below it: the name beside a label, whether rows may stay.
	under []string
	// remarks are what the state refuses and compensates.
	remarks []string
	// focus says that the slice is about the state.
	focus bool
}

type sceneEdge struct {
	*picture.Edge
	// from and to are places in nodes.
	from, to int
	// lines are empty in an overview.
	lines []string
}

// Widths of lines, in columns of a terminal.
const (
	titleWidth  = 64
	remarkWidth = 44
	edgeWidth   = 28
	loopWidth   = 20 // layouts leave little room beside a state
	legendWidth = 76
)

// markHappy stands for the thick line of the happy path.
const markHappy = "═"

var (
	overview = wording.Phrase{EN: "%s: overview", ZH: "%s:概览"}
	slice    = wording.Phrase{EN: "%s: what leads into and out of %s", ZH: "%s:进入和离开 %s 的事件"}
	part     = wording.Phrase{EN: "%s (%d of %d)", ZH: "%s(%d/%d)"}
)

func newScene(p *picture.Picture, o Options) scene {
	s := scene{source: clean(p.Machine.Source), title: clean(title(p, o.Lang)), colors: palettes[o.Theme], initial: -1}
	places := make([]int, len(p.Machine.States))
	for i, n := range p.Nodes {
		places[n.State.Index] = i
		if n.State.Initial {
			s.initial = i
		}
		s.nodes = append(s.nodes, newNode(p, n, o.Lang))
	}
	for _, e := range p.Edges {
		s.edges = append(s.edges, sceneEdge{Edge: e, from: places[e.From.Index], to: places[e.To.Index], lines: edgeLines(p, e, o)})
	}
	s.legend = legend(p, o)
	return s
}

func title(p *picture.Picture, lang string) string {
	text := p.Machine.Name
	switch {
	case p.Focus != nil:
		state, _ := picture.Title(p.Focus, lang)
		text = slice.Sprintf(lang, text, state)
	case p.Bare:
		text = overview.Sprintf(lang, text)
	}
	if p.Parts > 1 {
		text = part.Sprintf(lang, text, p.Part, p.Parts)
	}
	return text
}

func newNode(p *picture.Picture, n *picture.Node, lang string) sceneNode {
	title, name := picture.Title(n.State, lang)
	node := sceneNode{Node: n, title: wrap(title, titleWidth), focus: n.State == p.Focus}
	if name != "" {
		node.under = wrap(name, titleWidth)
	}
	if standing := picture.Standing(n.State, lang); standing != "" {
		node.under = append(node.under, standing)
	}
	for _, r := range p.Remarks(n) {
		node.remarks = append(node.remarks, wrap(r.Text(lang), remarkWidth)...)
	}
	return node
}

func edgeLines(p *picture.Picture, e *picture.Edge, o Options) []string {
	width := edgeWidth
	if e.Loop() {
		width = loopWidth
	}
	var lines []string
	if !p.Bare {
		for _, a := range e.Arcs {
			lines = append(lines, wrap(a.Text(o.Lang, o.Emits), width)...)
		}
	}
	return lines
}

// legend has a line for each sign that has a mark or is a thick line, for each remark that is
// about no single state, and for each guard.
func legend(p *picture.Picture, o Options) []string {
	var lines []string
	for _, e := range p.Legend(o.Lang, o.Emits) {
		switch {
		case e.Sign == picture.SignHappy: // a thick line, where there are lines
			lines = append(lines, markHappy+" "+e.Text)
		case e.Mark != "":
			lines = append(lines, wrap(e.Mark+" "+e.Text, legendWidth)...)
		}
	}
	for _, r := range p.Everywhere {
		lines = append(lines, wrap(r.Text(o.Lang), legendWidth)...)
	}
	for _, g := range p.Guards() {
		lines = append(lines, wrap(picture.Explained(g), legendWidth)...)
	}
	return lines
}

// words are all that is written in a node, line by line.
func (n sceneNode) words() []string {
	return append(append(append([]string{}, n.title...), n.under...), n.remarks...)
}

// clean makes one line of a text, in which every character can be seen.
func clean(text string) string {
	return strings.Join(strings.Fields(strings.Map(visible, text)), " ")
}
