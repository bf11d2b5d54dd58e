// Package gensuite renders test suites for the people who run them and for the
// tools that keep them: Markdown, Gherkin, CSV in two flavours, xlsx, and what
// Xray, Zephyr Scale and TestRail import. It writes bytes and no file; which
// cases a suite has is internal/suite's business, and what a CSV or xlsx file
// is made of internal/sheet's.
//
// A step says what a tester does, with which data, and what must then be seen:
// the answer, the row, its history, its facts and the outbox. A case is known by
// its ID, which every format carries and which stays the same from one
// generation to the next, so that a file can be compared and imported again;
// what a tool matches on is said at its renderer.
package gensuite

import (
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/suite"
)

// File is a rendered file.
type File struct {
	// Name has no folder: "order-n-plus.md".
	Name    string
	Content []byte
}

// Format is a way to render a suite.
type Format struct {
	// Name is what the format is asked for by.
	Name string
	// About says for whom it is, in one line.
	About  string
	render func(*document) ([]File, error)
}

// formats is a function, since a renderer may ask for the names.
func formats() []Format {
	return []Format{
		{"md", "Markdown for people, with the coverage table", markdown},
		{"gherkin", "a .feature file for Cucumber, godog and their like", gherkin},
		{"csv", "CSV for programs, without a byte order mark, and the coverage table", importerCSV},
		{"csv-excel", "CSV for spreadsheets, with a byte order mark, and the coverage table", excelCSV},
		{"xlsx", "a workbook with a result to choose for each step, and the coverage table", workbook},
		{"xray", "CSV for Xray's Test Case Importer, with its importConfiguration.json", xray},
		{"zephyr", "CSV for Zephyr Scale's import", zephyr},
		{"testrail", "CSV for TestRail's import, Title being the break column", testrail},
	}
}

// Formats returns the formats in the order in which people are shown them.
func Formats() []Format { return formats() }

// Renderer renders one suite in one language. What formats have in common it
// puts into words once. It is not for concurrent use.
type Renderer struct{ plain *document }

// For returns a renderer of a suite. lang is a BCP 47 tag: words are Chinese
// for Chinese and English for any other language, labels are the definition's.
func For(s *suite.Suite, lang string) *Renderer { return &Renderer{newDocument(s, lang)} }

// Render renders the suite in a format. A suite without cases gives files that
// say so, with the headers that importers look for.
//
// Errors are *UnknownFormatError, and *sheet.Error for a suite with more rows
// than a spreadsheet holds. Equal suites give equal bytes.
func (r *Renderer) Render(format string) ([]File, error) {
	for _, f := range formats() {
		if f.Name == format {
			return f.render(r.plain)
		}
	}
	return nil, unknown(format)
}

// Render renders a suite in one format: see [Renderer.Render].
func Render(s *suite.Suite, format, lang string) ([]File, error) { return For(s, lang).Render(format) }

// UnknownFormatError says that there is no format of a name.
type UnknownFormatError struct {
	Name string
	// Nearest is the one that was most likely meant, or empty.
	Nearest string
	Names   []string
}

func (e *UnknownFormatError) Error() string {
	text := fmt.Sprintf("suites have no format %q", e.Name)
	if e.Nearest != "" {
		text += fmt.Sprintf("; did you mean %s?", e.Nearest)
	}
	return fmt.Sprintf("%s (there are %s)", text, strings.Join(e.Names, ", "))
}

func unknown(name string) error {
	var names []string
	for _, f := range formats() {
		names = append(names, f.Name)
	}
	return &UnknownFormatError{name, diag.Nearest(name, names), names}
}

// base is the beginning of the names of a suite's files: the machine and the
// suite, "order-n-switch-2".
func (d *document) base() string {
	return d.suite.Machine.Name + "-" + strings.ReplaceAll(d.suite.Name, "=", "-")
}
