package mutate

import "slices"

// wordOperators break the words that a statement writes and answers.
var wordOperators = []Operator{
	{Name: "outcome-other", Describe: "answers or records another outcome", sites: otherOutcome},
	{Name: "event-other", Describe: "puts another event of the machine in an event's place", sites: otherWord(func(w *words) []string { return w.events })},
	{Name: "topic-other", Describe: "puts another topic of the machine in a topic's place", sites: otherWord(func(w *words) []string { return w.topics })},
	{Name: "text-other", Describe: "misspells a word", sites: misspell},
}

// outcomes are the words of an answer, and raced, which is none: run it again.
var outcomes = []string{"Applied", "Replayed", "Ignored", "Compensated", "Rejected", "GuardFailed", "Stale", "Mismatched", "UnknownState", "raced"}

// otherOutcome takes the next outcome, and for raced, where the row that was
// read must not be believed, also an answer that believes it.
func otherOutcome(_ *place, n *node, add func(...edit)) {
	s, ok := n.constant()
	at := slices.Index(outcomes, s)
	if !ok || at < 0 {
		return
	}
	add(edit{n.lo, n.hi, quote(outcomes[(at+1)%len(outcomes)])})
	if s == "raced" {
		add(edit{n.lo, n.hi, quote("Replayed")})
		add(edit{n.lo, n.hi, quote("Ignored")})
	}
}

func otherWord(of func(*words) []string) func(*place, *node, func(...edit)) {
	return func(p *place, n *node, add func(...edit)) {
		list := of(p.words)
		s, ok := n.constant()
		if at := slices.Index(list, s); ok && at >= 0 {
			if other := list[(at+1)%len(list)]; other != s {
				add(edit{n.lo, n.hi, quote(other)})
			}
		}
	}
}

// misspell changes each constant that no other operator knows a better change for.
func misspell(p *place, n *node, add func(...edit)) {
	s, ok := n.constant()
	if !ok || n.parent != nil && n.parent.sqlc() || p.isInterval(n) || p.setting(n) {
		return
	}
	known := slices.Concat(p.words.states, outcomes, p.words.events)
	if len(p.words.topics) > 1 {
		known = append(known, p.words.topics...)
	}
	if !slices.Contains(known, s) {
		add(edit{n.lo, n.hi, quote(s + "x")})
	}
}

// setting reports whether a constant names a setting of the server.
func (p *place) setting(n *node) bool {
	return n.parent != nil && slices.Equal(n.parent.names("funcname"), []string{"current_setting"})
}

// words are the names of a machine that its texts are made of.
type words struct {
	states, events, topics []string
	// params are the parameters of the one statement, with their types.
	params []string
}
