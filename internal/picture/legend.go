package picture

import (
	"slices"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/wording"
)

// Sign is something in a picture that the legend explains.
type Sign int

// The signs, in the order of the legend.
const (
	SignHappy Sign = iota
	SignCallback
	SignDeadline
	SignFinal
	SignResting
	SignRetired
	SignReject
	SignCompensate
	SignEmit
)

// Entry is one line of a legend.
type Entry struct {
	Sign Sign
	// Mark is the text mark of the sign; empty for those that only a line or a
	// border shows: SignHappy and SignFinal.
	Mark string
	// Text says what the sign means.
	Text string
}

var signs = []struct {
	sign Sign
	mark string
	text wording.Phrase
}{
	{SignHappy, "", wording.Phrase{EN: "the way when all goes well", ZH: "一切顺利时的路径"}},
	{SignCallback, MarkCallback, wording.Phrase{EN: "callback: news from outside, perhaps late or twice", ZH: "回调：来自外部的通知，可能迟到或重复"}},
	{SignDeadline, MarkDeadline, wording.Phrase{EN: "deadline: happens by itself when the time has passed", ZH: "超时：到时自动发生"}},
	{SignFinal, "", wording.Phrase{EN: "final: nothing leads out", ZH: "终态：不再变化"}},
	{SignResting, MarkResting, wording.Phrase{EN: "may stay for good, and can still be moved", ZH: "可一直停留，但仍可能变化"}},
	{SignRetired, MarkRetired, wording.Phrase{EN: "retired: nothing leads in any more", ZH: "已停用：不再进入"}},
	{SignReject, MarkReject, wording.Phrase{EN: "refused: nothing happens, the caller is told", ZH: "拒绝：不做任何事，并告知调用方"}},
	{SignCompensate, MarkCompensate, wording.Phrase{EN: "compensated: nothing moves, recorded once as work for someone", ZH: "补偿：状态不变，只记录一次，留待处理"}},
	{SignEmit, MarkEmit, wording.Phrase{EN: "written to the outbox", ZH: "写入 outbox"}},
}

// Legend returns what explains the signs that the picture has, in a fixed order;
// empty when it has none. Emits says whether arrows tell what they write to
// the outbox; compensations always do.
func (p *Picture) Legend(lang string, emits bool) []Entry {
	has := p.signs(emits)
	var legend []Entry
	for _, s := range signs {
		if has[s.sign] {
			legend = append(legend, Entry{Sign: s.sign, Mark: s.mark, Text: s.text.In(lang)})
		}
	}
	return legend
}

func (p *Picture) signs(emits bool) (has signSet) {
	for _, e := range p.Edges {
		has[SignHappy] = has[SignHappy] || e.Happy
		for _, a := range e.Arcs {
			has[SignCallback] = has[SignCallback] || a.Kind() == Callback
			has[SignDeadline] = has[SignDeadline] || a.Kind() == Deadline
			has[SignEmit] = has[SignEmit] || emits && !p.Bare && len(a.Transition.Emit) > 0
		}
	}
	for _, n := range p.Nodes {
		has[SignFinal] = has[SignFinal] || n.Rest() == Final
		has[SignResting] = has[SignResting] || n.Rest() == Resting
		has[SignRetired] = has[SignRetired] || n.State.Retired
		for _, r := range p.Remarks(n) {
			has.remark(r)
		}
	}
	for _, r := range p.Everywhere {
		has.remark(r)
	}
	return has
}

type signSet [SignEmit + 1]bool

func (has *signSet) remark(r Remark) {
	has[SignReject] = has[SignReject] || r.Decision == model.Reject
	has[SignCompensate] = has[SignCompensate] || r.Decision == model.Compensate
	has[SignEmit] = has[SignEmit] || len(r.Emit) > 0
}

// Remarks returns what the picture tells of a node beside its title: nothing in
// one that is bare.
func (p *Picture) Remarks(n *Node) []Remark {
	if p.Bare {
		return nil
	}
	return n.Remarks
}

// Guards returns the guards that stand in brackets on the picture's arrows by
// their names and have a description that says more, in the machine's order;
// none in a picture that is bare.
func (p *Picture) Guards() []*model.Guard {
	if p.Bare {
		return nil
	}
	drawn := map[*model.Guard]bool{}
	for _, e := range p.Edges {
		for _, a := range e.Arcs {
			drawn[a.Transition.Guard] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(p.Machine.Guards), func(g *model.Guard) bool {
		return !drawn[g] || g.Describe == "" || g.Name == ""
	})
}
