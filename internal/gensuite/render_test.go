package gensuite_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensuite"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/suite"
	"github.com/pawl-go/pawl/internal/syntax"
)

var update = flag.Bool("update", false, "rewrite the files that tests compare with")

func machine(t testing.TB, file string) *model.Machine {
	t.Helper()
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	return parse(t, src)
}

func parse(t testing.TB, src []byte) *model.Machine {
	t.Helper()
	var problems diag.List
	m := check.Run(syntax.Parse("d.yaml", src, &problems), &problems)
	require.NotNil(t, m, "%v", problems.Sorted())
	return m
}

func made(t testing.TB, m *model.Machine, name string) *suite.Suite {
	t.Helper()
	s, err := suite.Make(m, name, 0)
	require.NoError(t, err)
	return s
}

func rendered(t testing.TB, s *suite.Suite, format, lang string) []gensuite.File {
	t.Helper()
	files, err := gensuite.Render(s, format, lang)
	require.NoError(t, err)
	return files
}

// testdata/want has what people see of one small machine in every text format
// and both languages.
func TestFilesLookAsTheyDid(t *testing.T) {
	t.Parallel()
	s := made(t, machine(t, "testdata/parcel.yaml"), "n-plus")
	for _, lang := range []string{"en", "zh"} {
		for _, f := range gensuite.Formats() {
			if f.Name == "xlsx" {
				continue // looked into by a reader of its own
			}
			for _, file := range rendered(t, s, f.Name, lang) {
				golden := filepath.Join("testdata/want", lang, file.Name)
				if *update {
					require.Empty(t, os.Getenv("CI"), "-update is not for CI")
					require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o755))
					require.NoError(t, os.WriteFile(golden, file.Content, 0o644))
				}
				want, err := os.ReadFile(golden)
				require.NoError(t, err)
				require.Equal(t, string(want), string(file.Content), "run go test ./internal/gensuite -update")
			}
		}
	}
}

func TestFilesAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	m := machine(t, "testdata/hostile.yaml")
	for _, f := range gensuite.Formats() {
		first := rendered(t, made(t, m, "n-plus"), f.Name, "zh")
		for range 19 {
			require.Equal(t, first, rendered(t, made(t, m, "n-plus"), f.Name, "zh"), f.Name)
		}
	}
}

func TestAnUnknownFormatIsNamedWithTheNearest(t *testing.T) {
	t.Parallel()
	_, err := gensuite.Render(made(t, machine(t, "testdata/parcel.yaml"), "0-switch"), "gerkin", "en")
	var unknown *gensuite.UnknownFormatError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "gherkin", unknown.Nearest)
	require.EqualError(t, err, `suites have no format "gerkin"; did you mean gherkin? (there are md, gherkin, csv, csv-excel, xlsx, xray, zephyr, testrail)`)
}

// No two formats or suites of a machine write files of one name.
func TestFilesHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	m := machine(t, "testdata/parcel.yaml")
	seen := map[string]bool{}
	for _, name := range []string{"0-switch", "1-switch", "n-switch=2", "n-plus", "walks"} {
		for _, f := range gensuite.Formats() {
			for _, file := range rendered(t, made(t, m, name), f.Name, "en") {
				require.False(t, seen[file.Name], file.Name)
				require.Equal(t, filepath.Base(file.Name), file.Name)
				seen[file.Name] = true
			}
		}
	}
	require.Contains(t, seen, fmt.Sprintf("parcel-%s-xray-importConfiguration.json", "n-switch-2"))
}

// A suite of nothing still gives the headers that importers look for, and says
// so where people read; the creation of a row is a case by itself.
func TestSuitesOfNothingAndOfOneCreation(t *testing.T) {
	t.Parallel()
	m := parse(t, []byte("machine: lonely\nstates:\n  Here: {initial: true, final: true}\nevents: {}\ntransitions: []\n"))
	for _, f := range gensuite.Formats() {
		for _, lang := range []string{"en", "zh"} {
			files := rendered(t, made(t, m, "walks"), f.Name, lang)
			require.NotEmpty(t, files[0].Content, f.Name)
			require.Equal(t, files[0].Name, rendered(t, made(t, m, "walks"), f.Name, lang)[0].Name)
		}
	}
	require.Equal(t, testrailHeader+"\r\n", string(rendered(t, made(t, m, "walks"), "testrail", "en")[0].Content))
	require.Contains(t, string(rendered(t, made(t, m, "walks"), "md", "en")[0].Content), "This machine has no case of this suite.")
	require.Contains(t, string(rendered(t, made(t, m, "walks"), "gherkin", "zh")[0].Content), "该状态机没有此套件的用例。")

	keys, rows := grouped(t, rendered(t, made(t, m, "n-plus"), "testrail", "en"), 1)
	require.Equal(t, []string{"create: → Here [lonely/n-plus/leaf/Here]"}, keys)
	require.Equal(t, "Start a new lonely.", rows[0][0][8])
	require.Equal(t, "State: Here.", rows[0][0][9])
}

