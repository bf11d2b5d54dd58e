package dashboard

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
	"github.com/stretchr/testify/require"
)

// scrape is a sample of a minute.
type scrape struct {
	minute int64
	value  float64
}

func (s scrape) T() int64                      { return s.minute * time.Minute.Milliseconds() }
func (s scrape) F() float64                    { return s.value }
func (s scrape) ST() int64                     { return 0 }
func (s scrape) H() *histogram.Histogram       { return nil }
func (s scrape) FH() *histogram.FloatHistogram { return nil }
func (s scrape) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s scrape) Copy() chunks.Sample           { return s }

// from is a counter that has a value in each minute of a time.
func from(first, last int64, value float64) (all []chunks.Sample) {
	for m := first; m <= last; m++ {
		all = append(all, scrape{m, value})
	}
	return all
}

// kept are series as Prometheus keeps them.
type kept map[string][]chunks.Sample

func (k kept) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		var found []storage.Series
		for text, samples := range k {
			of, err := promqlParser.ParseMetric(text)
			if err != nil {
				return storage.ErrSeriesSet(err)
			}
			if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(of.Get(m.Name)) }) {
				found = append(found, storage.NewListSeries(of, samples))
			}
		}
		return &listed{found, -1}
	}}, nil
}

// listed is a set of series.
type listed struct {
	all []storage.Series
	at  int
}

func (l *listed) Next() bool                      { l.at++; return l.at < len(l.all) }
func (l *listed) At() storage.Series              { return l.all[l.at] }
func (*listed) Err() error                        { return nil }
func (*listed) Warnings() annotations.Annotations { return nil }

// A rule for a single event fires for the first one of a process, of a label, of all;
// not for a counter that begins at 0, and not for ever.
func TestASingleEventFires(t *testing.T) {
	t.Parallel()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 10_000, Timeout: patience})
	const told, lost = `pawl_calls_total{pawl_machine="order",pawl_event="pay",pawl_outcome="Mismatched",`, `pawl_lock_requests_total{pawl_lock="order",pawl_end="lost",`
	for name, is := range map[string]struct {
		rule   string
		series kept
		fires  bool
	}{
		"nothing":                        {"PawlMismatched", nil, false},
		"the first":                      {"PawlMismatched", kept{told + `instance="a"}`: from(58, 60, 1)}, true},
		"the first of another process":   {"PawlMismatched", kept{told + `instance="a"}`: from(0, 60, 7), told + `instance="b"}`: from(58, 60, 1)}, true},
		"the first in a transaction":     {"PawlMismatched", kept{told + `pawl_provisional="false"}`: from(0, 60, 7), told + `pawl_provisional="true"}`: from(58, 60, 1)}, true},
		"one more":                       {"PawlMismatched", kept{told + `instance="a"}`: append(from(0, 57, 7), from(58, 60, 8)...)}, true},
		"long ago":                       {"PawlMismatched", kept{told + `instance="a"}`: from(0, 60, 7)}, false},
		"a lock of a program that began": {"PawlLockLost", kept{lost + `instance="a"}`: from(58, 60, 0)}, false},
		"a lock that was lost":           {"PawlLockLost", kept{lost + `instance="a"}`: append(from(40, 57, 0), from(58, 60, 1)...)}, true},
	} {
		query, err := engine.NewInstantQuery(context.Background(), is.series, nil, alerts(t)[is.rule], time.Unix(0, 0).Add(60*time.Minute))
		require.NoError(t, err)
		found, err := query.Exec(context.Background()).Vector()
		require.NoError(t, err)
		require.Equal(t, is.fires, len(found) > 0, "%s: %v", name, found)
	}
}
