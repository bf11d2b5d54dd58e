package gensuite_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	gherkin "github.com/cucumber/gherkin/go/v42"
	messages "github.com/cucumber/messages/go/v34"
	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"github.com/pawl-go/pawl/internal/gensuite"
	"github.com/pawl-go/pawl/internal/suite"
)

// tried are suites of machines that readers are tried on.
func tried(t *testing.T) []*suite.Suite {
	t.Helper()
	var all []*suite.Suite
	for _, m := range []string{"testdata/parcel.yaml", "testdata/hostile.yaml", "testdata/tableless.yaml", "../../definitions/order.yaml"} {
		for _, name := range []string{"0-switch", "1-switch", "n-plus", "walks"} {
			all = append(all, made(t, machine(t, m), name))
		}
	}
	return all
}

// lines is how many rows a case has: its steps, and the creation of its row.
func lines(c *suite.Case) int {
	if c.Start == nil {
		return len(c.Steps) + 1
	}
	return len(c.Steps)
}

func TestFeaturesAreReadByTheRealParser(t *testing.T) {
	t.Parallel()
	for _, s := range tried(t) {
		for _, lang := range []string{"en", "zh"} {
			files := rendered(t, s, "gherkin", lang)
			require.Len(t, files, 1)
			document, err := gherkin.ParseGherkinDocument(bytes.NewReader(files[0].Content), (&messages.Incrementing{}).NewId)
			require.NoError(t, err, "%s", files[0].Content)
			require.Len(t, document.Feature.Children, len(s.Cases))
			tags := map[string]bool{}
			for i, child := range document.Feature.Children {
				c := s.Cases[i]
				require.NotNil(t, child.Scenario)
				require.Len(t, child.Scenario.Tags, 1, c.ID)
				require.False(t, tags[child.Scenario.Tags[0].Name], c.ID)
				tags[child.Scenario.Tags[0].Name] = true
				require.NotEmpty(t, child.Scenario.Name)
				thens := 0
				for _, step := range child.Scenario.Steps {
					if step.KeywordType == messages.StepKeywordType_OUTCOME {
						thens++
					}
				}
				require.Equal(t, lines(c), thens, c.ID)
			}
		}
	}
}

// The tables of a feature have the values of the row and of each call, as they
// are, whatever stands in them.
func TestFeaturesHaveTheValuesAsTheyAre(t *testing.T) {
	t.Parallel()
	s := made(t, machine(t, "../../definitions/order.yaml"), "races")
	odd := []suite.Value{{Name: "a|b", Text: `c\|d\n`}, {Name: "n", Null: true}, {Name: "lines", Text: "1\n2"}, {Name: "empty"}, {Name: "#", Text: "@x"}}
	s.Cases[0].Steps[0].Params = odd
	var want, have [][2]string
	for _, c := range s.Cases {
		values := c.Given
		for _, step := range c.Steps {
			values = append(values[:len(values):len(values)], step.Params...)
		}
		for _, v := range values {
			text := v.Text
			if v.Null {
				text = "NULL"
			}
			want = append(want, [2]string{v.Name, text})
		}
	}
	document, err := gherkin.ParseGherkinDocument(bytes.NewReader(rendered(t, s, "gherkin", "zh")[0].Content), (&messages.Incrementing{}).NewId)
	require.NoError(t, err)
	for _, child := range document.Feature.Children {
		for _, step := range child.Scenario.Steps {
			if step.DataTable == nil {
				continue
			}
			for _, row := range step.DataTable.Rows {
				have = append(have, [2]string{row.Cells[0].Value, row.Cells[1].Value})
			}
		}
	}
	require.Equal(t, want, have)
}

// The headers are those of the tools' own documents.
const (
	xrayHeader   = "Issue ID,Issue Key,Test Type,Test Summary,Test Priority,Action,Data,Result,Test Repo,Labels"
	zephyrHeader = "Key,Name,Status,Precondition,Objective,Folder,Priority,Component,Labels,Owner,Estimated Time,Coverage (Issues),Coverage (Pages)," +
		"Test Script (Step-by-Step) - Step,Test Script (Step-by-Step) - Test Data,Test Script (Step-by-Step) - Expected Result,Test Script (Plain Text),Test Script (BDD)"
	testrailHeader = "Section,Title,Template,Type,Priority,Estimate,References,Preconditions,Steps (Step),Steps (Expected Result)"
	plainHeader    = "ID,Title,Priority,Precondition,Step,Action,Data,Expected"
)

// Importers get the header's first byte as the file's first, spreadsheets a mark
// before it.
func TestHeadersAreExact(t *testing.T) {
	t.Parallel()
	s := made(t, machine(t, "testdata/parcel.yaml"), "n-plus")
	for format, header := range map[string]string{
		"xray": xrayHeader, "zephyr": zephyrHeader, "testrail": testrailHeader, "csv": plainHeader, "csv-excel": "\ufeff" + plainHeader,
	} {
		require.True(t, strings.HasPrefix(string(rendered(t, s, format, "en")[0].Content), header+"\r\n"), format)
	}
	for format, header := range map[string]string{
		"xray": xrayHeader, "zephyr": zephyrHeader, "testrail": testrailHeader, "csv": plainHeader, "csv-excel": "\ufeff编号,标题,优先级,前置条件,步骤,操作,数据,预期结果",
	} {
		require.True(t, strings.HasPrefix(string(rendered(t, s, format, "zh")[0].Content), header+"\r\n"), format)
	}
}

