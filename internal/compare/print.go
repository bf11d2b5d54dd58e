package compare

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-go/pawl/internal/diag"
)

// width is how many columns a line of text has at most, unless one word has more.
const width = 100

// Text writes the changes for people, machine by machine and the breaking ones
// first; nothing without changes. The error is the writer's.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	for i, c := range r.Changes {
		if i > 0 && r.Changes[i-1].Machine == c.Machine {
			continue
		}
		b.WriteString(c.Machine + "\n")
		for _, safe := range []bool{false, true} {
			for _, m := range r.Changes {
				if m.Machine == c.Machine && m.Safe() == safe {
					m.text(&b)
				}
			}
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Summary writes the last lines: what --advance means, where a reason names it,
// and the verdict:
//
//	2 breaking, 5 safe changes: major
//
// Without changes it is "no change". The error is the writer's.
func (r *Report) Summary(w io.Writer) error {
	_, err := io.WriteString(w, r.later()+r.verdict()+"\n")
	return err
}

func (r *Report) verdict() string {
	breaking, all := r.Breaking(), len(r.Changes)
	noun := "changes"
	if all-breaking == 1 || all == breaking && breaking == 1 {
		noun = "change"
	}
	switch {
	case all == 0:
		return "no change"
	case breaking == 0:
		return fmt.Sprintf("%d safe %s: %s", all, noun, r.Semver())
	case breaking == all:
		return fmt.Sprintf("%d breaking %s: %s", all, noun, r.Semver())
	}
	return fmt.Sprintf("%d breaking, %d safe %s: %s", breaking, all-breaking, noun, r.Semver())
}

// Columns of the text: where a change begins, and a reason behind its side.
const (
	changeAt = 19
	reasonAt = 20
)

func (c *Change) text(b *strings.Builder) {
	word := "safe"
	if !c.Safe() {
		word = "breaking"
	}
	fold(b, fmt.Sprintf("  %-8s  %-6s", word, c.Semver()), append(words(c.Text), harmless(c.place())), changeAt)
	for _, r := range c.Reasons {
		mark := ' '
		if r.Breaks {
			mark = '!'
		}
		side := string(r.Side)
		if r.Side == Programs {
			side = "old programs"
		}
		fold(b, fmt.Sprintf("    %c %-12s", mark, side), words(r.Text), reasonAt)
	}
}

// later explains what reasons mean by --advance, if one does.
func (r *Report) later() string {
	for _, c := range r.Changes {
		for _, reason := range c.Reasons {
			if strings.Contains(reason.Text, "--advance") {
				return "--advance is fsmgen generate --advance, which is for when no old program runs any more.\n"
			}
		}
	}
	return ""
}

func (c *Change) place() string {
	pos, was := c.New, ""
	if pos.File == "" {
		pos, was = c.Old, "was "
	}
	return fmt.Sprintf("(%s%s:%d)", was, pos.File, pos.Line)
}

func words(text string) []string { return strings.Fields(harmless(text)) }

// fold writes head and, from column at on, the words, in as many lines as they need.
func fold(b *strings.Builder, head string, words []string, at int) {
	line := fmt.Sprintf("%-*s", at, head)
	bare := true // whether the line has no word yet
	for _, word := range words {
		if !bare && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			b.WriteString(line + "\n")
			line, bare = strings.Repeat(" ", at), true
		}
		if !bare {
			line += " "
		}
		line, bare = line+word, false
	}
	b.WriteString(line + "\n")
}

// harmless escapes whatever could move a terminal's cursor or hide text.
func harmless(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsGraphic(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// oneLine writes an expression with single spaces.
func oneLine(sql string) string { return strings.Join(strings.Fields(sql), " ") }

type jsonReport struct {
	Verdict  string       `json:"verdict"`
	Breaking int          `json:"breaking"`
	Safe     int          `json:"safe"`
	Changes  []jsonChange `json:"changes"`
}

type jsonChange struct {
	Machine string        `json:"machine"`
	Kind    Kind          `json:"kind"`
	Path    string        `json:"path"`
	Text    string        `json:"text"`
	Safe    bool          `json:"safe"`
	Semver  string        `json:"semver"`
	Reasons []jsonReason  `json:"reasons"`
	Old     *jsonPosition `json:"old,omitempty"`
	New     *jsonPosition `json:"new,omitempty"`
	Rows    *jsonRows     `json:"rows,omitempty"`
}

type jsonReason struct {
	Side   Side   `json:"side"`
	Breaks bool   `json:"breaks"`
	Text   string `json:"text"`
}

type jsonPosition struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
}

type jsonRows struct {
	Table   string `json:"table"`
	State   string `json:"state"`
	Count   *int64 `json:"count"`
	Unknown string `json:"unknown,omitempty"`
}

// JSON writes the report as one object, the changes in the order of the new
// definitions; docs/diff.md has its fields. The error is the writer's.
func (r *Report) JSON(w io.Writer) error {
	out := jsonReport{Verdict: r.Semver().String(), Breaking: r.Breaking(), Safe: len(r.Changes) - r.Breaking(), Changes: []jsonChange{}}
	for _, c := range r.Changes {
		j := jsonChange{Machine: c.Machine, Kind: c.Kind, Path: c.Path, Text: c.Text, Safe: c.Safe(), Semver: c.Semver().String(),
			Reasons: []jsonReason{}, Old: position(c.Old), New: position(c.New)}
		for _, reason := range c.Reasons {
			j.Reasons = append(j.Reasons, jsonReason(reason))
		}
		if g := c.Gone; g != nil {
			j.Rows = &jsonRows{Table: g.Table.Name, State: g.State, Count: g.Count, Unknown: g.Unknown}
		}
		out.Changes = append(out.Changes, j)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

func position(p diag.Position) *jsonPosition {
	if p.File == "" {
		return nil
	}
	return &jsonPosition{File: p.File, Line: p.Line, Col: p.Col}
}
