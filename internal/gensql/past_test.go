package gensql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/model"
)

// The past is told by the names of today, and what was pending once was legal
// once.
func TestThePastIsToldByTheNamesOfToday(t *testing.T) {
	t.Parallel()
	require.Equal(t, model.Past{}, PastOf(nil))
	first := Schema{
		Machine: "gate", Status: &Status{Type: "smallint", Codes: []int{1, 2, 3}},
		States: []string{"NEW", "HALF", "SHUT"}, Initial: "NEW", Edges: []Edge{{"NEW", []string{"HALF", "SHUT"}}},
		Identities: []Identity{{Event: "halve"}},
	}
	second := first // HALF is called AJAR, NEW is gone and still accepted
	second.Status = &Status{Type: "smallint", Codes: []int{2, 3}}
	second.States, second.Initial, second.Identities = []string{"AJAR", "SHUT"}, "AJAR", []Identity{{Event: "close"}}
	second.Edges = []Edge{{"AJAR", []string{"SHUT"}}}
	second.Renames = []Rename{{"HALF", "AJAR", RenameExpand}}
	second.Pending = &Pending{States: []string{"NEW"}, Codes: []int{1}, Initial: []string{"NEW"}, Edges: []Edge{{"NEW", []string{"AJAR", "SHUT"}}}, Due: []string{"SHUT"}}
	third := second
	third.Renames, third.Pending = nil, nil

	past := PastOf([]Schema{first, second})
	require.Equal(t, model.Past{
		States:  []model.PastState{{Name: "NEW", Code: 1, Pending: true}},
		Initial: []string{"NEW", "AJAR"}, Identities: []string{"halve", "close"}, Due: []string{"SHUT"},
		Edges: [][2]string{{"NEW", "AJAR"}, {"NEW", "SHUT"}, {"AJAR", "SHUT"}},
	}, past)
	past.States[0].Pending, past.Due = false, nil
	require.Equal(t, past, PastOf([]Schema{first, second, third}))
	require.Equal(t, []string{"NEW", "HALF", "SHUT"}, first.States, "what was made is not touched")
}