// table reads a CSV file, all rows of one length, without its header.
func table(t *testing.T, f gensuite.File) [][]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(f.Content, []byte("\ufeff")))).ReadAll()
	require.NoError(t, err, f.Name)
	return rows[1:]
}

// grouped reads a file as an importer does: a row begins a case when its key is
// there and another than that of the row before.
func grouped(t *testing.T, files []gensuite.File, key int) (keys []string, rows [][][]string) {
	t.Helper()
	for _, f := range files {
		if !strings.HasSuffix(f.Name, ".csv") || strings.HasSuffix(f.Name, "-coverage.csv") {
			continue
		}
		for _, row := range table(t, f) {
			if row[key] != "" && (len(keys) == 0 || row[key] != keys[len(keys)-1]) {
				keys, rows = append(keys, row[key]), append(rows, nil)
			}
			require.NotEmpty(t, rows, f.Name)
			rows[len(rows)-1] = append(rows[len(rows)-1], row)
		}
	}
	return keys, rows
}

func TestRowsAreGroupedToAsManyCases(t *testing.T) {
	t.Parallel()
	for _, s := range tried(t) {
		for format, key := range map[string]int{"csv": 0, "csv-excel": 0, "xray": 0, "zephyr": 1, "testrail": 1} {
			keys, rows := grouped(t, rendered(t, s, format, "en"), key)
			require.Len(t, keys, len(s.Cases), format)
			seen := map[string]bool{}
			for i, c := range s.Cases {
				require.False(t, seen[keys[i]], keys[i])
				seen[keys[i]] = true
				require.Len(t, rows[i], lines(c), "%s of %s", c.ID, format)
			}
		}
	}
}

// What a tool wants on each row, and what on a case's first alone.
func TestRowsHaveWhatTheirToolWants(t *testing.T) {
	t.Parallel()
	s := made(t, machine(t, "../../definitions/order.yaml"), "walks")
	only := func(row []string, columns ...int) {
		for i, cell := range row {
			if cell != "" {
				require.Contains(t, columns, i, "%q", row)
			}
		}
	}
	_, rows := grouped(t, rendered(t, s, "xray", "en"), 0)
	for _, c := range rows {
		for i, row := range c {
			require.Equal(t, "Manual", row[2])
			require.Empty(t, row[1])
			require.Equal(t, i == 0, row[3] != "" && row[4] != "" && row[8] != "" && row[9] != "", "%q", row)
			if i > 0 {
				only(row, 0, 2, 5, 6, 7)
			}
		}
		require.Contains(t, []string{"High", "Medium", "Low"}, c[0][4])
		require.LessOrEqual(t, len([]rune(c[0][3])), 255)
		require.NotContains(t, c[0][9], " ", "labels have no spaces")
	}
	_, rows = grouped(t, rendered(t, s, "zephyr", "en"), 1)
	for _, c := range rows {
		for _, row := range c[1:] {
			only(row, 13, 14, 15)
		}
		require.Contains(t, []string{"High", "Normal", "Low"}, c[0][6])
	}
	_, rows = grouped(t, rendered(t, s, "testrail", "en"), 1)
	for _, c := range rows {
		for _, row := range c[1:] {
			only(row, 8, 9)
		}
		require.LessOrEqual(t, len([]rune(c[0][1])), 250)
	}
}

func TestXrayFilesHaveAtMostAThousandIssues(t *testing.T) {
	t.Parallel()
	s := made(t, parse(t, wide(48)), "1-switch")
	require.Len(t, s.Cases, 48*48)
	files := rendered(t, s, "xray", "en")
	require.Len(t, files, 4)
	var sizes []int
	for _, f := range files[:3] {
		keys, _ := grouped(t, []gensuite.File{f}, 0)
		sizes = append(sizes, len(keys))
	}
	require.Equal(t, []int{1000, 1000, 304}, sizes)
	require.Equal(t, []string{"wide-1-switch-xray.csv", "wide-1-switch-xray-2.csv", "wide-1-switch-xray-3.csv", "wide-1-switch-xray-importConfiguration.json"},
		[]string{files[0].Name, files[1].Name, files[2].Name, files[3].Name})
	keys, _ := grouped(t, files, 0)
	require.Len(t, keys, 48*48)
}

// wide has one state in the middle, so many ways to it and so many from it.
func wide(n int) []byte {
	var b strings.Builder
	b.WriteString("machine: wide\nstates:\n  mid: {initial: true}\nevents:\n")
	for i := range n {
		fmt.Fprintf(&b, "  e%d: {expect: version}\n", i)
	}
	b.WriteString("transitions:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {event: e%d, from: mid, to: mid}\n", i)
	}
	return []byte(b.String())
}

