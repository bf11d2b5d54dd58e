package gensvg_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
)

// element is one element of a picture as a second reader finds it.
type element struct {
	name     string
	attr     map[string]string
	text     string
	children []*element
}

// read parses XML strictly and returns the root.
func read(t *testing.T, content []byte) *element {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(content))
	root := &element{}
	stack := []*element{root}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err, "%s", content)
		top := stack[len(stack)-1]
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attr: map[string]string{}}
			for _, a := range token.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			top.children = append(top.children, e)
			stack = append(stack, e)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.text += string(token)
		}
	}
	require.Len(t, root.children, 1)
	return root.children[0]
}

// all are the elements below one, itself included, that have a class.
func (e *element) all(class string) []*element {
	var found []*element
	if slices.Contains(strings.Fields(e.attr["class"]), class) {
		found = append(found, e)
	}
	for _, c := range e.children {
		found = append(found, c.all(class)...)
	}
	return found
}

func (e *element) number(t *testing.T, name string) int {
	t.Helper()
	n, err := strconv.Atoi(e.attr[name])
	require.NoError(t, err, "%s of %s", name, e.name)
	return n
}

type rect struct{ x, y, w, h int }

func (e *element) rect(t *testing.T) rect {
	t.Helper()
	return rect{e.number(t, "x"), e.number(t, "y"), e.number(t, "width"), e.number(t, "height")}
}

func (a rect) touches(b rect) bool {
	return a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h
}

func (a rect) border(x, y int) bool {
	return x >= a.x && x <= a.x+a.w && y >= a.y && y <= a.y+a.h && (x == a.x || x == a.x+a.w || y == a.y || y == a.y+a.h)
}

func (a rect) inside(p [2]int) bool {
	return p[0] > a.x && p[0] < a.x+a.w && p[1] > a.y && p[1] < a.y+a.h
}

// begin is the first point of a path.
func begin(t *testing.T, d string) (x, y int) {
	t.Helper()
	_, err := fmt.Sscanf(d, "M%d %d", &x, &y)
	require.NoError(t, err, d)
	return x, y
}

// points are places along a line of a picture, close enough together that no
// box lies between two of them.
func points(t *testing.T, d string) [][2]int {
	t.Helper()
	var all [][2]int
	var at [2]int
	for _, part := range regexp.MustCompile(`[MCHV][^MCHV]*`).FindAllString(d, -1) {
		var n []int
		for _, f := range strings.Fields(part[1:]) {
			v, err := strconv.Atoi(f)
			require.NoError(t, err, d)
			n = append(n, v)
		}
		curve := [4][2]int{at, at, at, at}
		switch part[0] {
		case 'M':
			at = [2]int{n[0], n[1]}
			continue
		case 'H':
			curve[2], curve[3] = [2]int{n[0], at[1]}, [2]int{n[0], at[1]}
		case 'V':
			curve[2], curve[3] = [2]int{at[0], n[0]}, [2]int{at[0], n[0]}
		case 'C':
			curve = [4][2]int{at, {n[0], n[1]}, {n[2], n[3]}, {n[4], n[5]}}
		}
		const steps = 120
		for k := range steps + 1 {
			s, r := float64(k)/steps, 1-float64(k)/steps
			axis := func(i int) int {
				return int(math.Round(r*r*r*float64(curve[0][i]) + 3*r*r*s*float64(curve[1][i]) + 3*r*s*s*float64(curve[2][i]) + s*s*s*float64(curve[3][i])))
			}
			all = append(all, [2]int{axis(0), axis(1)})
		}
		at = curve[3]
	}
	return all
}

// compare holds a drawn picture against the picture that it should be.
func compare(t *testing.T, p *picture.Picture, content []byte) {
	t.Helper()
	svg := read(t, content)
	view := rect{}
	_, err := fmt.Sscanf(svg.attr["viewBox"], "0 0 %d %d", &view.w, &view.h)
	require.NoError(t, err)
	graph := svg.all("pawl-graph")[0]
	var dx, dy int
	_, err = fmt.Sscanf(graph.attr["transform"], "translate(%d %d)", &dx, &dy)
	require.NoError(t, err)

	boxes := map[string][]rect{} // a slice may draw a state twice
	var taken []rect
	drawn := map[string]bool{}
	for _, g := range graph.all("pawl-state") {
		drawn[g.attr["data-state"]] = true
		b := g.all("box")[0].rect(t)
		boxes[g.attr["data-state"]] = append(boxes[g.attr["data-state"]], b)
		taken = append(taken, b)
	}
	require.Len(t, drawn, len(p.Nodes), "every state is drawn")
	for _, pill := range graph.all("pill") {
		taken = append(taken, pill.rect(t))
	}
	for i, a := range taken {
		require.True(t, a.x+dx >= 0 && a.y+dy >= 0 && a.x+a.w+dx <= view.w && a.y+a.h+dy <= view.h, "%v is outside", a)
		for _, b := range taken[i+1:] {
			require.False(t, a.touches(b), "%v and %v touch", a, b)
		}
	}

	edges := map[[2]string]*element{}
	for _, g := range graph.all("pawl-edge") {
		if g.attr["data-from"] != "" || g.attr["data-to"] != "" {
			edges[[2]string{g.attr["data-from"], g.attr["data-to"]}] = g
		}
	}
	require.Len(t, edges, len(p.Edges), "every edge is drawn once")
	for _, e := range p.Edges {
		from, to := shown(e.From.Name), shown(e.To.Name)
		g := edges[[2]string{from, to}]
		require.NotNil(t, g, "%s to %s", from, to)
		line, head := g.all("line")[0].attr["d"], g.all("head")[0].attr["d"]
		ends := func(d string, boxes []rect) {
			x, y := begin(t, d)
			require.True(t, slices.ContainsFunc(boxes, func(b rect) bool { return b.border(x, y) }), "%s is not at %v", d, boxes)
		}
		ends(line, boxes[from])
		ends(head, boxes[to])
		for _, at := range points(t, line) {
			if at[0]+dx < 0 || at[1]+dy < 0 || at[0]+dx > view.w || at[1]+dy > view.h {
				t.Fatalf("%s leaves the picture", line)
			}
			for _, b := range taken {
				if b.inside(at) && !slices.ContainsFunc(g.all("pill"), func(own *element) bool { return own.rect(t) == b }) {
					t.Fatalf("%s passes over %v", line, b)
				}
			}
		}
		if p.Bare {
			continue
		}
		var events, want []string
		for _, arc := range g.all("pawl-arc") {
			events = append(events, arc.attr["data-event"])
		}
		for _, a := range e.Arcs {
			want = append(want, shown(a.Transition.Event.Name))
		}
		require.Equal(t, want, events)
	}
}

