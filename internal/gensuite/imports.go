package gensuite

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/sheet"
	"github.com/pawl-go/pawl/internal/suite"
)

// xrayHeader is the header of Xray's file, and in its mapping file the field of
// each column.
var xrayHeader = []struct{ name, group, id, kind string }{
	{"Issue ID", "Xray", "__xray_testId", "string"},
	{"Issue Key", "Native", "__issue_key", "string"},
	{"Test Type", "Xray", "xray_testtype", "string"},
	{"Test Summary", "Native", "summary", "string"},
	{"Test Priority", "Native", "__priority_name", "string"},
	{"Action", "Xray Test Step Fields", "__xray_step_action", "text"},
	{"Data", "Xray Test Step Fields", "__xray_step_data", "text"},
	{"Result", "Xray Test Step Fields", "__xray_step_result", "text"},
	{"Test Repo", "Xray", "xray_test_repository_folder", "string"},
	{"Labels", "Native", "labels", "array"},
}

// xrayIssues is how many issues Xray takes in one import.
const xrayIssues = 1000

// xray is what Xray's Test Case Importer reads: a file for each 1,000 cases and
// one mapping file for all of them. Rows with the same Issue ID, which is the
// case's, are one test; summary, priority, folder and labels stand on its first
// row, the test type on each.
//
// Xray updates the test whose key stands in Issue Key and creates one where
// that is empty, as it is here: the keys are Jira's. To update, fill the column
// in from Jira, where each test has the case's key as its last label.
func xray(d *document) ([]File, error) {
	var files []File
	for n, cases := range chunks(d.suite.Cases, xrayIssues) {
		table := importSheet(names(xrayHeader, func(h struct{ name, group, id, kind string }) string { return h.name }),
			cases, func(c *suite.Case, l line, first bool) []string {
				row := []string{c.ID, "", "Manual", "", "", sentences(append(d.atFirst(c, first), l.action...)), sentences(d.given(l)), sentences(l.expected), "", ""}
				if first {
					row[3], row[4] = d.title(c), priorityOf(c).in([3]string{"Low", "Medium", "High"})
					row[8], row[9] = d.suite.Machine.Name+"/"+d.suite.Name, strings.Join(d.labels(c), ";")
				}
				return row
			}, d.script)
		content, err := sheet.CSV(table, sheet.Importer)
		if err != nil {
			return nil, err
		}
		files = append(files, File{numbered(d.base()+"-xray", ".csv", n), content})
	}
	mapping, err := xrayMapping()
	if err != nil {
		return nil, err
	}
	return append(files, File{d.base() + "-xray-importConfiguration.json", mapping}), nil
}

// atFirst are the preconditions, for tools that keep them in the first step.
func (d *document) atFirst(c *suite.Case, first bool) []string {
	if first && c.Start != nil {
		return d.precondition(c)
	}
	return nil
}

