package studio

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/gendocs"
	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/live"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
)

func TestNumbersForPeople(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1500: "−1,500"} {
		require.Equal(t, want, number(n))
	}
	for n, want := range map[int64]string{0: "0", 99_999: "99,999", 100_000: "100k", 999_999: "999k", 1_234_567: "1.23M", 2_500_000_000: "2.50G"} {
		require.Equal(t, want, brief(n))
	}
	require.Equal(t, "9,999", upTo(9_999))
	require.Equal(t, "10,000+", upTo(10_000))
	for n, want := range map[float64]string{0.2: "0.2", 3: "3", 12.6: "13", 1234.4: "1,234"} {
		require.Equal(t, want, rate(n))
	}
	for d, want := range map[time.Duration]string{
		0: "< 1 ms", 999 * time.Nanosecond: "< 1 ms", 1500 * time.Microsecond: "1 ms", 90 * time.Second: "1 min 30 s", -2 * time.Hour: "2 h", 26*time.Hour + time.Minute: "1 d 2 h", 400 * 24 * time.Hour: "400 d",
		math.MinInt64: "106751 d", math.MaxInt64: "106751 d",
	} {
		require.Equal(t, want, lapse(d, "en"), d)
	}
	require.Equal(t, "1 小时 5 分", lapse(65*time.Minute, "zh"))
}

// Who reads in winter sees of a time in summer whose it is, and of others need not.
func TestTimesOnTheOtherSideOfAChangeOfTheClock(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	now := time.Date(2026, 12, 1, 9, 0, 0, 0, berlin)
	for at, want := range map[time.Time]string{
		time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC):  "2026-07-01 12:00 UTC+02:00",
		time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC): "2026-11-01 11:00",
	} {
		require.Equal(t, want, local(at.In(berlin), now, "2006-01-02 15:04"))
	}
}

func TestAxes(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]int64{0: 2, 1: 2, 3: 4, 5: 6, 7: 10, 11: 20, 41: 60, 61: 100, 99_999: 100_000} {
		require.Equal(t, want, rounded(n), n)
	}
}

// What is older than the chart, or of the time to come, is not in it.
func TestAChartHasItsHour(t *testing.T) {
	t.Parallel()
	var s series
	for _, m := range []int{-1, 0, 59, 60, 7} {
		s.add(m, 2)
	}
	require.EqualValues(t, 6, s.Sum())
	c := chart{Series: []series{s, {}}}.drawn(20 * time.Minute)
	require.Equal(t, 20*time.Minute, c.Back)
	require.Equal(t, 60, c.Span)
	require.Equal(t, []string{"2", "1", "0"}, c.Ticks())
	require.NotContains(t, string(c.Picture), "<text", "what is stretched has no words")
	rows := c.Rows()
	require.Len(t, rows, 3)
	require.Equal(t, chartRow{Minute: 59, Counts: []int64{2, 0}}, rows[2])

	var young series
	young.add(9, 1)
	require.Equal(t, 10, chart{Series: []series{young}}.drawn(live.Window).Span)
	young.add(10, 1)
	require.Equal(t, 60, chart{Series: []series{young}}.drawn(live.Window).Span)
}

// A flow has room in its place in the picture, whatever it is.
func TestFlowsAreShort(t *testing.T) {
	t.Parallel()
	for n, want := range map[float64]string{0.2: "0.2", 9.97: "10", 23.4: "23", 999.4: "999", 999.6: "1k", 1234: "1.2k", 999_600: "1M", 25e9: "25G"} {
		text := short(n)
		require.Equal(t, want, text)
		for _, lang := range gendocs.Languages() {
			require.LessOrEqual(t, pillWidth(text+aMinute.In(lang))*4/5, gensvg.FigureWidth, text)
		}
	}
}

// Two events of one arrow have a figure each; what was done by hand is none of theirs.
func TestEachEventHasItsFlow(t *testing.T) {
	t.Parallel()
	var arcs []picture.Arc
	for _, name := range []string{"told", "asked", "told"} {
		arcs = append(arcs, picture.Arc{Transition: &model.Transition{Event: &model.Event{Name: name}}})
	}
	arcs[2].Transition.Event = arcs[0].Transition.Event // by another guard
	e := &picture.Edge{From: &model.State{Name: "A"}, To: &model.State{Name: "B"}, Arcs: arcs}
	v := live.View{Moves: live.Figure[live.Moves]{Value: live.Moves{
		Reach: live.Reach{Back: time.Hour},
		Moves: []live.Move{{Event: "told", From: "A", To: "B", N: 10}, {Event: "correct", From: "A", To: "B", Forced: true, N: 5}, {Event: "asked", From: "B", To: "A", N: 5}},
	}}}
	require.Contains(t, arcFigure(e, 0, v, "en"), ">2/min<")
	require.Contains(t, arcFigure(e, 0, v, "zh"), ">2/分<")
	require.Empty(t, arcFigure(e, 1, v, "en"))
	require.Empty(t, arcFigure(e, 2, v, "en"), "its first arc has it")
}

// How long a row has been in its state counts from when it came there.
func TestALoopIsNoArrival(t *testing.T) {
	t.Parallel()
	entries := []live.Entry{{To: "A", Stayed: time.Hour}, {From: "A", To: "B", Stayed: 3 * time.Minute}, {From: "B", To: "B", Stayed: 2 * time.Minute}, {From: "B", To: "B", Stayed: time.Minute}}
	require.Equal(t, 6*time.Minute, standsFor(entries))
	require.Equal(t, 3*time.Minute, standsFor(entries[:2]))
	require.Equal(t, time.Hour, standsFor(entries[:1]))
	require.Zero(t, standsFor(nil))
}
