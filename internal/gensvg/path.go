package gensvg

import (
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/internal/layered"
)

// headLength and headWidth are an arrowhead's.
const (
	headLength = 9
	headWidth  = 8
)

// path is a route as an SVG path, and the arrowhead at its end, which points
// along the direction. The line stops inside the head.
func path(route []layered.Point, d layered.Direction) (line, head string) {
	r := append([]layered.Point(nil), route...)
	tip := r[len(r)-1]
	sign := 1
	if before := r[0]; along(before, d) > along(tip, d) {
		sign = -1
	}
	for i := len(r) - 2; i < len(r); i++ { // cut the end off
		over := sign*along(r[i], d) - (sign*along(tip, d) - headLength + 2)
		if over > 0 {
			r[i] = moved(r[i], d, -sign*over)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "M%d %d", r[0].X, r[0].Y)
	at := r[0] // where the pen is: straight pieces are gathered into one line
	for i := 2; i < len(r); i += 2 {
		from, to := r[i-1], r[i]
		if across(from, d) == across(to, d) {
			continue
		}
		lineTo(&b, at, from)
		if d == layered.Right {
			mid := (from.X + to.X) / 2
			fmt.Fprintf(&b, "C%d %d %d %d %d %d", mid, from.Y, mid, to.Y, to.X, to.Y)
		} else {
			mid := (from.Y + to.Y) / 2
			fmt.Fprintf(&b, "C%d %d %d %d %d %d", from.X, mid, to.X, mid, to.X, to.Y)
		}
		at = to
	}
	lineTo(&b, at, r[len(r)-1])
	return b.String(), arrowhead(tip, d, sign)
}

func lineTo(b *strings.Builder, from, to layered.Point) {
	switch {
	case from == to:
	case from.Y == to.Y:
		fmt.Fprintf(b, "H%d", to.X)
	default:
		fmt.Fprintf(b, "V%d", to.Y)
	}
}

func along(p layered.Point, d layered.Direction) int {
	if d == layered.Right {
		return p.X
	}
	return p.Y
}

func across(p layered.Point, d layered.Direction) int {
	if d == layered.Right {
		return p.Y
	}
	return p.X
}

func moved(p layered.Point, d layered.Direction, by int) layered.Point {
	if d == layered.Right {
		return layered.Point{X: p.X + by, Y: p.Y}
	}
	return layered.Point{X: p.X, Y: p.Y + by}
}

// arrowhead is a triangle whose tip is at a point, to the right or down for
// sign 1, the other way for -1.
func arrowhead(tip layered.Point, d layered.Direction, sign int) string {
	if d == layered.Right {
		return fmt.Sprintf("M%d %dl%d %dv%dz", tip.X, tip.Y, -sign*headLength, -headWidth/2, headWidth)
	}
	return fmt.Sprintf("M%d %dl%d %dh%dz", tip.X, tip.Y, -headWidth/2, -sign*headLength, headWidth)
}

// loopPath leaves a node and comes back to it behind the loop's label: over the
// node when layers go right, else at its right.
func loopPath(node, label layered.Box, d layered.Direction) (line, head string) {
	const half = 11
	if d == layered.Right {
		x, top, inside := node.X+node.W/2, node.Y, label.Y+label.H/2
		tip := layered.Point{X: x - half, Y: top}
		return fmt.Sprintf("M%d %dV%dH%dV%d", x+half, top, inside, x-half, top-headLength+2), arrowhead(tip, layered.Down, 1)
	}
	y, right, inside := node.Y+node.H/2, node.X+node.W, label.X+label.W/2
	tip := layered.Point{X: right, Y: y + half}
	return fmt.Sprintf("M%d %dH%dV%dH%d", right, y-half, inside, y+half, right+headLength-2), arrowhead(tip, layered.Right, -1)
}
