package gensql

import (
	"fmt"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// Probe is one fragment of a definition as a statement of its own, so that
// what an SQL analyser says of it can be told at its place.
type Probe struct {
	Pos diag.Position
	SQL string
}

// Probes returns one for each guard, set, check and default of the machine, in
// the order of the definition's sections. None for a machine without table.
func Probes(m *model.Machine) []Probe {
	if m.Table == nil {
		return nil
	}
	var probes []Probe
	table := ident(m.Table.Name)
	condition := func(e *model.Expr) {
		if e != nil {
			probes = append(probes, Probe{e.Pos, fmt.Sprintf("SELECT o.%s FROM %s AS o WHERE (%s)", ident(m.Table.Version), table, args{}.inQuery(e, "o"))})
		}
	}
	value := func(column string, e *model.Expr) {
		if e != nil {
			probes = append(probes, Probe{e.Pos, fmt.Sprintf("UPDATE %s AS o SET %s = (%s)", table, ident(column), args{}.inQuery(e, "o"))})
		}
	}
	for _, c := range m.Table.Columns {
		value(c.Name, c.Default)
		condition(c.Check)
	}
	for _, e := range m.Events {
		for _, p := range e.Params {
			condition(p.Check)
		}
	}
	for _, t := range m.Transitions {
		if t.Guard != nil {
			condition(t.Guard.SQL)
		}
		for _, a := range t.Set {
			value(a.Column.Name, a.Value)
		}
	}
	return probes
}