// shown is a name as XML can say it.
func shown(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && !strings.ContainsRune("\t\n\r", r) || r == '\u202e' {
			return '\ufffd'
		}
		return r
	}, name)
}

func TestRealMachines(t *testing.T) {
	t.Parallel()
	for _, m := range real(t) {
		for _, lang := range []string{"", "en", "zh"} {
			for _, emits := range []bool{false, true} {
				files, err := gensvg.Render(m, gensvg.Options{Lang: lang, Emits: emits})
				require.NoError(t, err)
				require.Len(t, files, 1)
				require.Equal(t, m.Name+".svg", files[0].Name)
				compare(t, picture.Of(m), files[0].Content)
			}
		}
	}
}

func TestRandomMachines(t *testing.T) {
	t.Parallel()
	const seed = 20261129
	for i := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, i))
		m := random(r, 1+r.IntN(12), r.IntN(14))
		t.Logf("seed %d, machine %d", seed, i)
		whole := picture.Of(m)
		files, err := gensvg.Render(m, gensvg.Options{Lang: "zh", Emits: true})
		require.NoError(t, err)
		compare(t, whole, files[0].Content)
		for _, s := range m.States[:min(3, len(m.States))] {
			slice := whole.Slice(s)
			content, err := gensvg.Fragment(slice, gensvg.Options{Lang: "en"})
			require.NoError(t, err)
			compare(t, slice, content)
		}
		bare, err := gensvg.Fragment(whole.Overview(), gensvg.Options{})
		require.NoError(t, err)
		compare(t, whole.Overview(), bare)
	}
}

// A machine of more than 25 states has an overview and a slice a state.
func TestSlices(t *testing.T) {
	t.Parallel()
	m := random(rand.New(rand.NewPCG(3, 3)), 40, 20)
	files, err := gensvg.Render(m, gensvg.Options{Lang: "zh"})
	require.NoError(t, err)
	require.Len(t, files, 41)
	require.Equal(t, "m.svg", files[0].Name)
	require.Nil(t, files[0].State)
	require.Equal(t, "m-07-S6.svg", files[7].Name)
	whole := picture.Of(m)
	compare(t, whole.Overview(), files[0].Content)
	for i, s := range m.States {
		require.Equal(t, s, files[i+1].State)
		compare(t, whole.Slice(s), files[i+1].Content)
	}

	alone, err := gensvg.Render(m, gensvg.Options{Lang: "zh", NoSlices: true})
	require.NoError(t, err)
	require.Equal(t, files[:1], alone)
}

// The largest machines have no picture of the whole, and are still drawn state
// by state.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	m := chain(1000, 10)
	files, err := gensvg.Render(m, gensvg.Options{})
	var large *gensvg.TooLarge
	require.ErrorAs(t, err, &large)
	require.Equal(t, 1000, large.States)
	require.ErrorContains(t, err, "machine chain has 1000 states")
	require.Len(t, files, 1000)
	whole := picture.Of(m)
	for _, i := range []int{0, 1, 500, 998, 999} {
		compare(t, whole.Slice(m.States[i]), files[i].Content)
	}
	_, err = gensvg.Fragment(picture.Of(m), gensvg.Options{})
	require.ErrorAs(t, err, &large)
	files, err = gensvg.Render(m, gensvg.Options{NoSlices: true})
	require.ErrorAs(t, err, &large)
	require.Empty(t, files)

	dense := chain(20, 0) // few states, each of which leads to all others
	for i, from := range dense.States {
		addEvent(dense, fmt.Sprint("go", i), false, model.Reject)
		for _, to := range dense.States {
			tr := &model.Transition{Event: dense.Events[i], From: []*model.State{from}, To: to, Index: len(dense.Transitions)}
			dense.Transitions = append(dense.Transitions, tr)
			cell := dense.Events[i].Cells[from.Index]
			cell.Transitions = append(cell.Transitions, tr)
		}
	}
	files, err = gensvg.Render(dense, gensvg.Options{})
	require.ErrorAs(t, err, &large)
	require.Equal(t, 400, large.Edges)
	require.Len(t, files, 20)
	compare(t, picture.Of(dense).Slice(dense.States[7]), files[7].Content)
}

func TestSameBytesEveryTime(t *testing.T) {
	t.Parallel()
	for _, m := range append(real(t)[:1], random(rand.New(rand.NewPCG(5, 5)), 30, 20)) {
		first, err := gensvg.Render(m, gensvg.Options{Lang: "en"})
		require.NoError(t, err)
		for range 20 {
			again, err := gensvg.Render(m, gensvg.Options{Lang: "en"})
			require.NoError(t, err)
			require.Equal(t, first, again)
		}
	}
}
