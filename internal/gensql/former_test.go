package gensql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// A former name of a state that was there before is one that a migration had.
func TestAFormerNameIsOneOfThePast(t *testing.T) {
	t.Parallel()
	made := func(states []string, renames ...Rename) Schema {
		return Schema{Machine: "bill", States: states, Initial: states[0], Renames: renames}
	}
	first := made([]string{"OPEN", "PAID", "LOST"})
	expand := made([]string{"OPEN", "SETTLED"}, Rename{"PAID", "SETTLED", RenameExpand})
	through := made([]string{"OPEN", "SETTLED"})
	pending := made([]string{"OPEN", "SETTLED"})
	pending.Pending = &Pending{States: []string{"HELD"}}
	const misspelt = `no migration of "bill" ever had a state "PAYD"; did you mean "PAID"?`
	for _, c := range []struct {
		name, was string
		made      []Schema
		want      []string
	}{
		{"no migration", "PAYD", nil, nil},
		{"new, which the migration tells", "PAYD", []Schema{first}, nil},
		{"under way, which the migration tells", "PAYD", []Schema{first, expand}, nil},
		{"through", "PAID", []Schema{first, expand, through}, nil},
		{"through, and misspelt", "PAYD", []Schema{first, expand, through}, []string{misspelt}},
		{"a name that the renames alone tell", "PAID", []Schema{expand, through}, nil},
		{"another state of the past", "LOST", []Schema{first, expand, through}, nil},
		{"a state that programs of before still use", "HELD", []Schema{pending}, nil},
		{"none at all", "PAID", []Schema{through}, []string{`no migration of "bill" ever had a state "PAID"; delete was if the state had no other name`}},
		{"nothing said", "", []Schema{first, expand, through}, nil},
	} {
		m := &model.Machine{Name: "bill", States: []*model.State{
			{Name: "OPEN", Initial: true},
			{Name: "SETTLED", Was: c.was, WasPos: diag.Position{File: "bill.yaml", Line: 7, Col: 3}},
		}}
		var problems diag.List
		FormerNames(m, c.made, &problems)
		var told []string
		for _, p := range problems.Sorted() {
			require.Equal(t, CodeWasUnknown, p.Code, c.name)
			require.Equal(t, diag.Position{File: "bill.yaml", Line: 7, Col: 3}, p.Pos, c.name)
			told = append(told, p.Message)
		}
		require.Equal(t, c.want, told, c.name)
	}
}
