package linear

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Result says what is known of a history.
type Result string

// The results.
const (
	// Accepted: there is an order of the calls that gives all answers.
	Accepted Result = "accepted"
	// Refused: there is none.
	Refused Result = "refused"
	// Unknown: the search took too long. That is no acceptance.
	Unknown Result = "unknown"
)

// Verdict says what became of a history.
type Verdict struct {
	Machine string
	// Operations counts calls and looks at rows, Rows the rows, and Parts those that
	// were checked by themselves: rows of which one fact was told are one.
	Operations, Rows, Parts int
	// Doubtful counts calls of which nobody knows whether they had an effect, and
	// Either those for which more than one branch was allowed, since a guard or a
	// check hangs on what is not known.
	Doubtful, Either int
	// Strangers counts what was seen of rows of which the history has neither a call nor
	// a beginning, and Torn the files whose last line was cut off.
	Strangers, Torn int
	// Undecided and Refused are the first rows of parts for which no order was found in
	// time, and for which there is none.
	Undecided, Refused []string
	// Refusal explains the smallest part that was refused; nil when none was.
	Refusal *Refusal

	refused []*result
}

func (v *Verdict) add(r result) {
	v.Parts++
	v.Rows += len(r.part.keys)
	for _, op := range r.part.ops {
		if op.unknown() {
			v.Doubtful++
		}
		if op.either.Load() {
			v.Either++
		}
	}
	switch r.result {
	case Refused:
		v.Refused = append(v.Refused, r.part.keys[0])
		v.refused = append(v.refused, &r)
	case Unknown:
		v.Undecided = append(v.Undecided, r.part.keys[0])
	}
}

// Result is that of the whole: refused when a part is, else unknown when one is.
func (v *Verdict) Result() Result {
	switch {
	case len(v.Refused) > 0:
		return Refused
	case len(v.Undecided) > 0:
		return Unknown
	}
	return Accepted
}

// Findings are the refusal, if there is one, and a line for each part that was not
// decided; empty for an accepted history.
func (v *Verdict) Findings() string {
	var b strings.Builder
	if v.Refusal != nil {
		b.WriteString(v.Refusal.String())
	}
	for _, key := range v.Undecided {
		fmt.Fprintf(&b, "%s %s: unknown: no order was found in time, and none ruled out\n", v.Machine, key)
	}
	return b.String()
}

// Summary is a line about the whole. A part is a row, or rows with a fact in common.
func (v *Verdict) Summary() string {
	text := fmt.Sprintf("%s: %s: %s of %s", v.Machine, v.Result(), count(v.Operations, "call"), count(v.Rows, "row"))
	for _, note := range []struct {
		n          int
		what, says string
	}{
		{len(v.Refused), "part", " refused"},
		{len(v.Undecided), "part", " undecided"},
		{v.Doubtful, "call", " of unknown outcome"},
		{v.Either, "call", " with a guard or check that was not known, so that either branch was allowed"},
		{v.Strangers, "look", " at rows that the history does not know"},
		{v.Torn, "file", " cut off at the end"},
	} {
		if note.n > 0 {
			text += "; " + count(note.n, note.what) + note.says
		}
	}
	return text
}

// MarshalJSON is the verdict as an object.
func (v *Verdict) MarshalJSON() ([]byte, error) {
	d := struct {
		Machine    string   `json:"machine"`
		Result     Result   `json:"result"`
		Operations int      `json:"operations"`
		Rows       int      `json:"rows"`
		Doubtful   int      `json:"doubtful"`
		Either     int      `json:"either"`
		Strangers  int      `json:"strangers"`
		Torn       int      `json:"torn"`
		Refused    []string `json:"refused"`
		Undecided  []string `json:"undecided"`
		Refusal    string   `json:"refusal,omitempty"`
	}{v.Machine, v.Result(), v.Operations, v.Rows, v.Doubtful, v.Either, v.Strangers, v.Torn, notNil(v.Refused), notNil(v.Undecided), ""}
	if v.Refusal != nil {
		d.Refusal = v.Refusal.String()
	}
	return json.Marshal(d)
}

func notNil(keys []string) []string {
	if keys == nil {
		return []string{}
	}
	return keys
}

// count is a number with its word.
func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
