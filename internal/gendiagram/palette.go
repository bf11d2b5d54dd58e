package gendiagram

import "github.com/pawl-go/pawl/internal/picture"

// palette has the colours of a theme, as #rrggbb. Every text on its ground has a
// contrast of at least 4.5 to 1.
type palette struct {
	ground, text, quiet                   string
	passing, happy, resting, final        box
	focus                                 string // the border of what a slice is about
	plainEdge, callbackEdge, deadlineEdge string
}

type box struct{ fill, stroke string }

var palettes = map[Theme]palette{
	Light: {
		ground: "#ffffff", text: "#0f172a", quiet: "#475569",
		passing: box{"#f1f5f9", "#64748b"}, happy: box{"#dbeafe", "#1d4ed8"},
		resting: box{"#fef3c7", "#b45309"}, final: box{"#dcfce7", "#15803d"},
		focus: "#be123c", plainEdge: "#475569", callbackEdge: "#7e22ce", deadlineEdge: "#b45309",
	},
	Dark: {
		ground: "#0f172a", text: "#f1f5f9", quiet: "#94a3b8",
		passing: box{"#1e293b", "#94a3b8"}, happy: box{"#1e3a8a", "#93c5fd"},
		resting: box{"#451a03", "#fbbf24"}, final: box{"#14532d", "#86efac"},
		focus: "#fb7185", plainEdge: "#94a3b8", callbackEdge: "#d8b4fe", deadlineEdge: "#fbbf24",
	},
}

// kind is the name of a node's look. Whether rows may stay comes first: the happy
// path is also seen in its arrows.
func (n sceneNode) kind() string {
	switch {
	case n.Rest() == picture.Final:
		return "final"
	case n.Rest() == picture.Resting:
		return "resting"
	case n.Happy:
		return "happy"
	}
	return "passing"
}

func (p palette) box(kind string) box {
	switch kind {
	case "final":
		return p.final
	case "resting":
		return p.resting
	case "happy":
		return p.happy
	}
	return p.passing
}

func (p palette) edge(k picture.Kind) string {
	switch k {
	case picture.Callback:
		return p.callbackEdge
	case picture.Deadline:
		return p.deadlineEdge
	}
	return p.plainEdge
}
