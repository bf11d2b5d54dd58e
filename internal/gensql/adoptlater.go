package gensql

import (
	"fmt"
	"slices"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// Migrations returns what [Migration] does and, where a table that was there
// before has columns that are declared only now, a second migration with what
// looks at all rows: that is no part of a transaction, whose locks would stay
// for as long.
func Migrations(m *model.Machine, prev *Schema, problems *diag.List) [][]byte {
	first := Migration(m, prev, problems)
	if first == nil {
		return nil
	}
	if prev == nil || !m.Table.Existing {
		return [][]byte{first}
	}
	next := SchemaOf(m)
	var unsaid diag.List // told by the first
	next.expand(*prev, m, &unsaid)
	steps := next.settle(next.later(*prev))
	if len(steps) == 0 {
		return [][]byte{first}
	}
	up, down := text(steps)
	return [][]byte{first, next.render(m, noTransaction, up, down, problems)}
}

// later are the columns of a table that was there before which are declared
// only now: it may have had them all along.
func (s Schema) later(prev Schema) []Column {
	if !s.Existing {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Columns), func(c Column) bool {
		return find(prev.Columns, c.Name) != nil || find(prev.Left, c.Name) != nil
	})
}

// laterColumn adds a column unless it is there. The way back leaves it.
func (s Schema) laterColumn(c Column) step {
	alter := "ALTER TABLE " + ident(s.Table)
	up := []string{fmt.Sprintf("%s ADD COLUMN IF NOT EXISTS %s;", alter, c.declare())}
	if c.Default != "" {
		up = append(up, fmt.Sprintf("%s ALTER COLUMN %s SET DEFAULT %s;", alter, ident(c.Name), c.Default))
	}
	return step{up: up, down: []string{fmt.Sprintf("-- The column %s stays: whether it was there before is not known.", ident(c.Name))}}
}

// laterFits looks whether a column that is declared only now is what the
// definition says of it, where it is there, and else whether it may be added.
// Programs generated before do not know it, so it needs a default where it must
// have a value.
func (s Schema) laterFits(c Column) step {
	says := s.Table + " is not what the definition says: "
	const anew = "alter the table first, or correct the definition and generate this migration anew"
	name, typ := literal(c.Name), literal(typeName(c.Type))
	valueless := !c.Optional && c.Default == ""
	l := []string{
		"DECLARE",
		"  problem text;",
		"  there record;",
		"BEGIN",
		"  SELECT format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS filled, a.atthasdef AS has_default INTO there FROM pg_attribute AS a",
		fmt.Sprintf("    WHERE a.attrelid = %s AND a.attname = %s AND a.attnum > 0 AND NOT a.attisdropped;", s.relation(), name),
		"  IF NOT FOUND THEN",
	}
	if valueless {
		l = append(l, raise(says+"there is no column %s, and a new one would have no value for the rows there are", "add it first, or make it optional or give it a default and generate this migration anew", "undefined_column", name))
	} else {
		l = append(l, "    RETURN;")
	}
	l = append(l, "  END IF;",
		fmt.Sprintf("  IF there.type <> %s THEN", typ),
		raise(says+"%s is %s, not %s", anew, "datatype_mismatch", name, "there.type", typ),
		"  END IF;")
	switch {
	case c.Optional:
		l = append(l,
			"  IF there.filled THEN",
			raise(says+"%s is NOT NULL, not optional", anew, "datatype_mismatch", name),
			"  END IF;")
	case valueless:
		l = append(l,
			"  IF NOT there.filled AND NOT there.has_default THEN",
			raise(says+"%s may be empty and has no default, and programs of before leave it so", anew, "datatype_mismatch", name),
			"  END IF;")
	}
	if !c.Optional {
		l = append(l, s.filled([]Column{c}, "give those rows a value, then migrate again")...)
	}
	if c.Check != "" {
		l = append(l, s.allowed(c.Check, "has %s rows that the check of "+c.Name+" refuses", "mend the rows, then migrate again")...)
	}
	return step{up: []string{block(l...)}}
}

// settle puts on the constraints of columns, which looks at all rows.
func (s Schema) settle(columns []Column) []step {
	var steps []step
	var required []Column
	for _, c := range columns {
		if is := s.inForce(c); is.Check != "" {
			steps = append(steps, s.constraint(s.called().ColumnCheck(c.Name), is.Check))
		}
		if !c.Optional {
			required = append(required, c)
		}
	}
	if len(required) > 0 {
		steps = append(steps, s.notNull(required))
	}
	if len(steps) == 0 {
		return nil
	}
	return slices.Concat([]step{shortLocks()}, steps, []step{{
		[]string{"RESET lock_timeout;"}, []string{"SET lock_timeout = '1s';"},
	}})
}
