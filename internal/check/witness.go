package check

import (
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/logic"
	"github.com/pawl-go/pawl/internal/model"
)

// example shows the values of a witness that the guards look at. The state says
// what the status is, unless it has two names.
func (j *judge) example(g *group, witness []logic.Value) string {
	var values []string
	for _, v := range witness {
		used := slices.ContainsFunc(g.exprs(), func(e *model.Expr) bool {
			return slices.ContainsFunc(e.Parts, func(p model.Part) bool {
				switch p.Kind {
				case model.ColumnRef:
					return p.Text == v.Name && !v.Param
				case model.ParamRef:
					return p.Text == v.Name && v.Param
				}
				return p.Kind == model.Now && v.Name == "now()"
			})
		})
		if used && (v.Param || v.Name != j.machine.Table.Status.Column || len(g.status) > 1) {
			values = append(values, v.String())
		}
	}
	if len(values) == 0 {
		return "any row"
	}
	return strings.Join(values, ", ")
}
