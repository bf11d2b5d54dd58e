package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	canvases "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/pawl-go/pawl/bench/internal/compare"
	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/goal"
	"github.com/pawl-go/pawl/bench/internal/result"
)

// picture is throughput over callers, a line a contender.
type picture struct {
	file, title string
	lines       []line
}

type line struct {
	name   string
	points plotter.XYs
	// spread has the quartiles' distances from the points.
	spread plotter.YErrors
}

// pictures are those of first deliveries, one for each distance at which they were
// measured, and of duplicates.
func pictures(a *result.All) []picture {
	var all []picture
	for _, kind := range []string{compare.First, compare.Duplicates} {
		for _, delay := range []time.Duration{compare.Near, compare.Away} {
			p := picture{title: capital(kind) + " a second"}
			p.file = strings.ReplaceAll(kind, " ", "-")
			if delay > 0 {
				p.title += fmt.Sprintf(", with a round trip of %d ms", delay/time.Millisecond)
				p.file += fmt.Sprintf("-%dms", delay/time.Millisecond)
			}
			p.file += ".svg"
			if p.lines = lines(a, kind, delay); len(p.lines) > 0 {
				all = append(all, p)
			}
		}
	}
	return all
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// lines has a line for each contender, in the order in which they first come.
func lines(a *result.All, kind string, delay time.Duration) []line {
	var all []line
	for _, c := range a.Comparisons {
		if c.Load.Kind != kind || c.Load.Delay != delay || c.Load.Event != string(contender.Paid) {
			continue
		}
		for _, row := range c.Rows {
			if row.Sum.Median <= 0 {
				continue // failed; and a logarithm has no place for 0
			}
			i := slices.IndexFunc(all, func(l line) bool { return l.name == row.Contender })
			if i < 0 {
				i = len(all)
				all = append(all, line{name: row.Contender})
			}
			all[i].points = append(all[i].points, plotter.XY{X: float64(c.Load.Callers), Y: row.Sum.Median})
			all[i].spread = append(all[i].spread, struct{ Low, High float64 }{row.Sum.Median - row.Sum.Low, row.Sum.High - row.Sum.Median})
		}
	}
	return all
}

// errorPoints are points with their spread, as the plotter wants them.
type errorPoints struct {
	plotter.XYs
	plotter.YErrors
}

// draw draws a picture as SVG, both axes logarithmic.
func draw(p picture) ([]byte, error) {
	chart := plot.New()
	chart.Title.Text, chart.Title.Padding = p.title, vg.Points(10)
	for _, text := range []*font.Font{&chart.Title.TextStyle.Font, &chart.X.Label.TextStyle.Font, &chart.Y.Label.TextStyle.Font,
		&chart.X.Tick.Label.Font, &chart.Y.Tick.Label.Font, &chart.Legend.TextStyle.Font} {
		text.Variant = "Sans"
	}
	chart.Title.TextStyle.Font.Size = vg.Points(15)
	chart.BackgroundColor = color.White // also where a page is dark
	chart.X.Label.Text, chart.Y.Label.Text = "callers", "a second"
	chart.X.Scale, chart.Y.Scale = plot.LogScale{}, plot.LogScale{}
	chart.Y.Tick.Marker = tens{}
	chart.X.Tick.Marker = callersOf(p.lines)
	chart.Legend.Top, chart.Legend.Left = false, false
	chart.Legend.XOffs, chart.Legend.YOffs, chart.Legend.Padding, chart.Legend.ThumbnailWidth = vg.Points(-8), vg.Points(8), vg.Points(3), vg.Points(30)
	chart.Add(plotter.NewGrid())
	for i, l := range p.lines {
		drawn, points, err := plotter.NewLinePoints(l.points)
		if err != nil {
			return nil, err
		}
		bars, err := plotter.NewYErrorBars(errorPoints{l.points, l.spread})
		if err != nil {
			return nil, err
		}
		paint := colorOf(l.name, i)
		drawn.Color, points.Color, bars.Color = paint, paint, paint
		points.Shape, points.Radius, drawn.Width = plotutil.Shape(i), vg.Points(3), vg.Points(1)
		if strings.HasPrefix(l.name, ours) {
			drawn.Width = vg.Points(2.5)
		} else {
			drawn.Dashes = plotutil.Dashes(i%3 + 1)
		}
		chart.Add(drawn, points, bars)
		chart.Legend.Add(l.name, drawn, points)
	}
	widen(chart)
	canvas := vgsvg.New(26*vg.Centimeter, 16*vg.Centimeter)
	chart.Draw(canvases.New(canvas))
	var b bytes.Buffer
	_, err := canvas.WriteTo(&b)
	return b.Bytes(), err
}

// ours is how the names of Pawl's contenders begin.
const ours = "Pawl"

// Pawl's lines have strong colors and the others pale ones, all of them apart.
var (
	strong = map[string]color.Color{
		"Pawl": rgb(0x0b5394), "Pawl in a transaction": rgb(0x3d9bd9), "Pawl batch": rgb(0x6a1b9a), "Pawl coalesced": rgb(0xc62828),
	}
	pale = []color.Color{rgb(0x000000), rgb(0x7a7a7a), rgb(0xb07d2b), rgb(0x6b8e23), rgb(0x2e8b7a), rgb(0xc48f9f), rgb(0x8d6e63), rgb(0x9fa8da)}
)

func rgb(hex uint32) color.Color {
	return color.RGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 255} // #nosec G115 -- a byte each
}

func colorOf(name string, i int) color.Color {
	if c, ok := strong[name]; ok {
		return c
	}
	return pale[i%len(pale)]
}

// tens marks the powers of ten with their thousands apart, and what is between
// without words.
type tens struct{}

// Ticks returns the marks.
func (tens) Ticks(low, high float64) []plot.Tick {
	ticks := plot.LogTicks{Prec: -1}.Ticks(low, high)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = goal.Number(ticks[i].Value)
		}
	}
	return ticks
}

// widen leaves room for the legend at the right, and something above and below.
func widen(chart *plot.Plot) {
	if chart.X.Min == chart.X.Max {
		chart.X.Min, chart.X.Max = chart.X.Min*0.9, chart.X.Max*1.1
	}
	chart.X.Max *= math.Pow(chart.X.Max/chart.X.Min, 0.42)
	chart.Y.Min, chart.Y.Max = chart.Y.Min*0.8, chart.Y.Max*1.3
}

// callersOf marks the numbers of callers that were measured.
func callersOf(lines []line) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for _, l := range lines {
		for _, point := range l.points {
			tick := plot.Tick{Value: point.X, Label: strconv.Itoa(int(point.X))}
			if !slices.Contains(ticks, tick) {
				ticks = append(ticks, tick)
			}
		}
	}
	return ticks
}
