package footprint

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/place"
	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// alone is a server on which nobody else writes: the WAL, where all are counted, is
// the whole server's.
func alone(t *testing.T) string {
	server, err := place.Server(t.Context(), "", Settings, t.Output())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	return server.URL
}

// What is measured is of every event in every way, and nothing is left out of it.
func TestMeasure(t *testing.T) {
	t.Parallel()
	few := Sizes{Small: 100, Large: 100, Measured: 10, Kept: 1000, Rows: []int{100, 200}, Histories: []int{0, 2000}}
	f, err := Measure(t.Context(), alone(t), few, rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	require.Len(t, f.WAL, 2*2*2)
	for _, w := range f.WAL {
		require.Greater(t, w.Bytes-w.Images, 300.0, "row and history: %+v", w)
		require.Equal(t, w.Checkpoint, w.Images > 0 && w.Pages > 0, "%+v", w)
	}
	require.Len(t, f.Disk, 2*4)
	require.Greater(t, f.of(contender.Paid, "fsm_outbox").Heap, 200.0)
	require.Greater(t, f.of(contender.Paid, "order_facts").Indexes, 30.0)
	require.Zero(t, f.of(contender.Pay, "order_facts").Heap+f.of(contender.Pay, "fsm_outbox").Heap)
	require.Greater(t, f.of(contender.Pay, "order_history").Heap, 40.0)
	require.Len(t, f.Pages, 3)
	for i, want := range []Pages{{Rows: 100}, {Rows: 100, History: 2000}, {Rows: 200}} {
		p := f.Pages[i]
		require.Equal(t, want, Pages{Rows: p.Rows, History: p.History})
		require.Greater(t, p.First, p.Told)
		require.Greater(t, p.Told, 2.0)
		require.Greater(t, p.Pay, 2.0)
	}
}

func TestTooFewOrdersAreTold(t *testing.T) {
	t.Parallel()
	_, err := Measure(t.Context(), testdb.URL(t), Sizes{Small: 79, Measured: 10}, nil)
	require.ErrorContains(t, err, "79 orders are too few for 80 transitions")
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	f := Footprint{PostgreSQL: "17.1", Sizes: Sizes{Large: 1_000_000, Measured: 2000, Kept: 100_000}}
	for i, event := range events {
		for j, size := range []int{1, contender.BatchSize} {
			for k, checkpoint := range []bool{false, true} {
				f.WAL = append(f.WAL, WAL{event, size, checkpoint, float64(100_000*(i+1) + 1000*(j+1) + k), float64(k), 2.5 * float64(k)})
			}
		}
		f.Disk = append(f.Disk, Disk{event, "orders", float64(i + 1), 1234.4})
	}
	f.Pages = []Pages{{Rows: 10_000, History: 100, First: 1.25, Told: 2, Pay: 3}}
	require.Equal(t, "PostgreSQL 17.1; 2000 transitions a figure of the WAL, 100000 a figure of tables.\n"+`
| WAL bytes a transition | `+"`pay`"+`, single | in batches of 1,000 | `+"`payment_succeeded`"+`, single | in batches of 1,000 |
| --- | ---: | ---: | ---: | ---: |
| pages touched before | 101,000 | 102,000 | 201,000 | 202,000 |
| of which images | 0 | 0 | 0 | 0 |
| first touch after a checkpoint, 1,000,000 orders | 101,001 | 102,001 | 201,001 | 202,001 |
| of which images | 1 | 1 | 1 | 1 |
| pages, each an image | 2.5 | 2.5 | 2.5 | 2.5 |

| disk bytes a transition | `+"`pay`"+`, table | indexes | `+"`payment_succeeded`"+`, table | indexes |
| --- | ---: | ---: | ---: | ---: |
| `+"`orders`"+` | 1 | 1,234 | 2 | 1,234 |

| orders | entries of a row's history behind `+"`pay`"+` | pages, `+"`payment_succeeded`"+` | told again | `+"`pay`"+` told again |
| ---: | ---: | ---: | ---: | ---: |
| 10,000 | 100 | 1.2 | 2.0 | 3.0 |
`, f.Markdown())
	require.Equal(t, "-1,234", number(-1234))
	require.Equal(t, "-123", number(-123))
}