// A long ID is cut in titles and labels, and stays another than its neighbour's.
func TestLongIDsStayApart(t *testing.T) {
	t.Parallel()
	a, b := strings.Repeat("长", 20)+"a", strings.Repeat("长", 20)+"b"
	s := made(t, parse(t, fmt.Appendf(nil, "machine: long\nstates: {%[1]s: {initial: true}, %[2]s: {}}\nevents: {e%[1]s: {}, e%[2]s: {}}\n"+
		"transitions:\n  - {event: e%[1]s, from: %[1]s, to: %[2]s}\n  - {event: e%[2]s, from: %[2]s, to: %[1]s}\n", a, b)), "n-switch=3")
	require.Len(t, s.Cases, 2)
	long := 0
	keys, rows := grouped(t, rendered(t, s, "testrail", "en"), 1)
	require.Len(t, keys, len(s.Cases))
	for i, key := range keys {
		require.LessOrEqual(t, len([]rune(key)), 250)
		require.LessOrEqual(t, len([]rune(rows[i][0][6])), 122) // with the apostrophe that makes it harmless
		if len([]rune(s.Cases[i].ID)) > 120 {
			require.Regexp(t, `~[0-9a-f]{16}\]$`, key)
			long++
		}
	}
	require.Equal(t, 2, long)
}

// A call is stale only where its guard is true: with data for which it is not, a
// tester would see another answer.
func TestStaleCallsHaveDataForWhichTheirGuardIsTrue(t *testing.T) {
	t.Parallel()
	s := made(t, machine(t, "../../definitions/order.yaml"), "all-cells")
	for lang, holds := range map[string]string{"en": "Thereby this holds: the amount paid", "zh": "此条件成立：the amount paid"} {
		found := 0
		for line := range strings.Lines(string(rendered(t, s, "md", lang)[0].Content)) {
			if strings.Contains(line, ": Stale (") || strings.Contains(line, "：Stale（") {
				if strings.Contains(line, "the amount paid") {
					found++
					require.Contains(t, line, holds, lang)
				}
			}
		}
		require.Equal(t, 2, found, lang) // PENDING and PAYING
	}
}

// Whoever commits the first session at once, or before the second call is made,
// has tested no race.
func TestRacesAreToldInTheOrderInWhichTheyAreDone(t *testing.T) {
	t.Parallel()
	s := made(t, machine(t, "testdata/parcel.yaml"), "races")
	feature := string(rendered(t, s, "gherkin", "en")[0].Content)
	_, scan, found := strings.Cut(feature, "scan+scan/")
	require.True(t, found, feature)
	at := 0
	for _, line := range []string{
		"When in a first session, without committing it yet:", `deliver callback "scan"`, "| scan_no |", "Then answer: Applied",
		"When in a second session, after the step before and before it is committed:", `deliver callback "scan"`, "| scan_no |",
		"And then commit the first; the call waits for that", "Then answer: ",
	} {
		i := strings.Index(scan[at:], line)
		require.GreaterOrEqual(t, i, 0, "%s in %s", line, scan)
		at += i + len(line)
	}
}

// What one format has put into words must not show in the next one.
func TestFormatsOfOneRendererAreThoseByThemselves(t *testing.T) {
	t.Parallel()
	s := made(t, machine(t, "testdata/parcel.yaml"), "n-plus")
	for _, lang := range []string{"en", "zh-CN"} {
		shared := gensuite.For(s, lang)
		for range 2 {
			for _, f := range gensuite.Formats() {
				want, err := gensuite.Render(s, f.Name, lang)
				require.NoError(t, err)
				have, err := shared.Render(f.Name)
				require.NoError(t, err)
				require.Equal(t, want, have, "%s in %s", f.Name, lang)
			}
		}
	}
}
