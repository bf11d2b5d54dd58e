package gensuite

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-go/pawl/internal/suite"
)

const (
	// longestTitle is what the title columns of all tools hold, in characters
	// (TestRail 250, Jira and Zephyr Scale 255), with room for the apostrophes that
	// make it harmless.
	longestTitle = 240
	// longestKey is what is left of a long ID in titles and labels.
	longestKey = 120
	// toldSteps is how many steps a title tells of.
	toldSteps = 3
)

// title says what a case is about, for people, with its key behind it, by which
// it is unique and found again: "pay: PENDING → PAYING [order/0-switch/PENDING/pay]".
func (d *document) title(c *suite.Case) string {
	behind := " [" + key(c.ID) + "]"
	return cut(d.summary(c), longestTitle-utf8.RuneCountInString(behind)) + behind
}

// summary is the title without the key.
func (d *document) summary(c *suite.Case) string {
	if len(c.Steps) == 0 {
		if initial := d.suite.Machine.Initial(); initial != nil {
			return d.say(titleCreate, d.name(initial.Name))
		}
	}
	var said []string
	for i := range c.Steps[:min(len(c.Steps), toldSteps)] {
		said = append(said, d.alike(ofTitle, &c.Steps[i], d.stepTitle)...)
	}
	text := strings.Join(said, d.say(titleThen))
	if len(c.Steps) > toldSteps {
		text = d.say(titleMore, text, len(c.Steps))
	}
	return text
}

// stepTitle is what a title says of a step.
func (d *document) stepTitle(s *suite.Step) []string {
	event := d.name(s.Event.Name)
	if s.Variant != "" {
		event += " [" + d.text(s.Variant) + "]"
	}
	if s.Moved() {
		return []string{d.say(titleStep, event, d.name(s.From.Name), d.name(s.To.Name))}
	}
	return []string{d.say(titleStays, event, d.name(s.From.Name), string(s.Outcome))}
}

// keyEscapes are for the characters that end or separate labels and tags in one
// tool or another.
var keyEscapes = strings.NewReplacer(" ", "%20", ";", "%3B", ",", "%2C", "@", "%40", "#", "%23", "\u3000", "%E3%80%80", "\u00a0", "%C2%A0")

// key is a case's ID as one word that labels, tags and titles hold: without
// what separates labels, and cut, with a part of its hash in place of the rest,
// when it is long. It stays the same as long as the ID does.
func key(id string) string {
	k := keyEscapes.Replace(id)
	if utf8.RuneCountInString(k) <= longestKey {
		return k
	}
	hash := sha256.Sum256([]byte(id))
	short := "~" + hex.EncodeToString(hash[:8])
	return string([]rune(k)[:longestKey-len(short)]) + short
}

// cut shortens a text to so many characters.
func cut(text string, longest int) string {
	if utf8.RuneCountInString(text) <= longest {
		return text
	}
	return string([]rune(text)[:longest-1]) + "…"
}

// oneLine puts a text of several lines on one, its words a blank apart.
func oneLine(text string) string {
	if !strings.ContainsFunc(text, unicode.IsSpace) {
		return text // as most names are
	}
	return strings.Join(strings.Fields(text), " ")
}

// labels are the words by which a tool's cases are filtered: the machine, the
// suite and the case's key.
func (d *document) labels(c *suite.Case) []string {
	return []string{"pawl", d.suite.Machine.Name, d.suite.Name, key(c.ID)}
}

// priority is how much it costs when the case fails.
type priority int

const (
	// low is a call that is refused or does nothing, as nobody should make it.
	low priority = iota
	normal
	// high is a case of a callback, a compensation or two sessions at once: where
	// money is lost, and nobody looks.
	high
)

// priorityOf is that of a case's most important step.
func priorityOf(c *suite.Case) priority {
	p := low
	for i := range c.Steps {
		s := &c.Steps[i]
		switch {
		case s.Event.Callback, s.Outcome == suite.Compensated, s.Second, s.Outcome == suite.Mismatched:
			return high
		case s.Moved(), s.Outcome == suite.GuardFailed, s.Outcome == suite.Stale, s.Repeat:
			p = normal
		}
	}
	if len(c.Steps) == 0 {
		return normal // the creation of a row
	}
	return p
}

// in chooses a tool's word for the priority.
func (p priority) in(words [3]string) string { return words[p] }

// numbered is a file's name, with a number behind all but the first.
func numbered(base, ext string, n int) string {
	if n == 0 {
		return base + ext
	}
	return fmt.Sprintf("%s-%d%s", base, n+1, ext)
}
