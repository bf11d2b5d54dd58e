package check

import (
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/logic"
	"github.com/pawl-go/pawl/internal/model"
)

// variables are the names that a guard of the event may use; without an event
// those of the row alone.
func (c *checker) variables(event *model.Event) []logic.Var {
	t := c.machine.Table
	vars := []logic.Var{{Name: t.Version, Kind: logic.Int, Bits: 64}}
	// The labels of an enum are equal where their texts are, and its order
	// against a literal is no more known than that of texts.
	status := logic.Var{Name: t.Status.Column, Kind: logic.Text}
	if t.Status.Storage == model.StoredCode {
		status.Kind, status.Bits = logic.Int, bits[t.Status.Type]
	}
	vars = append(vars, status)
	for _, column := range slices.Concat(t.Keys, t.Columns) {
		vars = append(vars, variable(column.Name, column.Type, column.Optional))
	}
	if event == nil {
		return vars
	}
	for _, p := range event.Params {
		vars = append(vars, argument(event, p))
	}
	return vars
}

var bits = map[string]int{"smallint": 16, "integer": 32, "bigint": 64}

// argument is a parameter as a guard sees it. It is bound as its bare type, so
// that only a column cuts or rounds it; NaN and infinities are refused before
// any SQL, as is what does not fit an identity.
func argument(event *model.Event, p *model.Param) logic.Var {
	v := variable(p.Name, p.Type, p.Optional)
	v.Param, v.Finite = true, true
	v.Precision, v.Scale, v.Length = 0, 0, 0
	if v.Kind == logic.Text && identifies(event, p) {
		v.Length = maxIdentity
	}
	return v
}

// maxIdentity is fsm.MaxIdentity: a text of so many bytes has no more characters.
const maxIdentity = 1024

// identifies reports whether a parameter is one of a fact, and so never empty.
func identifies(event *model.Event, p *model.Param) bool {
	return slices.Contains(event.Identity, p) || slices.Contains(event.Fingerprint, p)
}

func variable(name string, t model.Type, optional bool) logic.Var {
	v := logic.Var{Name: name, Optional: optional}
	switch t.Kind {
	case model.KindText:
		v.Kind, v.Length = logic.Text, t.Length
	case model.KindUUID:
		v.Kind = logic.UUID
	case model.KindInt16:
		v.Kind, v.Bits = logic.Int, 16
	case model.KindInt32:
		v.Kind, v.Bits = logic.Int, 32
	case model.KindInt64:
		v.Kind, v.Bits = logic.Int, 64
	case model.KindBool:
		v.Kind = logic.Bool
	case model.KindNumeric:
		v.Kind, v.Precision, v.Scale = logic.Decimal, t.Precision, t.Scale
	case model.KindFloat64:
		v.Kind = logic.Float
	case model.KindTime:
		v.Kind = logic.Time
	case model.KindDate:
		v.Kind = logic.Date
	default:
		v.Kind = logic.Other
	}
	return v
}

// assumptions are the checks that every row and every call has passed.
func (c *checker) assumptions(event *model.Event) []string {
	// The name may be a word of SQL.
	assume := []string{`"` + c.machine.Table.Version + `" > 0`}
	for _, column := range c.machine.Table.Columns {
		if column.Check != nil {
			assume = append(assume, column.Check.Source)
		}
	}
	for _, p := range event.Params {
		if p.Check != nil {
			assume = append(assume, p.Check.Source)
		}
		if p.Type.Kind == model.KindText && p.Type.SQL != "" && identifies(event, p) {
			assume = append(assume, "@"+p.Name+" <> ''")
		}
	}
	return assume
}

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
