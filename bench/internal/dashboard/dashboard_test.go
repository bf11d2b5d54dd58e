package dashboard

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"
)

const (
	dashboardFile = "../../../docs/grafana/pawl.json"
	alertsFile    = "../../../docs/grafana/alerts.yaml"
	pageFile      = "../../../docs/observability.md"
	outcomesFile  = "../../../README.md"
)

var promqlParser = parser.NewParser(parser.Options{})

// series are those of a scrape, by metric.
type series map[string][]labels.Labels

func (s series) add(t *testing.T, scrape string) {
	t.Helper()
	for line := range strings.Lines(scrape) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		metric, err := promqlParser.ParseMetric(line[:strings.LastIndexByte(strings.TrimSpace(line), ' ')])
		require.NoError(t, err, line)
		name := metric.Get(labels.MetricName)
		s[name] = append(s[name], metric)
	}
}

// scrapeUntil reads the shop's metrics until one is among them, and returns them.
func (s *shop) scrapeUntil(metric string) string {
	s.t.Helper()
	for end := time.Now().Add(patience); ; {
		status, text := s.send("GET", s.admin+"/metrics", "", nil)
		require.Equal(s.t, http.StatusOK, status)
		if strings.Contains(text, "\n"+metric+"{") {
			return text
		}
		require.True(s.t, time.Now().Before(end), "%s is not exported", metric)
	}
}

// lacks says what a query names that the series do not have: a metric, a label, or a
// value of a label; "" for nothing. One of several values may also be one that the page
// tells of, since not every trouble is in a scrape.
func (s series) lacks(query, page string) string {
	query = strings.NewReplacer("$__rate_interval", "5m", "$machine", ".*").Replace(query)
	expr, err := promqlParser.ParseExpr(query)
	if err != nil {
		return err.Error()
	}
	var missing string
	var used []string
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		selector, is := node.(*parser.VectorSelector)
		if !is {
			return nil
		}
		found := s[selector.Name]
		if len(found) == 0 {
			missing = selector.Name
			return nil
		}
		for _, l := range found {
			l.Range(func(l labels.Label) { used = append(used, l.Name) })
		}
		for _, m := range selector.LabelMatchers {
			one := func(l labels.Labels) bool { return m.Matches(l.Get(m.Name)) && (l.Has(m.Name) || m.Matches("")) }
			if !slices.ContainsFunc(found, one) || !slices.ContainsFunc(found, func(l labels.Labels) bool { return l.Has(m.Name) }) {
				missing = selector.Name + " with " + m.String()
			}
			if m.Type != labels.MatchRegexp || !alternatives.MatchString(m.Value) {
				continue
			}
			for value := range strings.SplitSeq(m.Value, "|") {
				if !slices.ContainsFunc(found, func(l labels.Labels) bool { return l.Get(m.Name) == value }) && !strings.Contains(page, "`"+value+"`") && !strings.Contains(page, "\n| "+value+" |") {
					missing = selector.Name + " with " + m.Name + " " + value
				}
			}
		}
		return nil
	})
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if by, is := node.(*parser.AggregateExpr); is {
			for _, name := range by.Grouping {
				if missing == "" && name != "instance" && !slices.Contains(used, name) { // Prometheus adds that
					missing = "by " + name
				}
			}
		}
		return nil
	})
	return missing
}

var alternatives = regexp.MustCompile(`^\w+(\|\w+)+$`)

// expressions are the queries of the dashboard's panels, by title.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			ID      int
			Type    string
			Title   string
			GridPos struct{ H, W, X, Y int }
			Targets []struct{ RefID, Expr, LegendFormat string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &dashboard))
	all, ids := map[string]string{}, map[int]bool{}
	for _, p := range dashboard.Panels {
		require.False(t, ids[p.ID], "two panels of one id")
		ids[p.ID] = true
		require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		require.Equal(t, p.Type == "row", len(p.Targets) == 0, p.Title)
		for _, target := range p.Targets {
			all[fmt.Sprintf("%s (%d %s)", p.Title, p.ID, target.RefID)] = target.Expr
			for _, label := range legend.FindAllStringSubmatch(target.LegendFormat, -1) {
				require.Contains(t, target.Expr, label[1], p.Title)
			}
		}
	}
	return all
}

var legend = regexp.MustCompile(`\{\{(\w+)\}\}`)

// alerts are the expressions of the rules, by name, all of them on the page.
func alerts(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(alertsFile)
	require.NoError(t, err)
	groups, errs := rulefmt.Parse(text, false, model.LegacyValidation, promqlParser, slog.New(slog.DiscardHandler))
	require.Empty(t, errs)
	page, err := os.ReadFile(pageFile)
	require.NoError(t, err)
	all := map[string]string{}
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			require.NotContains(t, all, r.Alert)
			all[r.Alert] = r.Expr
			require.Contains(t, string(page), "`"+r.Alert+"`")
			require.NotEmpty(t, r.Annotations["summary"])
		}
	}
	return all
}

