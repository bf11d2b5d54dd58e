package gendocs

import (
	"fmt"

	"github.com/pawl-go/pawl/internal/compare"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/wording"
)

// changes are what changed since a revision, in one machine or in all.
type changes struct {
	Revision, Verdict string
	Changes           []change
}

// ChangesOf is what the template of changes shows: those of one machine, or of all
// when none is named.
func ChangesOf(since *Since, machine, lang string) any { return changesOf(since, machine, lang) }

// change is one of them.
type change struct {
	Class, Word, Machine, Kind, Path, Text string
	Reasons                                []reason
}

// reason is what a change does to one side.
type reason struct {
	Side, Text string
	Breaks     bool
}

// size is the number of changes, none of a nil list.
func (c *changes) size() int {
	if c == nil {
		return 0
	}
	return len(c.Changes)
}

// changesOf takes the changes of one machine, breaking ones first; those of all
// machines, and each with its machine, when none is named.
func changesOf(since *Since, machine, lang string) *changes {
	out := &changes{Revision: since.Revision}
	breaking := 0
	for _, safe := range []bool{false, true} {
		for _, c := range since.Report.Changes {
			if c.Safe() != safe || machine != "" && c.Machine != machine {
				continue
			}
			if !safe {
				breaking++
			}
			view := changeOf(c, lang)
			if machine == "" {
				view.Machine = c.Machine
			}
			out.Changes = append(out.Changes, view)
		}
	}
	out.Verdict = wording.Phrase{EN: "Since %s: %d breaking, %d safe.", ZH: "自 %s 以来：%d 处不兼容，%d 处安全。"}.Sprintf(lang, since.Revision, breaking, len(out.Changes)-breaking)
	return out
}

func changeOf(c *compare.Change, lang string) change {
	view := change{Class: "safe", Word: wording.Phrase{EN: "safe", ZH: "安全"}.In(lang), Kind: kindWords(c.Kind, lang), Path: c.Path, Text: c.Text}
	if !c.Safe() {
		view.Class, view.Word = "breaking", wording.Phrase{EN: "breaking", ZH: "不兼容"}.In(lang)
	}
	for _, r := range c.Reasons {
		view.Reasons = append(view.Reasons, reason{Side: sides[r.Side].In(lang), Text: r.Text, Breaks: r.Breaks})
	}
	return view
}

// place is a position for people.
func place(p diag.Position) string { return fmt.Sprintf("%s:%d", p.File, p.Line) }
