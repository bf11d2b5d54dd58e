package gensql

import (
	"fmt"
	"slices"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// changeColumns lists the steps for columns that came, went or changed, as far
// as they are in force. Checks that go are dropped first and those that come
// are added last, since a check may name any column; the way back is the same
// in reverse.
func (s *Schema) changeColumns(prev Schema, m *model.Machine, refuse func(diag.Position, string, ...any), problems *diag.List) []step {
	var looked, dropped, steps, added []step
	checked := func(was, is Column) {
		switch {
		case was.Check == is.Check:
			return
		case was.Check != "":
			dropped = append(dropped, step{s.dropCheck(was), s.addCheck(was)})
		}
		if is.Check != "" {
			added = append(added, step{s.addCheck(is), s.dropCheck(is)})
		}
	}
	for _, is := range s.Columns {
		pos := m.Table.Column(is.Name).Pos
		was, left := find(prev.Columns, is.Name), find(prev.Left, is.Name)
		switch {
		case was != nil:
			s.mayChange(*was, is, pos, problems)
			was = ptr(prev.inForce(*was))
		case left != nil:
			was = ptr(prev.leftInForce(*left))
		}
		valueless := !is.Optional && is.Default == "" && (was == nil || was.Optional || left != nil)
		switch {
		case s.Existing && was == nil: // its constraints are of a migration of their own
			looked, steps = append(looked, s.laterFits(s.inForce(is))), append(steps, s.laterColumn(is))
			continue
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
			steps = append(steps, s.alterColumn(*was, s.inForce(is), pos, refuse)...)
		}
		checked(*was, s.inForce(is))
	}
	for _, is := range s.Left {
		if was := find(prev.Columns, is.Name); was != nil {
			now := prev.inForce(*was)
			checked(now, Column{Name: is.Name})
			steps = append(steps, s.leaveColumn(now, s.leftInForce(is)))
		} else if was := find(prev.Left, is.Name); was != nil {
			steps = append(steps, s.alterColumn(prev.leftInForce(*was), s.leftInForce(is), diag.Position{}, refuse)...)
		}
	}
	for _, was := range s.givenBack(prev) {
		checked(prev.inForce(was), Column{Name: was.Name})
		steps = append(steps, step{up: []string{fmt.Sprintf("-- The column %s is no longer declared; it stays as it is, without a check of the machine's.", ident(was.Name))}})
	}
	if len(looked) > 0 {
		looked = append(looked, step{up: []string{"SET LOCAL lock_timeout = '1s';"}})
	}
	return slices.Concat(looked, dropped, steps, added, s.changeFill(prev))
}

// givenBack lists the columns of a table that was there before which are no
// longer declared: their defaults and NOT NULL may be the user's.
func (s *Schema) givenBack(prev Schema) []Column {
	if !s.Existing {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(prev.Columns), func(was Column) bool {
		return find(s.Columns, was.Name) != nil || find(s.Left, was.Name) != nil
	})
}

// mayChange tells when a column that is or is not required any more is at odds
// with the programs of before.
func (s *Schema) mayChange(was, is Column, pos diag.Position, problems *diag.List) {
	switch {
	case was.Optional && !is.Optional && was.Default == "" && is.Default != "":
		problems.Addf(pos, CodeRequired, diag.Error,
			"programs of before create rows without %q, which had no default: give it one and leave it optional for now, make it required later", is.Name)
	case !was.Optional && is.Optional:
		problems.Addf(pos, CodeReadEmpty, diag.Warning,
			"programs of before cannot read a row whose %q is empty; write none before they are gone", is.Name)
	}
}

func ptr(c Column) *Column { return &c }

func (s *Schema) addColumn(c Column) step {
	alter := "ALTER TABLE " + ident(s.Table)
	return step{
		[]string{fmt.Sprintf("%s ADD COLUMN %s;", alter, c.declare())},
		[]string{fmt.Sprintf("%s DROP COLUMN %s;", alter, ident(c.Name))},
	}
}

// leaveColumn keeps a column that is no longer declared, with its values. For
// programs of before, which cannot read an empty one, new rows get a value.
func (s *Schema) leaveColumn(was, is Column) step {
	st := step{up: []string{fmt.Sprintf("-- The column %s is no longer declared; it stays, with its values.", ident(is.Name))}}
	alter := fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s ", ident(s.Table), ident(is.Name))
	if was.Default != is.Default {
		st.up, st.down = append(st.up, alter+setDefault(is)), append(st.down, alter+setDefault(was))
	}
	if !was.Optional && is.Optional {
		st.up, st.down = append(st.up, alter+"DROP NOT NULL;"), append(st.down, alter+"SET NOT NULL;")
	}
	return st
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
			lock := fmt.Sprintf("LOCK TABLE %s IN ACCESS EXCLUSIVE MODE;", ident(s.Table)) // a lock that grows later can deadlock with the traffic
			up = append([]string{lock, fmt.Sprintf("UPDATE %s SET %s = %s WHERE %[2]s IS NULL;", ident(s.Table), ident(is.Name), is.Default)}, up...)
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
	return []string{fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s);", ident(s.Table), s.called().ColumnCheck(c.Name), c.Check)}
}

func (s *Schema) dropCheck(c Column) []string {
	return []string{fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s;", ident(s.Table), s.called().ColumnCheck(c.Name))}
}

// fill replaces an empty value of a column that has become required by its
// default, for programs of before that may still write one. There is none when
// no column needs it.
func (s Schema) fill() step {
	columns := s.pending().Filled
	if len(columns) == 0 {
		return step{}
	}
	name := s.called().Fill()
	up := []string{fmt.Sprintf("CREATE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$", name), "BEGIN"}
	for _, name := range columns {
		up = append(up, fmt.Sprintf("  IF NEW.%s IS NULL THEN NEW.%[1]s := %s; END IF;", ident(name), find(s.Columns, name).Default))
	}
	return step{
		[]string{
			dollarQuoted(lines(append(up, "  RETURN NEW;", "END $$;")...)),
			fmt.Sprintf("CREATE TRIGGER %s BEFORE INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION %[1]s();", name, ident(s.Table)),
		},
		[]string{
			fmt.Sprintf("DROP TRIGGER %s ON %s;", name, ident(s.Table)),
			fmt.Sprintf("DROP FUNCTION %s();", name),
		},
	}
}

func (s *Schema) changeFill(prev Schema) []step {
	was, is := prev.fill(), s.fill()
	if slices.Equal(was.up, is.up) {
		return nil
	}
	return []step{replaced(was, is)}
}
