package studio

import (
	"strconv"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/simulate"
)

// formView asks for the values of a step.
type formView struct {
	Do, ID string
	Fields []fieldView
	// Version asks for the expected version, with Expected in it.
	Version  bool
	Expected string
}

type fieldView struct {
	Name, ID, Label, Type, Describe, Value string
	Optional                               bool
	Numeric                                bool
}

func field(id, name string, t model.Type, describe, value string, optional bool) fieldView {
	f := fieldView{Name: fieldMust + name, ID: id + "-" + name, Label: name, Type: t.SQL, Describe: describe, Value: value, Optional: optional}
	if optional {
		f.Name = fieldMay + name
	}
	switch t.Kind {
	case model.KindInt16, model.KindInt32, model.KindInt64:
		f.Numeric = true
	}
	return f
}

func (l *life) callForm(e *model.Event, s simulate.Step) *formView {
	f := &formView{Do: doCall + e.Name, ID: "call-" + strconv.Itoa(e.Index), Version: l.machine.Model.Table != nil}
	for _, p := range e.Params {
		value, _ := s.Arg(p.Name)
		f.Fields = append(f.Fields, field(f.ID, p.Name, p.Type, p.Describe, value, p.Optional))
	}
	if s.Version > 0 {
		f.Expected = strconv.FormatInt(s.Version, 10)
	}
	return f
}

// createForm asks for a new row; nil where a creation needs nothing.
func (l *life) createForm() *formView {
	f := &formView{Do: doCreate, ID: "create"}
	example := l.machine.played().Created()
	for _, s := range l.script.Steps {
		if s.Kind == simulate.Create {
			example = s
			break
		}
	}
	for _, c := range l.machine.Model.Created() {
		value, _ := example.Arg(c.Name)
		f.Fields = append(f.Fields, field(f.ID, c.Name, c.Type, c.Describe, value, c.Optional || c.Default != nil))
	}
	return f
}