func TestTheDashboardAsksForWhatTheExampleExports(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.storm()
	scraped := series{}
	scraped.add(t, s.scrapeUntil("pawl_attempt_notices_total"))
	scraped.add(t, gathered(t))

	queries := expressions(t)
	require.GreaterOrEqual(t, len(queries), 40)
	for name, expr := range alerts(t) {
		queries[name] = expr
	}
	page, err := os.ReadFile(pageFile)
	require.NoError(t, err)
	outcomes, err := os.ReadFile(outcomesFile) // where the page refers to
	require.NoError(t, err)
	for name, expr := range queries {
		require.Empty(t, scraped.lacks(expr, string(page)+string(outcomes)), "%s: %s", name, expr)
	}
	documented(t, scraped)
}

var row = regexp.MustCompile("(?m)^\\| `((?:pawl|db)\\.[a-z._]+)` \\| (counter|gauge|histogram|updown) \\|[^|]*\\|([^|]*)\\|")

// documented checks that series have the labels that the page says, and no others, and
// that each metric of the page was seen.
func documented(t *testing.T, scraped series) {
	t.Helper()
	page, err := os.ReadFile(pageFile)
	require.NoError(t, err)
	plain := strings.NewReplacer(".", "_", "`", "")
	told := map[string][]string{}
	for _, r := range row.FindAllStringSubmatch(string(page), -1) {
		told[plain.Replace(r[1])] = strings.Fields(plain.Replace(r[3]))
	}
	seen := map[string]bool{}
	for name, all := range scraped {
		if !strings.HasPrefix(name, "pawl_") && !strings.HasPrefix(name, "db_") {
			continue
		}
		base := name
		for _, suffix := range []string{"_bucket", "_sum", "_count", "_total", "_seconds"} {
			if _, is := told[base]; !is {
				base = strings.TrimSuffix(base, suffix)
			}
		}
		attributes, is := told[base]
		require.True(t, is, "%s is not on the page", name)
		seen[base] = true
		for _, l := range all {
			l.Range(func(l labels.Label) {
				if l.Name != labels.MetricName && l.Name != "le" {
					require.Contains(t, attributes, l.Name, name)
				}
			})
		}
	}
	for name := range told {
		require.True(t, seen[name], "%s was not exported", name)
	}
}

var increases = regexp.MustCompile(`increase\(([a-z_]+\{[^}]*\})\[(\w+)\]\)`)

// A counter that begins with its first event has no increase. A rule that fires for a
// single event asks for counters that were not there before, too: for each series by
// itself, since the sum of a process or a label that has counted longer hides a new one,
// and for more than 0, at which some begin.
func TestTheFirstEventIsAlerted(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(alertsFile)
	require.NoError(t, err)
	groups, errs := rulefmt.Parse(text, false, model.LegacyValidation, promqlParser, slog.New(slog.DiscardHandler))
	require.Empty(t, errs)
	found := 0
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			for _, counter := range increases.FindAllStringSubmatch(r.Expr, -1) {
				if r.For == 0 {
					found++
					require.Regexp(t, `or sum by \(\w+(, \w+)*\) \(`+regexp.QuoteMeta(counter[1]+" unless "+counter[1]+" offset "+counter[2]+") > 0"), r.Expr, r.Alert)
				}
			}
		}
	}
	require.GreaterOrEqual(t, found, 3)
}

// What is wrong with a query is noticed.
func TestAQueryThatAsksForWhatIsNotThere(t *testing.T) {
	t.Parallel()
	s := series{}
	s.add(t, "pawl_calls_total{pawl_machine=\"order\",pawl_outcome=\"Applied\"} 1\n# HELP x\npawl_inbox_dead 0\n")
	for query, lacks := range map[string]string{
		`sum by (pawl_machine) (rate(pawl_calls_total{pawl_machine=~"$machine", pawl_outcome!=""}[$__rate_interval]))`: "",
		`max(pawl_inbox_dead) > 0`:                               "",
		`pawl_call_total`:                                        "pawl_call_total",
		`pawl_calls_total{pawl_outcome="Aplied"}`:                `pawl_calls_total with pawl_outcome="Aplied"`,
		`pawl_calls_total{outcome!=""}`:                          `pawl_calls_total with outcome!=""`,
		`sum by (pawl_event) (pawl_calls_total)`:                 "by pawl_event",
		`pawl_calls_total{pawl_outcome=~"Applied|Stale"}`:        "",
		`pawl_calls_total{pawl_outcome=~"Applied|Aplied|Stale"}`: "pawl_calls_total with pawl_outcome Aplied",
		`pawl_calls_total{pawl_outcome=~"Stale|Rejected"}`:       "pawl_calls_total with pawl_outcome Rejected",
	} {
		require.Equal(t, lacks, s.lacks(query, "`Stale` is said when"))
	}
	require.Contains(t, s.lacks(`sum(rate(pawl_calls_total)`, ""), "parse error")
}
