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

// drawn draws the chart; words are those below the axis, for an hour ago and for now.
func (c chart) drawn(back time.Duration, ago, now string) chart {
	const width, height, left, foot = 720, 150, 44, 20
	top := int64(1)
	for m := range chartMinutes {
		var sum int64
		for _, s := range c.Series {
			sum += s.Minutes[m]
		}
		top = max(top, sum)
	}
	top = rounded(top)
	if back < live.Window {
		c.Back = back
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %d %d" role="presentation" aria-hidden="true" focusable="false">`, width, height)
	room := height - foot - 8
	for i := range 3 {
		y := 8 + room*i/2
		fmt.Fprintf(&b, `<path class="grid" d="M%d %dH%d"/><text class="tick end" x="%d" y="%d">%s</text>`, left, y, width, left-8, y+4, rate(float64(top)*float64(2-i)/2))
	}
	step := float64(width-left) / chartMinutes
	if c.Back > 0 {
		fmt.Fprintf(&b, `<rect class="unread" x="%d" y="8" width="%.1f" height="%d"/>`, left, max(0, float64(width-left)-step*c.Back.Minutes()), room)
	}
	for m := range chartMinutes {
		x, y := float64(width)-step*float64(m+1)+1, float64(8+room)
		for _, s := range c.Series {
			if n := s.Minutes[m]; n > 0 {
				h := max(1, float64(room)*float64(n)/float64(top))
				y -= h
				fmt.Fprintf(&b, `<rect class="bar %s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, s.Class, x, y, step-2, h)
			}
		}
	}
	fmt.Fprintf(&b, `<text class="tick" x="%d" y="%d">%s</text><text class="tick end" x="%d" y="%d">%s</text></svg>`,
		left, height-4, template.HTMLEscapeString(ago), width, height-4, template.HTMLEscapeString(now))
	c.Picture = template.HTML(b.String())
	return c
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
