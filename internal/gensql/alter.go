package gensql

import (
	"fmt"
	"slices"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// changeColumns lists the steps for columns that came, went or changed. Checks
// that go are dropped first and those that come are added last, since a check
// may name any column; the way back is the same in reverse.
func (s *Schema) changeColumns(prev Schema, m *model.Machine, refuse func(diag.Position, string, ...any)) []step {
	var dropped, steps, added []step
	for _, is := range s.Columns {
		pos := m.Table.Column(is.Name).Pos
		was := find(prev.Columns, is.Name)
		if left := find(prev.Left, is.Name); was == nil && left != nil {
			was = &Column{Name: left.Name, Type: left.Type, Default: left.Default, Optional: true} // as it was left
		}
		valueless := !is.Optional && is.Default == "" && (was == nil || was.Optional)
		switch {
		case valueless && was == nil:
			refuse(pos, "the new column %q has no value for the rows there are: make it optional or give it a default", is.Name)
			continue
		case valueless:
			refuse(pos, "the column %q may be empty in the rows there are: leave it optional or give it a default", is.Name)
			continue
		case was == nil:
			steps = append(steps, s.addColumn(is))
			was = &Column{}
		default:
			steps = append(steps, s.alterColumn(*was, is, pos, refuse)...)
		}
		if was.Check == is.Check {
			continue
		}
		if was.Check != "" {
			dropped = append(dropped, step{s.dropCheck(*was), s.addCheck(*was)})
		}
		if is.Check != "" {
			added = append(added, step{s.addCheck(is), s.dropCheck(is)})
		}
	}
	for _, was := range prev.Columns {
		if find(s.Columns, was.Name) != nil {
			continue
		}
		if was.Check != "" {
			dropped = append(dropped, step{s.dropCheck(was), s.addCheck(was)})
		}
		steps = append(steps, s.leaveColumn(was))
	}
	return slices.Concat(dropped, steps, added)
}

func (s *Schema) addColumn(c Column) step {
	alter := "ALTER TABLE " + ident(s.Table)
	return step{
		[]string{fmt.Sprintf("%s ADD COLUMN %s;", alter, c.declare())},
		[]string{fmt.Sprintf("%s DROP COLUMN %s;", alter, ident(c.Name))},
	}
}

// leaveColumn keeps a column that is no longer declared, with its values, and
// lets it be empty in new rows.
func (s *Schema) leaveColumn(c Column) step {
	note := fmt.Sprintf("-- The column %s is no longer declared; it stays, with its values.", ident(c.Name))
	if c.Optional {
		return step{up: []string{note}}
	}
	alter := fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s ", ident(s.Table), ident(c.Name))
	return step{[]string{note, alter + "DROP NOT NULL;"}, []string{alter + "SET NOT NULL;"}}
}

// widens lists the changes of type that keep every value and, on the way back,
// fail rather than lose one.
var widens = [][2]string{
	{"smallint", "integer"}, {"smallint", "bigint"}, {"integer", "bigint"},
}

func widening(was, is string) bool {
	for _, w := range widens {
		if w == [2]string{was, is} {
			return true
		}
	}
	return false
}

func (s *Schema) alterColumn(was, is Column, pos diag.Position, refuse func(diag.Position, string, ...any)) []step {
	var steps []step
	alter := fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s ", ident(s.Table), ident(is.Name))
	if was.Type != is.Type {
		if !widening(was.Type, is.Type) {
			refuse(pos, "the column %q was %s before", is.Name, was.Type)
			return nil
		}
		steps = append(steps, step{[]string{alter + "TYPE " + is.Type + ";"}, []string{alter + "TYPE " + was.Type + ";"}})
	}
	if was.Default != is.Default {
		steps = append(steps, step{[]string{alter + setDefault(is)}, []string{alter + setDefault(was)}})
	}
	if was.Optional && !is.Optional {
		up := []string{alter + "SET NOT NULL;"}
		if is.Default != "" {
			up = append([]string{fmt.Sprintf("UPDATE %s SET %s = %s WHERE %[2]s IS NULL;", ident(s.Table), ident(is.Name), is.Default)}, up...)
		}
		steps = append(steps, step{up, []string{alter + "DROP NOT NULL;"}})
	}
	if !was.Optional && is.Optional {
		steps = append(steps, step{[]string{alter + "DROP NOT NULL;"}, []string{alter + "SET NOT NULL;"}})
	}
	return steps
}

func setDefault(c Column) string {
	if c.Default == "" {
		return "DROP DEFAULT;"
	}
	return "SET DEFAULT " + c.Default + ";"
}

func (s *Schema) addCheck(c Column) []string {
	return []string{fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s);", ident(s.Table), s.checkName(c), c.Check)}
}

func (s *Schema) dropCheck(c Column) []string {
	return []string{fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s;", ident(s.Table), s.checkName(c))}
}
