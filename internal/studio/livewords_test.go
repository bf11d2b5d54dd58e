package studio

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
		0: "0 ms", 1500 * time.Microsecond: "1 ms", 90 * time.Second: "1 min 30 s", -2 * time.Hour: "2 h", 26*time.Hour + time.Minute: "1 d 2 h", 400 * 24 * time.Hour: "400 d",
	} {
		require.Equal(t, want, lapse(d, "en"), d)
	}
	require.Equal(t, "1 小时 5 分", lapse(65*time.Minute, "zh"))
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
	c := chart{Series: []series{s, {}}}.drawn(20*time.Minute, "<ago>", "now")
	require.Equal(t, 20*time.Minute, c.Back)
	require.Contains(t, string(c.Picture), "&lt;ago&gt;")
	rows := c.Rows()
	require.Len(t, rows, 3)
	require.Equal(t, chartRow{Minute: 59, Counts: []int64{2, 0}}, rows[2])
}
