package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// TextLine is a finding as people read it, on one line, whatever its key is.
func (f Finding) TextLine() string {
	var b strings.Builder
	b.WriteString(shown(f.Machine))
	if f.Key != "" {
		b.WriteString(" " + shown(f.Key))
	}
	if f.Version != 0 {
		b.WriteString(" version " + strconv.FormatInt(f.Version, 10))
	}
	fmt.Fprintf(&b, ": %s: %s", f.Kind, f.Text)
	return b.String()
}

// shown quotes a text that would not be read as it is.
func shown(text string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	if text == "" || strings.ContainsFunc(text, odd) {
		return strconv.Quote(text)
	}
	return text
}

// Text writes what a report says beside its findings.
func (r Report) Text(w io.Writer) error {
	var b strings.Builder
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	for _, m := range r.Read {
		fmt.Fprintf(&b, "%s: %s, %s, %s read\n", m.Machine, several(m.Rows, "row", "rows"),
			several(m.Entries, "history entry", "history entries"), several(m.Facts, "fact", "facts"))
	}
	for _, c := range r.Counts {
		fmt.Fprintf(&b, "%9d %s\n", c.Count, c.Kind)
	}
	if len(r.Counts) == 0 {
		b.WriteString("nothing found\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// JSON writes an audit as one JSON document while it goes on: findings first,
// then the report. It is for one goroutine.
type JSON struct {
	w     io.Writer
	begun bool
}

// NewJSON returns a writer on w.
func NewJSON(w io.Writer) *JSON { return &JSON{w: w} }

// Found adds a finding.
func (j *JSON) Found(f Finding) error {
	line, err := json.Marshal(f)
	if err != nil {
		return err
	}
	before := ",\n    "
	if !j.begun {
		j.begun, before = true, "{\n  \"findings\": [\n    "
	}
	_, err = io.WriteString(j.w, before+string(line))
	return err
}

// End closes the document. failed is why the audit came to no end, nil when it did.
func (j *JSON) End(r Report, failed error) error {
	head := "\n  ],\n"
	if !j.begun {
		head = "{\n  \"findings\": [],\n"
	}
	rest := struct {
		Report
		Complete bool   `json:"complete"`
		Error    string `json:"error,omitempty"`
	}{Report: r, Complete: failed == nil}
	if failed != nil {
		rest.Error = failed.Error()
	}
	body, err := json.MarshalIndent(rest, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(j.w, "%s%s\n", head, strings.TrimPrefix(string(body), "{\n"))
	return err
}
