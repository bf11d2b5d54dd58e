package gensvg

import "strings"

// Step is the step along an arrow that a row took last.
type Step struct{ From, To, Event string }

// Standing returns a picture of [Fragment] in which a row stands in a state: that
// state has the class here, the arrow of the step, which may be nil, the class took,
// and so has what is written on it of the step's event. The page gives the classes
// their looks. What the picture does not draw is passed over.
func Standing(fragment, here string, step *Step) string {
	const begin = `<g class="pawl-`
	var b strings.Builder
	along := false // within the arrow of the step
	for first := true; ; first = false {
		before, rest, found := strings.Cut(fragment, begin)
		if first {
			b.WriteString(before)
		} else {
			b.WriteString(begin + before)
		}
		if !found {
			return b.String()
		}
		tag, _, _ := strings.Cut(rest, ">")
		class, _, _ := strings.Cut(tag, `"`)
		has := func(name, value string) bool { return strings.Contains(tag, ` data-`+name+`="`+escape(value)+`"`) }
		more := ""
		switch kind, _, _ := strings.Cut(class, " "); {
		case kind == "state" && here != "" && has("state", here):
			more = " here"
		case kind == "edge":
			if along = step != nil && has("from", step.From) && has("to", step.To); along {
				more = " took"
			}
		case kind == "arc" && along && has("event", step.Event):
			more = " took"
		}
		fragment = class + more + rest[len(class):]
	}
}
