package gensuite

import (
	"iter"
	"strings"

	"github.com/pawl-go/pawl/internal/sheet"
	"github.com/pawl-go/pawl/internal/suite"
)

// sentences joins what is said in one cell, a line each.
func sentences(said []string) string { return strings.Join(said, "\n") }

// caseSheet is a row for each line of each case. ID and title stand on every
// row, so that a filter and a grouping reader keep a case together; what is the
// same for the whole case stands on its first one. frame has the language of
// the headers and the priorities.
func (d *document) caseSheet(frame *document) *sheet.Sheet {
	return &sheet.Sheet{
		Name: frame.say(casesName),
		Columns: []sheet.Column{
			{Header: frame.say(headID), Width: 36, Wrap: true},
			{Header: frame.say(headTitle), Width: 36, Wrap: true},
			{Header: frame.say(headPriority), Width: 10},
			{Header: frame.say(headBefore), Width: 32, Wrap: true},
			{Header: frame.say(headStep), Width: 6},
			{Header: frame.say(headAction), Width: 36, Wrap: true},
			{Header: frame.say(headData), Width: 36, Wrap: true},
			{Header: frame.say(headExpected), Width: 48, Wrap: true},
		},
		Rows:   d.caseRows(frame),
		Freeze: 1,
		Filter: true,
	}
}

func (d *document) caseRows(frame *document) iter.Seq[[]sheet.Cell] {
	return func(yield func([]sheet.Cell) bool) {
		for _, c := range d.suite.Cases {
			before, about, importance := sentences(d.precondition(c)), d.summary(c), frame.say(priorities[priorityOf(c)])
			for i, l := range d.script(c) {
				row := append(sheet.Texts(c.ID, about, importance, before),
					sheet.Number(int64(i+1)), sheet.Text(sentences(l.action)), sheet.Text(sentences(d.given(l))), sheet.Text(sentences(l.expected)))
				if before = ""; !yield(row) {
					return
				}
			}
		}
	}
}

// coverageSheet is a row for each item: the cases that cover it, or why none does.
func (d *document) coverageSheet(frame *document) *sheet.Sheet {
	return &sheet.Sheet{
		Name: frame.say(coverageName),
		Columns: []sheet.Column{
			{Header: frame.say(headItem), Width: 48, Wrap: true},
			{Header: frame.say(headKind), Width: 12},
			{Header: frame.say(headCovered), Width: 10},
			{Header: frame.say(headCases), Width: 60, Wrap: true},
			{Header: frame.say(headWhy), Width: 48, Wrap: true},
		},
		Rows: func(yield func([]sheet.Cell) bool) {
			for i, cases := range d.suite.CoveredBy() {
				item := d.suite.Items[i]
				covered := sheet.Styled(sheet.Good, frame.say(yes))
				if len(cases) == 0 {
					covered = sheet.Styled(sheet.Bad, frame.say(no))
				}
				if !yield([]sheet.Cell{sheet.Text(item.ID), sheet.Text(frame.say(itemKinds[item.Kind])), covered,
					sheet.Text(d.coverers(cases)), sheet.Text(item.Why)}) {
					return
				}
			}
		},
		Freeze: 1,
		Filter: true,
	}
}

// coverers names the cases that cover an item, a line each.
func (d *document) coverers(cases []int) string {
	said := make([]string, len(cases))
	for i, at := range cases {
		said[i] = d.suite.Cases[at].ID
	}
	return sentences(said)
}

// importerCSV is one row a line, grouped by the first column, ID; a program
// that keeps cases should match on it. Headers and priorities are English in
// every language, since programs look for them.
func importerCSV(d *document) ([]File, error) {
	english := newDocument(d.suite, "en")
	return csvFiles(d.base(), d.caseSheet(english), d.coverageSheet(english), sheet.Importer)
}

// excelCSV is the same for people, with the headers in their language. Its name
// ends like that of the matrix for spreadsheets.
func excelCSV(d *document) ([]File, error) {
	return csvFiles(d.base()+"-excel", d.caseSheet(d), d.coverageSheet(d), sheet.Excel)
}

func csvFiles(base string, cases, coverage *sheet.Sheet, flavour sheet.Flavour) ([]File, error) {
	table, err := sheet.CSV(cases, flavour)
	if err != nil {
		return nil, err
	}
	proof, err := sheet.CSV(coverage, flavour)
	if err != nil {
		return nil, err
	}
	return []File{{base + ".csv", table}, {base + "-coverage.csv", proof}}, nil
}

// compressAbove is how many steps a workbook holds before it is packed.
const compressAbove = 20_000

// workbook is the suite as people run it: a result to choose and a remark to
// write beside each line, and the coverage on a second sheet.
func workbook(d *document) ([]File, error) {
	cases := d.caseSheet(d)
	results := sheet.Column{Header: d.say(headResult), Width: 12, Choices: []sheet.Choice{
		{Text: d.say(passed), Kind: sheet.Good}, {Text: d.say(failed), Kind: sheet.Bad},
		{Text: d.say(blocked), Kind: sheet.Open}, {Text: d.say(notRun), Kind: sheet.Note},
	}}
	cases.Columns = append(cases.Columns, results, sheet.Column{Header: d.say(headRemark), Width: 32, Wrap: true})
	rows, open := cases.Rows, sheet.Text(d.say(notRun))
	cases.Rows = func(yield func([]sheet.Cell) bool) {
		for row := range rows {
			if !yield(append(row, open)) {
				return
			}
		}
	}
	content, err := sheet.XLSX(&sheet.Workbook{
		Title:    d.say(suiteTitle, d.suite.Name, d.suite.Machine.Name),
		About:    d.criterion() + " " + d.counts(),
		Sheets:   []*sheet.Sheet{cases, d.coverageSheet(d)},
		Compress: steps(d.suite) > compressAbove,
	})
	if err != nil {
		return nil, err
	}
	return []File{{d.base() + ".xlsx", content}}, nil
}

func steps(s *suite.Suite) int {
	n := 0
	for _, c := range s.Cases {
		n += len(c.Steps)
	}
	return n
}
