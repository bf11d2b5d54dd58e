package report_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/bench/internal/compare"
	"github.com/pawl-go/pawl/bench/internal/goal"
	"github.com/pawl-go/pawl/bench/internal/report"
	"github.com/pawl-go/pawl/bench/internal/result"
	"github.com/pawl-go/pawl/bench/internal/stat"
	"github.com/pawl-go/pawl/bench/internal/stock"
)

func row(name string, samples ...float64) result.Row {
	return result.Row{Contender: name, Writes: "row", Samples: samples, Sum: stat.Of(samples)}
}

// run is a run with something of everything.
func run() *result.All {
	many := compare.FirstNear
	many.Callers = 64
	storm := row("looplab/fsm", 500, 600, 700)
	storm.Counts = stock.Counts{Orders: 1200, Moved: 1200, Again: 17}
	a := &result.All{
		Seed: 42, Rounds: 3, Seconds: 1.5,
		Machine: result.Machine{CPU: "Some CPU", Cores: 2, Memory: "8 GiB", OS: "linux/amd64", Go: "go1.26.0", PostgreSQL: "15.1", Settings: []result.Setting{{Name: "fsync", Value: "on"}}},
		Comparisons: []result.Comparison{
			{Load: compare.FirstNear, Unit: "deliveries/s", Rows: []result.Row{
				row("usual transaction", 1000, 2000, 500), row("Pawl", 2500, 4000, 1000),
				{Contender: "DBOS workflow", Writes: "row", Failed: "no | such table"},
			}},
			{Load: many, Unit: "deliveries/s", Rows: []result.Row{row("usual transaction", 900), row("Pawl", 2700)}},
			{Load: compare.FirstAway, Unit: "deliveries/s", Rows: []result.Row{row("Pawl", 900)}},
			{Load: compare.StormNear, Unit: "deliveries/s", Rows: []result.Row{storm}},
		},
	}
	a.Add(result.Figure{Name: goal.NextTime, Unit: "ns", Samples: []float64{2, 4, 3}, Note: "in memory"})
	a.Goals = goal.Judge(a)
	return a
}

func TestThePageHasWhatWasMeasured(t *testing.T) {
	t.Parallel()
	page := report.Markdown(run())
	for _, want := range []string{
		"Each contender ran 3 rounds of 1.50 s, in an order shuffled with seed 42.",
		"## First deliveries of payment_succeeded, 8 callers\n",
		"## First deliveries of payment_succeeded, 8 callers, 1 ms away\n",
		"| Pawl | row | 2,500 | 1,750 – 3,250 | 1,000 – 4,000 | 2 |\n", // ratios 2.5, 2, 2
		"| DBOS workflow | row | failed: no / such table |\n",
		"| looplab/fsm | row | 600 | 550 – 650 | 500 – 700 | 0 | 17 of 1,200 orders |\n",
		"| Next | 3 ns | 2.50 – 3.50 | in memory |\n",
		"| Next | ≤ 3 ns | 3 ns | 2.50 – 3.50 | met; in memory |\n",
		"| one call, first delivery, 8 callers: against the usual transaction | ≥ 2 × | 2 × | 2 – 2.25 | met |\n",
		"| Next: allocations | ≤ 0  | | | not run |\n",
		"![First deliveries a second](first-deliveries.svg)",
		"![First deliveries a second, with a round trip of 1 ms](first-deliveries-1ms.svg)",
		"| CPU | Some CPU, 2 cores |\n",
		"| `fsync` | `on` |\n",
	} {
		require.Contains(t, page, want)
	}
}

func TestThePageIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	want := report.Markdown(run())
	for range 20 {
		require.Equal(t, want, report.Markdown(run()))
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new")
	require.NoError(t, report.Write(folder, run()))
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	require.Equal(t, []string{"first-deliveries-1ms.svg", "first-deliveries.svg", "results.json", "results.md"}, names)

	body, err := os.ReadFile(filepath.Join(folder, "results.json"))
	require.NoError(t, err)
	var back result.All
	require.NoError(t, json.Unmarshal(body, &back))
	require.Equal(t, *run(), back)
	require.Equal(t, time.Millisecond, back.Comparisons[2].Load.Delay)
}

// The picture is XML to its end, and names the contenders that it has lines of.
func TestThePictureIsReadable(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, report.Write(folder, run()))
	body, err := os.ReadFile(filepath.Join(folder, "first-deliveries.svg"))
	require.NoError(t, err)
	var texts []string
	for decoder := xml.NewDecoder(strings.NewReader(string(body))); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if data, ok := token.(xml.CharData); ok {
			texts = append(texts, strings.TrimSpace(string(data)))
		}
	}
	require.Subset(t, texts, []string{"Pawl", "usual transaction", "callers", "8", "64"})
	require.NotContains(t, texts, "DBOS workflow")
}
