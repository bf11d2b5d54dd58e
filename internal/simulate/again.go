package simulate

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// Again is the call of a step that left a fact, once more: as it was, and with
// another fingerprint.
type Again struct {
	Same Step
	// Other is nil where the fingerprint has no value that can be another one, or
	// the event has none.
	Other *Step
	// Param is the parameter that Other changes, and Value its value there.
	Param *model.Param
	Value string
}

// Again returns the calls that tell a step's fact again, nil for a step that has
// left none.
func (t *Tape) Again(told *Told) *Again {
	if told.Fact == nil {
		return nil
	}
	same := told.Step
	if same.Version != 0 {
		same.Version = told.Version // what a caller sends who asks again
	}
	a := &Again{Same: same}
	for _, p := range told.Event.Fingerprint {
		text, _ := same.Arg(p.Name)
		for _, other := range others(p.Type, text) {
			s := same
			s.Args = slices.Clone(same.Args)
			i := slices.IndexFunc(s.Args, func(a Arg) bool { return a.Name == p.Name })
			if i < 0 {
				continue
			}
			s.Args[i].Text = other
			if answer := t.Then(s); answer.Outcome == oracle.Mismatched {
				a.Other, a.Param, a.Value = &s, p, other
				return a
			}
		}
	}
	return a
}

// others are values of a type that are not the one given, the likeliest first.
func others(t model.Type, text string) []string {
	switch t.Kind {
	case model.KindBool:
		return []string{"true", "false"}
	case model.KindInt16, model.KindInt32, model.KindInt64:
		n, ok := new(big.Int).SetString(strings.TrimSpace(text), 10)
		if !ok {
			return nil
		}
		var out []string
		for _, by := range []int64{1, -1} {
			out = append(out, new(big.Int).Add(n, big.NewInt(by)).String())
		}
		return out
	case model.KindUUID:
		return []string{"00000000-0000-4000-8000-000000000009", "00000000-0000-4000-8000-000000000008"}
	}
	var out []string
	for n := 2; n <= 3; n++ {
		out = append(out, text+"-"+strconv.Itoa(n))
	}
	return append(out, "x")
}
