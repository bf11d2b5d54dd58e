package oracle

import (
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-go/pawl/internal/model"
)

// TextFault is what keeps a text from being part of an identity or a fingerprint.
type TextFault string

// Faults of texts.
const (
	Empty   TextFault = "empty"
	Long    TextFault = "long"
	Control TextFault = "control"
)

// Unfit says, as the runtime does before any SQL, which text of a call's keeps it from
// being a fact: one that is empty, too long, also together with others of the identity,
// or has a control character. The parameter is nil where nothing does; values that
// are no texts always fit.
func Unfit(e *model.Event, params Values) (*model.Param, TextFault) {
	whole := 0
	for i, p := range slices.Concat(e.Identity, e.Fingerprint) {
		text, is := params[p.Name].(string)
		if !is {
			continue
		}
		if i < len(e.Identity) {
			whole += len(text)
		}
		switch {
		case text == "":
			return p, Empty
		case len(text) > model.MaxIdentity || whole > model.MaxIdentity:
			return p, Long
		case strings.ContainsFunc(text, unicode.IsControl):
			return p, Control
		}
	}
	return nil, ""
}
