package picture

import (
	"strings"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/wording"
)

// The marks that are written beside colours and line styles, so that a picture
// can be read without them. All are in the set of characters that any font has.
const (
	MarkCallback   = "◄"
	MarkDeadline   = "○"
	MarkReject     = "×"
	MarkCompensate = "▲"
	MarkEmit       = "►"
	MarkResting    = "□"
	MarkRetired    = "¬"
)

var (
	after      = wording.Phrase{EN: "after %s: %s", ZH: "%s后：%s"}
	atMost     = wording.Phrase{EN: " (max %d)", ZH: "（最多 %d 次）"}
	otherwise  = wording.Phrase{EN: "else", ZH: "否则"}
	refuses    = wording.Phrase{EN: "refuses %s", ZH: "拒绝 %s"}
	refusesAll = wording.Phrase{EN: "refuses everything", ZH: "拒绝所有事件"}
	refusesBut = wording.Phrase{EN: "refuses all but %s", ZH: "除 %s 外全部拒绝"}
	refusesOf  = wording.Phrase{EN: "refuses %d of %d events", ZH: "拒绝 %[2]d 个事件中的 %[1]d 个"}
	unless     = wording.Phrase{EN: ", wherever nothing moves", ZH: "（凡状态不变时）"}
	manyEvents = wording.Phrase{EN: "%d events", ZH: "%d 个事件"}
	compensate = wording.Phrase{EN: "compensates %s", ZH: "补偿 %s"}
	mayStay    = wording.Phrase{EN: "may stay", ZH: "可停留"}
	retired    = wording.Phrase{EN: "retired", ZH: "已停用"}
	comma      = wording.Phrase{EN: ", ", ZH: "、"}
)

// Title is what a state is called in a picture: its label in the language, and
// its name when that is another text, else "". Without a language it is
// the name alone. A label longer than any picture has room for is cut.
func Title(s *model.State, lang string) (title, name string) {
	if lang == "" {
		return s.Name, ""
	}
	return titled(s.Label(lang), s.Name)
}

// EventTitle is what an event is called in a picture, in the same way.
func EventTitle(e *model.Event, lang string) (title, name string) {
	if lang == "" {
		return e.Name, ""
	}
	return titled(e.Label(lang), e.Name)
}

func titled(label, name string) (string, string) {
	if label == name {
		return name, ""
	}
	return cut(label, 120), name
}

// event is an event in running text: "支付 (pay)".
func event(e *model.Event, lang string) string {
	title, name := EventTitle(e, lang)
	if name == "" {
		return title
	}
	return title + " (" + name + ")"
}

// Guard is what stands in brackets on an arrow: the guard's name, which the
// legend explains, else its description, else its SQL, cut where they are long.
func Guard(g *model.Guard) string {
	if g.Name != "" {
		return g.Name
	}
	return cut(wording.Guard(g), 120)
}

// Explained is a guard of Picture.Guards in the legend: "[paid] the amount paid is
// the amount due".
func Explained(g *model.Guard) string { return "[" + g.Name + "] " + cut(g.Describe, 240) }

// cut shortens a text to n characters, the last of which then says so.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}

// Text is what is written on an edge for the arc, on one line: its mark, when it
// has one, the event, the guard in brackets and, with emits, what is written
// to the outbox.
//
//	◄ payment_succeeded [amount_matches] ► order_paid
//	○ after 15 minutes: query_payment (max 20)
func (a Arc) Text(lang string, emits bool) string {
	text := event(a.Transition.Event, lang)
	switch a.Kind() {
	case Callback:
		text = MarkCallback + " " + text
	case Deadline:
		text = MarkDeadline + " " + after.Sprintf(lang, wording.Duration(a.Deadline.After, lang), text)
		if n := a.Deadline.Max; n > 0 {
			text += atMost.Sprintf(lang, n)
		}
	}
	switch {
	case a.Transition.Guard != nil:
		text += " [" + Guard(a.Transition.Guard) + "]"
	case a.Else:
		text += " [" + otherwise.In(lang) + "]"
	}
	if emits && len(a.Transition.Emit) > 0 {
		text += " " + MarkEmit + " " + strings.Join(a.Transition.Emit, comma.In(lang))
	}
	return text
}

// Standing is what is written under the title of a state that rows may stay in
// although they can be moved, or that none may enter any more: its mark and a
// word for each; empty for any other state.
func Standing(s *model.State, lang string) string {
	var words []string
	if s.Resting && !s.Final {
		words = append(words, MarkResting+" "+mayStay.In(lang))
	}
	if s.Retired {
		words = append(words, MarkRetired+" "+retired.In(lang))
	}
	return strings.Join(words, " ")
}

// few is how many events a remark lists one by one.
const few = 6

// Text is the remark on one line:
//
//	× refuses ship, receive
//	▲ compensates payment_succeeded [else] ► refund_due
//	▲ compensates refund_failed ► refund_stuck, wherever nothing moves
//
// A refusal of more than six events names those that are not refused instead,
// or where these are many as well, how many there are; a compensation does so
// above twelve.
func (r Remark) Text(lang string) string {
	if r.Decision == model.Reject {
		return MarkReject + " " + r.refusal(lang)
	}
	names := make([]string, len(r.Cells))
	for i, c := range r.Cells {
		names[i] = event(c.Event, lang)
		if c.Moves() && !r.Everywhere {
			names[i] += " [" + otherwise.In(lang) + "]"
		}
	}
	events := strings.Join(names, comma.In(lang))
	if len(names) > 2*few {
		events = manyEvents.Sprintf(lang, len(names))
	}
	text := MarkCompensate + " " + compensate.Sprintf(lang, events)
	if len(r.Emit) > 0 {
		text += " " + MarkEmit + " " + strings.Join(r.Emit, comma.In(lang))
	}
	if r.Everywhere {
		text += unless.In(lang)
	}
	return text
}

func (r Remark) refusal(lang string) string {
	switch {
	case len(r.Cells) <= few:
		return refuses.Sprintf(lang, list(r.events(), lang))
	case len(r.Others) == 0:
		return refusesAll.In(lang)
	case len(r.Others) <= few:
		return refusesBut.Sprintf(lang, list(r.Others, lang))
	}
	return refusesOf.Sprintf(lang, len(r.Cells), len(r.Cells)+len(r.Others))
}

func (r Remark) events() []*model.Event {
	events := make([]*model.Event, len(r.Cells))
	for i, c := range r.Cells {
		events[i] = c.Event
	}
	return events
}

func list(events []*model.Event, lang string) string {
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = event(e, lang)
	}
	return strings.Join(names, comma.In(lang))
}
