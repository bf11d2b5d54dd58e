// Package example finds values of a row and of parameters for which the guards
// of a machine are true, or are not, in words that package logic understands and
// in values that people like to read.
//
// What a condition may speak of, and what is known of every row and every call
// before a guard is looked at, is said here once, for whoever asks package logic
// about guards. What an example is good for is the caller's business.
package example

import (
	"slices"

	"github.com/pawl-go/pawl/internal/logic"
	"github.com/pawl-go/pawl/internal/model"
)

// Variables are the names that a guard of the event may use; without an event
// those of the row alone.
func Variables(t *model.Table, event *model.Event) []logic.Var {
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
		v.Length = model.MaxIdentity // bytes: no more characters
	}
	return v
}

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

// Assumptions are the checks that every row and every call of the event has
// passed before a guard is looked at, as SQL; never empty.
func Assumptions(t *model.Table, event *model.Event) []string {
	// The name may be a word of SQL.
	assume := []string{`"` + t.Version + `" > 0`}
	for _, column := range t.Columns {
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