// The mapping file names each column of the header by its place.
func TestTheMappingFileFitsTheHeader(t *testing.T) {
	t.Parallel()
	files := rendered(t, made(t, machine(t, "testdata/parcel.yaml"), "0-switch"), "xray", "en")
	var config struct {
		Delimiter string `json:"config.delimiter"`
		Mappings  []struct {
			Column int `json:"column.index"`
			Field  struct {
				ID string `json:"id"`
			} `json:"jira.field"`
		} `json:"config.field.mappings"`
	}
	require.NoError(t, json.Unmarshal(files[len(files)-1].Content, &config))
	require.Equal(t, ",", config.Delimiter)
	want := []string{"__xray_testId", "__issue_key", "xray_testtype", "summary", "__priority_name",
		"__xray_step_action", "__xray_step_data", "__xray_step_result", "xray_test_repository_folder", "labels"}
	for i, m := range config.Mappings {
		require.Equal(t, i, m.Column)
		require.Equal(t, want[i], m.Field.ID)
	}
	require.Len(t, config.Mappings, len(want))
}

func TestWorkbooksAreReadByAnotherLibrary(t *testing.T) {
	t.Parallel()
	for _, s := range tried(t) {
		book, err := excelize.OpenReader(bytes.NewReader(rendered(t, s, "xlsx", "en")[0].Content))
		require.NoError(t, err)
		require.Equal(t, []string{"Cases", "Coverage"}, book.GetSheetList())
		rows, err := book.GetRows("Cases")
		require.NoError(t, err)
		require.Equal(t, strings.Split(plainHeader+",Result,Remark", ","), rows[0])
		want := 0
		for _, c := range s.Cases {
			want += lines(c)
		}
		require.Len(t, rows[1:], want)
		for _, row := range rows[1:] {
			require.Equal(t, "Not run", row[8])
		}
		panes, err := book.GetPanes("Cases")
		require.NoError(t, err)
		require.True(t, panes.Freeze)
		require.Equal(t, 1, panes.YSplit)
		choices, err := book.GetDataValidations("Cases")
		require.NoError(t, err)
		require.Len(t, choices, 1)
		require.Contains(t, choices[0].Formula1, "Passed,Failed,Blocked,Not run")
		require.True(t, strings.HasPrefix(choices[0].Sqref, "I2"), choices[0].Sqref)
		proof, err := book.GetRows("Coverage")
		require.NoError(t, err)
		require.Len(t, proof[1:], len(s.Items))
	}
}

// Every item is in the coverage table, with a case that covers it or with the
// reason why none does.
func TestTheCoverageTableIsWhole(t *testing.T) {
	t.Parallel()
	s := made(t, machine(t, "testdata/tableless.yaml"), "walks")
	rows := table(t, rendered(t, s, "csv", "en")[1])
	require.Equal(t, [][]string{
		{"transition A/go", "transition", "yes", "tableless/walks/A/go", ""},
		{"transition B/end", "transition", "yes", "tableless/walks/A/go", ""},
		{"transition lost/end", "transition", "no", "", "no row ever reaches state lost"},
	}, rows)
	require.Contains(t, string(rendered(t, s, "md", "en")[0].Content), "| `transition lost/end` | **not covered**: no row ever reaches state lost |")
	require.Contains(t, string(rendered(t, s, "md", "zh")[0].Content), "1 个用例，2 个步骤；覆盖 2 / 3 项（66 %）。")
}

// Nothing of a definition runs as a formula, whichever program opens a file and
// whichever separator it was told.
func TestNoCellRunsAsAFormula(t *testing.T) {
	t.Parallel()
	s := made(t, machine(t, "testdata/hostile.yaml"), "n-plus")
	cells := 0
	for _, format := range []string{"csv", "csv-excel", "xray", "zephyr", "testrail"} {
		for _, f := range rendered(t, s, format, "zh") {
			if !strings.HasSuffix(f.Name, ".csv") {
				continue
			}
			for _, row := range table(t, f) {
				for _, cell := range row {
					for _, piece := range strings.FieldsFunc(cell, func(r rune) bool { return r == ';' || r == '\t' || r == '\n' || r == '\r' }) {
						require.NotRegexp(t, `^[\s"]*[=+\-@＝＋－＠]`, piece, "%q", cell)
						cells++
					}
				}
			}
		}
	}
	require.Greater(t, cells, 500)
}

// What stands in a definition is no mark on a page: without the code between
// backticks, no tag is left but our own line breaks.
func TestNothingOnAPageIsAMark(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"en", "zh"} {
		s := made(t, machine(t, "testdata/hostile.yaml"), "n-plus")
		page := string(rendered(t, s, "md", lang)[0].Content)
		bare := regexp.MustCompile("(`+)[^`]+(`+)").ReplaceAllString(page, "")
		for _, own := range []string{"<br>", "<code>", "</code>"} {
			bare = strings.ReplaceAll(bare, own, "")
		}
		require.NotContains(t, bare, "<")
		require.Contains(t, page, "`<script>`")
		for _, line := range strings.Split(page, "\n") {
			if bars := strings.Count(line, "|"); strings.HasPrefix(line, "|") {
				require.Contains(t, []int{3, 5, 6}, bars, line)
			}
		}
	}
}
