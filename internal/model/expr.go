package model

import "github.com/pawl-go/pawl/internal/diag"

// Expr is a checked SQL expression, cut into parts so that a renderer can
// qualify columns, bind parameters and inject the clock without parsing SQL.
type Expr struct {
	// Source is the text as written in the definition.
	Source string
	Parts  []Part
	Pos    diag.Position
}

// PartKind tells the parts of an Expr apart.
type PartKind int

const (
	// Text is SQL to be copied as it is.
	Text PartKind = iota
	// ColumnRef is a column of the guarded row: Part.Column, or one of the
	// machine's own columns by Part.Text.
	ColumnRef
	// ParamRef is a parameter of the event: Part.Param.
	ParamRef
	// Now is the injected clock, written now().
	Now
)

// Part is one piece of an Expr.
type Part struct {
	Kind PartKind
	// Text is the SQL of a Text part, and the bare name of the others.
	Text  string
	Param *Param
}

// Params returns the parameters that the expression uses, in order of first use.
func (e *Expr) Params() []*Param {
	var params []*Param
	seen := func(p *Param) bool {
		for _, q := range params {
			if q == p {
				return true
			}
		}
		return false
	}
	for _, part := range e.Parts {
		if part.Kind == ParamRef && !seen(part.Param) {
			params = append(params, part.Param)
		}
	}
	return params
}