// xrayMapping is the file that says which column is which field; the project
// is chosen in the importer.
func xrayMapping() ([]byte, error) {
	type field struct {
		Group string `json:"group"`
		ID    string `json:"id"`
		Type  string `json:"type"`
	}
	type mapping struct {
		Column int   `json:"column.index"`
		Field  field `json:"jira.field"`
	}
	config := struct {
		Encoding  string    `json:"config.encoding"`
		Delimiter string    `json:"config.delimiter"`
		FromCSV   bool      `json:"config.project.from.csv"`
		List      string    `json:"config.list.delimiter"`
		Date      string    `json:"config.date.format"`
		Folders   bool      `json:"config.create.test.repository.folders"`
		Mappings  []mapping `json:"config.field.mappings"`
	}{"UTF-8", ",", false, ";", "YYYY-MM-DD HH:mm", true, nil}
	for i, h := range xrayHeader {
		config.Mappings = append(config.Mappings, mapping{i, field{h.group, h.id, h.kind}})
	}
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetIndent("", "  ")
	if err := out.Encode(config); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

var zephyrHeader = []string{
	"Key", "Name", "Status", "Precondition", "Objective", "Folder", "Priority", "Component", "Labels", "Owner", "Estimated Time",
	"Coverage (Issues)", "Coverage (Pages)",
	"Test Script (Step-by-Step) - Step", "Test Script (Step-by-Step) - Test Data", "Test Script (Step-by-Step) - Expected Result",
	"Test Script (Plain Text)", "Test Script (BDD)",
}

// zephyr is what Zephyr Scale imports: a case's first row says what it is, and
// the rows after it fill the three columns of its steps alone; that is how the
// importer knows where a case ends.
//
// Key is the tool's own and empty here, which creates cases: the importer
// matches on nothing else. A case is found again by its last label or the end
// of its name, which are the case's key and stay the same; to update, export,
// fill the Key column in by them, and import with the fields that changed.
func zephyr(d *document) ([]File, error) {
	table := importSheet(zephyrHeader, d.suite.Cases, func(c *suite.Case, l line, first bool) []string {
		row := make([]string, len(zephyrHeader))
		row[13], row[14], row[15] = sentences(l.action), sentences(d.given(l)), sentences(l.expected)
		if first {
			row[1], row[2], row[3], row[4] = d.title(c), "Draft", sentences(d.precondition(c)), d.criterion()
			row[5], row[6] = "/"+d.suite.Machine.Name+"/"+d.suite.Name, priorityOf(c).in([3]string{"Low", "Normal", "High"})
			row[8] = strings.Join(d.labels(c), ",")
		}
		return row
	}, d.script)
	content, err := sheet.CSV(table, sheet.Importer)
	if err != nil {
		return nil, err
	}
	return []File{{d.base() + "-zephyr.csv", content}}, nil
}

var testrailHeader = []string{
	"Section", "Title", "Template", "Type", "Priority", "Estimate", "References", "Preconditions", "Steps (Step)", "Steps (Expected Result)",
}

// testrail is what TestRail imports as test cases on several rows, with Title as
// the column by which a new case is seen: it stands on a case's first row alone.
//
// TestRail updates by its own case ID alone. A case is found again by the end of
// its title and by References, which are the case's key and stay the same.
func testrail(d *document) ([]File, error) {
	table := importSheet(testrailHeader, d.suite.Cases, func(c *suite.Case, l line, first bool) []string {
		row := make([]string, len(testrailHeader))
		row[8], row[9] = sentences(slices.Concat(l.action, d.given(l))), sentences(l.expected)
		if first {
			row[0], row[1] = d.suite.Machine.Name+" / "+d.suite.Name, d.title(c)
			row[2], row[3] = "Test Case (Steps)", "Functional"
			row[4], row[6], row[7] = priorityOf(c).in([3]string{"Low", "Medium", "High"}), key(c.ID), sentences(d.precondition(c))
		}
		return row
	}, d.script)
	content, err := sheet.CSV(table, sheet.Importer)
	if err != nil {
		return nil, err
	}
	return []File{{d.base() + "-testrail.csv", content}}, nil
}

// importSheet is a row for each line of each case.
func importSheet(header []string, cases []*suite.Case, row func(c *suite.Case, l line, first bool) []string, script func(*suite.Case) []line) *sheet.Sheet {
	s := &sheet.Sheet{Name: "Cases", Rows: func(yield func([]sheet.Cell) bool) {
		for _, c := range cases {
			for i, l := range script(c) {
				if !yield(sheet.Texts(row(c, l, i == 0)...)) {
					return
				}
			}
		}
	}}
	for _, h := range header {
		s.Columns = append(s.Columns, sheet.Column{Header: h})
	}
	return s
}

// chunks cuts a list into parts of so many; a list of nothing is one part.
func chunks[T any](all []T, size int) iter.Seq2[int, []T] {
	return func(yield func(int, []T) bool) {
		for n := 0; n == 0 || n*size < len(all); n++ {
			if !yield(n, all[n*size:min(len(all), (n+1)*size)]) {
				return
			}
		}
	}
}

func names[T any](all []T, name func(T) string) []string {
	list := make([]string, len(all))
	for i, t := range all {
		list[i] = name(t)
	}
	return list
}
