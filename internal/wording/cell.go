package wording

import (
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
)

// Way is one thing that can happen in a cell.
type Way struct {
	// Variant tells the ways of one cell apart and is empty when there is only
	// one: the name of the guard that must be true, "guard 2" for the second
	// transition when its guard has no name, "else" for the unguarded one behind
	// guards, "none" when no guard is true.
	Variant string
	// Transition is the one taken; nil where nothing moves.
	Transition *model.Transition
	// Decision is what is said where nothing moves.
	Decision model.Decision
	// Emit is what the way writes to the outbox, perhaps nothing.
	Emit []string
	// Behind says that other ways are tried before this one.
	Behind bool
}

// Ways returns what can happen in a cell, in the order in which it is tried; at
// least one.
func Ways(c *model.Cell) []Way {
	var ways []Way
	for i, t := range c.Transitions {
		w := Way{Transition: t, Emit: t.Emit, Behind: i > 0}
		switch {
		case t.Guard != nil && t.Guard.Name != "":
			w.Variant = t.Guard.Name
		case t.Guard != nil:
			w.Variant = "guard " + strconv.Itoa(i+1)
		case i > 0:
			w.Variant = "else"
		}
		ways = append(ways, w)
	}
	if c.Closed() {
		return ways
	}
	w := Way{Decision: c.Otherwise, Behind: c.Moves()}
	if c.Otherwise == model.Compensate {
		w.Emit = c.Emit
	}
	if w.Behind {
		w.Variant = "none"
	}
	return append(ways, w)
}

// Guard returns the condition of the way, nil for one without.
func (w Way) Guard() *model.Guard {
	if w.Transition == nil {
		return nil
	}
	return w.Transition.Guard
}

// When says under which condition the way is taken: its guard in brackets,
// "otherwise" for what is left when others were tried, else nothing.
func (w Way) When(lang string) string {
	switch g := w.Guard(); {
	case g != nil:
		return "[" + Guard(g) + "]"
	case w.Behind:
		return otherwise.In(lang)
	}
	return ""
}

// Then says what the way does: "→ PAID", "ignore", "compensate: refund_due".
func (w Way) Then(lang string) string {
	if w.Transition != nil {
		return "→ " + w.Transition.To.Name
	}
	said := Decision(w.Decision).In(lang)
	switch {
	case w.Decision != model.Compensate:
		return said
	case len(w.Emit) == 0:
		return said + recordOnly.In(lang)
	}
	return said + colon.In(lang) + strings.Join(w.Emit, ", ")
}

// Gap is what stands between When and Then: a blank, and nothing between two
// Chinese words or where there is no condition.
func (w Way) Gap(lang string) string {
	if w.When(lang) == "" || w.Transition == nil && model.PrimaryLanguage(lang) == "zh" {
		return ""
	}
	return " "
}

// Text is the way in one line: "[the amount is due] → PAID".
func (w Way) Text(lang string) string { return w.When(lang) + w.Gap(lang) + w.Then(lang) }

// Cell says what a cell does, its ways in the order tried: "[the amount is due]
// → PAID; otherwise compensate: refund_due".
func Cell(c *model.Cell, lang string) string {
	var texts []string
	for _, w := range Ways(c) {
		texts = append(texts, w.Text(lang))
	}
	return strings.Join(texts, semicolon.In(lang))
}

// Sets says what a transition writes into the row: "paid_cents = @paid_cents,
// paid_at = now()"; empty for one that writes nothing.
func Sets(t *model.Transition) string {
	var texts []string
	for _, a := range t.Set {
		texts = append(texts, a.Column.Name+" = "+a.Value.Source)
	}
	return strings.Join(texts, ", ")
}

// Named is a name with its label in that language behind it, where there is one
// that says more than the name: "PAYING (Payment in progress)".
func Named(name string, labels []model.Label, lang string) string {
	if label := Label(name, labels, lang); label != "" {
		return name + open.In(lang) + label + shut.In(lang)
	}
	return name
}

// Label is the label in that language, or in the language that it is a kind of;
// empty when there is none, or one that says no more than the name.
func Label(name string, labels []model.Label, lang string) string {
	for _, exact := range []bool{true, false} {
		for _, l := range labels {
			if (exact && strings.EqualFold(l.Lang, lang) || !exact && model.PrimaryLanguage(l.Lang) == model.PrimaryLanguage(lang)) && !strings.EqualFold(l.Text, name) {
				return l.Text
			}
		}
	}
	return ""
}

// Deadline says when and how a row leaves a state by itself: "after 15 minutes:
// query_payment, at most 20 times". Empty for no deadline.
func Deadline(d *model.Deadline, lang string) string {
	if d == nil {
		return ""
	}
	said := after.Sprintf(lang, Duration(d.After, lang), d.Event.Name)
	if d.Max > 0 {
		said += atMost.Sprintf(lang, d.Max)
	}
	return said
}

// Marks says what is special about a state: initial, final, resting, retired,
// in this order and as far as they hold.
func Marks(s *model.State, lang string) []string {
	var said []string
	for _, m := range []struct {
		holds bool
		word  Phrase
	}{{s.Initial, initial}, {s.Final, final}, {s.Resting, resting}, {s.Retired, retired}} {
		if m.holds {
			said = append(said, m.word.In(lang))
		}
	}
	return said
}

var (
	otherwise  = Phrase{"otherwise", "否则"}
	recordOnly = Phrase{" (record only)", "（只记录）"}
	colon      = Phrase{": ", "："}
	semicolon  = Phrase{"; ", "；"}
	open       = Phrase{" (", "（"}
	shut       = Phrase{")", "）"}
	after      = Phrase{"after %s: %s", "%s后：%s"}
	atMost     = Phrase{", at most %d times", "，最多 %d 次"}
	initial    = Phrase{"initial", "初始"}
	final      = Phrase{"final", "终态"}
	resting    = Phrase{"resting", "可停留"}
	retired    = Phrase{"retired", "已停用"}
)
