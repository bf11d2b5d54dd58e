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
		Initial: []string{"NEW", "AJAR"}, Former: [][2]string{{"HALF", "AJAR"}}, Identities: []string{"halve", "close"}, Due: []string{"SHUT"},
		Edges: [][2]string{{"NEW", "AJAR"}, {"NEW", "SHUT"}, {"AJAR", "SHUT"}},
	}, past)
	past.States[0].Pending, past.Due = false, nil
	require.Equal(t, past, PastOf([]Schema{first, second, third}))
	require.Equal(t, []string{"NEW", "HALF", "SHUT"}, first.States, "what was made is not touched")
}

// A former name leads to the name of today, however often that has changed, and
// may be used again in between.
func TestFormerNames(t *testing.T) {
	t.Parallel()
	step := func(renames ...Rename) Schema {
		return Schema{Machine: "gate", States: []string{"X"}, Initial: "X", Edges: []Edge{}, Renames: renames}
	}
	for _, c := range []struct {
		name string
		made []Schema
		want [][2]string
	}{
		{"none", []Schema{step()}, nil},
		{"under way and through", []Schema{step(Rename{"A", "B", RenameExpand}), step(Rename{"A", "B", RenameMigrate}), step()}, [][2]string{{"A", "B"}}},
		{"twice", []Schema{step(Rename{"A", "B", RenameMigrate}), step(), step(Rename{"B", "C", RenameExpand})}, [][2]string{{"A", "C"}, {"B", "C"}}},
		{"and back", []Schema{step(Rename{"A", "B", RenameMigrate}), step(Rename{"B", "A", RenameMigrate})}, [][2]string{{"B", "A"}}},
		{"a name of two states", []Schema{step(Rename{"A", "B", RenameMigrate}), step(), step(Rename{"A", "C", RenameMigrate})}, [][2]string{{"A", "B"}, {"A", "C"}}},
	} {
		require.Equal(t, c.want, PastOf(c.made).Former, c.name)
	}
}
