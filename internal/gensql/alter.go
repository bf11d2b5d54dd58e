package gensql

import (
	"fmt"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// changeColumns lists the steps for columns that came, went or changed.
func (s *Schema) changeColumns(prev Schema, m *model.Machine, refuse func(diag.Position, string, ...any)) []step {
	var steps []step
	for _, is := range s.Columns {
		pos := m.Table.Column(is.Name).Pos
		was, left := find(prev.Columns, is.Name), find(prev.Left, is.Name)
		switch {
		case was == nil && left == nil:
			if !is.Optional && is.Default == "" {
				refuse(pos, "the new column %q has no value for the rows there are: make it optional or give it a default", is.Name)
				continue
			}
			steps = append(steps, s.addColumn(is))
		case was == nil:
			old := *left
			old.Optional, old.Check = true, "" // as it was left
			steps = append(steps, s.alterColumn(old, is, pos, refuse)...)
		default:
			steps = append(steps, s.alterColumn(*was, is, pos, refuse)...)
		}
	}
	for _, was := range prev.Columns {
		if find(s.Columns, was.Name) == nil {
			steps = append(steps, s.leaveColumn(was)...)
		}
	}
	return steps
}

func (s *Schema) addColumn(c Column) step {
	alter := "ALTER TABLE " + ident(s.Table)
	up := []string{fmt.Sprintf("%s ADD COLUMN %s;", alter, c.declare())}
	if c.Check != "" {
		up = append(up, s.addCheck(c)...)
	}
	return step{up, []string{fmt.Sprintf("%s DROP COLUMN %s;", alter, ident(c.Name))}}
}

// leaveColumn keeps a column that is no longer declared, with its values, and
// lets it be empty in new rows.
func (s *Schema) leaveColumn(c Column) []step {
	var steps []step
	if c.Check != "" {
		steps = append(steps, step{s.dropCheck(c), s.addCheck(c)})
	}
	if !c.Optional {
		alter := fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s ", ident(s.Table), ident(c.Name))
		steps = append(steps, step{[]string{alter + "DROP NOT NULL;"}, []string{alter + "SET NOT NULL;"}})
	}
	if len(steps) == 0 {
		note := fmt.Sprintf("-- The column %s is no longer declared; it stays, with its values.", ident(c.Name))
		steps = append(steps, step{[]string{note}, nil})
	}
	return steps
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
	if was.Check != is.Check {
		var up, down []string
		if was.Check != "" {
			up = append(up, s.dropCheck(was)...)
		}
		if is.Check != "" {
			up = append(up, s.addCheck(is)...)
			down = append(down, s.dropCheck(is)...)
		}
		if was.Check != "" {
			down = append(down, s.addCheck(was)...)
		}
		steps = append(steps, step{up, down})
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
	return []string{
		fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s) NOT VALID;", ident(s.Table), s.checkName(c), c.Check),
		fmt.Sprintf("ALTER TABLE %s VALIDATE CONSTRAINT %s;", ident(s.Table), s.checkName(c)),
	}
}

func (s *Schema) dropCheck(c Column) []string {
	return []string{fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s;", ident(s.Table), s.checkName(c))}
}
