package studio

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/pawl-go/pawl/internal/live"
)

// series is one colour of a chart.
type series struct {
	Class, Name string
	// Minutes count back from now.
	Minutes [chartMinutes]int64
}

const chartMinutes = 60

// Sum is all of it.
func (s series) Sum() int64 {
	var sum int64
	for _, n := range s.Minutes {
		sum += n
	}
	return sum
}

// add counts something of a minute; what is older is not shown.
func (s *series) add(minute int, n int64) {
	if minute >= 0 && minute < chartMinutes {
		s.Minutes[minute] += n
	}
}

// chart is a picture of counts by minute, with the same as a table.
type chart struct {
	ID      string
	Series  []series
	Picture template.HTML
	// Back is how far back what was read goes, when that is not the whole hour.
	Back time.Duration
	// Span is how many minutes the picture has, and Top the end of its upward axis.
	Span int
	Top  int64
}

// Rows are the minutes in which there was anything, the newest first.
func (c chart) Rows() []chartRow {
	var rows []chartRow
	for m := range chartMinutes {
		row := chartRow{Minute: m}
		some := false
		for _, s := range c.Series {
			row.Counts = append(row.Counts, s.Minutes[m])
			some = some || s.Minutes[m] > 0
		}
		if some {
			rows = append(rows, row)
		}
	}
	return rows
}

type chartRow struct {
	Minute int
	Counts []int64
}

// fewMinutes are drawn, wider, where nothing is older.
const fewMinutes = 10

// span is how many minutes are drawn.
func (c chart) span() int {
	span := fewMinutes
	for _, s := range c.Series {
		for m := fewMinutes; m < chartMinutes; m++ {
			if s.Minutes[m] > 0 {
				span = chartMinutes
			}
		}
	}
	return span
}

// top is the end of the upward axis.
func (c chart) top() int64 {
	top := int64(1)
	for m := range chartMinutes {
		var sum int64
		for _, s := range c.Series {
			sum += s.Minutes[m]
		}
		top = max(top, sum)
	}
	return rounded(top)
}

// drawn draws the bars, which are as wide as there is room; the words of the axes stand
// beside, in the size of text. back is how far what was read goes.
func (c chart) drawn(back time.Duration) chart {
	const width, height = 720, 120
	c.Span, c.Top = c.span(), c.top()
	if back < live.Window {
		c.Back = back
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" preserveAspectRatio="none" role="presentation" aria-hidden="true" focusable="false">`, width, height)
	step := float64(width) / float64(c.Span)
	if unread := float64(width) - step*c.Back.Minutes(); c.Back > 0 && unread > 0 {
		fmt.Fprintf(&b, `<rect class="unread" x="0" y="0" width="%.1f" height="%d"/>`, unread, height)
	}
	for i := range 3 {
		fmt.Fprintf(&b, `<path class="grid" d="M0 %dH%d"/>`, height*i/2, width)
	}
	for m := range c.Span {
		x, y := float64(width)-step*float64(m+1)+step/12, float64(height)
		for _, s := range c.Series {
			if n := s.Minutes[m]; n > 0 {
				h := max(1, float64(height)*float64(n)/float64(c.Top))
				y -= h
				fmt.Fprintf(&b, `<rect class="bar %s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, s.Class, x, y, step*5/6, h)
			}
		}
	}
	b.WriteString("</svg>")
	c.Picture = template.HTML(b.String())
	return c
}

// Now is what there was in the last minute.
func (c chart) Now() int64 {
	var sum int64
	for _, s := range c.Series {
		sum += s.Minutes[0]
	}
	return sum
}

// Latest is the last minute as one bar, of which each series has its share; without
// anything it is empty.
func (c chart) Latest() template.HTML {
	const width = 1000
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">`, width)
	x, sum := 0.0, c.Now()
	for _, s := range c.Series {
		if n := s.Minutes[0]; n > 0 {
			w := width * float64(n) / float64(sum)
			fmt.Fprintf(&b, `<rect class="bar %s" x="%.1f" width="%.1f" height="10"/>`, s.Class, x, w)
			x += w
		}
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// Ticks are the numbers of the upward axis, from above.
func (c chart) Ticks() []string {
	return []string{rate(float64(c.Top)), rate(float64(c.Top) / 2), "0"}
}

// rounded is the next number of the sort that axes have, an even one.
func rounded(n int64) int64 {
	for unit := int64(1); ; unit *= 10 {
		for _, k := range []int64{2, 4, 6, 10} {
			if n <= k*unit {
				return k * unit
			}
		}
	}
}
