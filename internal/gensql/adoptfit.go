package gensql

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// fits looks whether the table is what the definition says of it, before
// anything is changed.
func (s Schema) fits() string {
	var wanted []string
	for _, c := range slices.Concat(s.keys(), s.ownColumns(), s.Columns) {
		wanted = append(wanted, fmt.Sprintf("      (%d, %s, %s)", len(wanted)+1, literal(c.Name), literal(typeName(c.Type))))
	}
	var names []string
	for _, k := range s.keys() {
		names = append(names, k.Name)
	}
	sort.Strings(names)
	l := []string{
		"DECLARE",
		"  problem text;",
		"BEGIN",
		fmt.Sprintf("  IF NOT EXISTS (SELECT FROM pg_class AS r WHERE r.oid = to_regclass(%s) AND r.relkind = 'r') THEN", literal(ident(s.Table))),
		raise(s.Table+" is no table here, or a partitioned one", "migrate the database that has it", "undefined_table"),
		"  END IF;",
		"  SELECT string_agg(format('%s is %s, not %s', w.name, format_type(a.atttypid, a.atttypmod), w.type), '; ' ORDER BY w.place) INTO problem",
		"    FROM (VALUES",
		strings.Join(wanted, ",\n"),
		"    ) AS w(place, name, type)",
		fmt.Sprintf("    JOIN pg_attribute AS a ON a.attrelid = %s AND a.attname = w.name AND NOT a.attisdropped", s.relation()),
		"    WHERE format_type(a.atttypid, a.atttypmod) <> w.type" + s.lenient() + ";",
		"  IF problem IS NOT NULL THEN",
		raise(s.Table+" is not what the definition says: %s", "correct the types in the definition, or alter the table first, then migrate again", "datatype_mismatch", "problem"),
		"  END IF;",
		"  IF NOT EXISTS (",
		"    SELECT FROM pg_index AS i",
		fmt.Sprintf("    WHERE i.indrelid = %s AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL", s.relation()),
		"      AND (SELECT array_agg(a.attname::text ORDER BY a.attname::text COLLATE \"C\") FROM pg_attribute AS a",
		"           WHERE a.attrelid = i.indrelid AND a.attnotnull AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1]))",
		fmt.Sprintf("          = ARRAY[%s]", literals(names)),
		fmt.Sprintf("      AND i.indnkeyatts = %d) THEN", len(names)),
		raise(s.Table+" has no primary key or unique index of NOT NULL columns on exactly (%s)", "make one, concurrently, then migrate again", "undefined_object", literal(s.keyList(""))),
		"  END IF;",
	}
	return block(l...)
}

// typeName is a type as PostgreSQL's catalogs tell it.
func typeName(typ string) string {
	if typ == "timestamptz" {
		return "timestamp with time zone"
	}
	return typ
}

// lenient lets a status that is kept by its name be varchar of any length.
func (s Schema) lenient() string {
	if s.Status != nil {
		return ""
	}
	return fmt.Sprintf("\n      AND NOT (w.name = %s AND a.atttypid = 'varchar'::regtype)", literal(s.own().Status))
}

// enumLabels makes the enum, or adds the states that it lacks.
func (s Schema) enumLabels() string {
	return block(
		"DECLARE",
		"  state text;",
		"BEGIN",
		fmt.Sprintf("  IF to_regtype(%s) IS NULL THEN", literal(s.statusType())),
		"    "+s.enumType().up[0],
		"  END IF;",
		fmt.Sprintf("  FOREACH state IN ARRAY ARRAY[%s] LOOP", literals(s.labels())),
		fmt.Sprintf("    IF NOT EXISTS (SELECT FROM pg_enum AS e WHERE e.enumtypid = to_regtype(%s) AND e.enumlabel = state) THEN", literal(s.statusType())),
		fmt.Sprintf("      EXECUTE format('ALTER TYPE %s ADD VALUE %%L', state);", strings.ReplaceAll(s.statusType(), "%", "%%")),
		"    END IF;",
		"  END LOOP;",
	)
}

// missingColumns adds what the table lacks. The status has a default, as the
// version has, since programs of before insert without them; a constant one
// rewrites no row.
func (s Schema) missingColumns() string {
	var adds []string
	for _, c := range slices.Concat(s.ownWithDefaults(), s.Columns) {
		adds = append(adds, "  ADD COLUMN IF NOT EXISTS "+c.declare())
	}
	return "ALTER TABLE " + ident(s.Table) + "\n" + strings.Join(adds, ",\n") + ";"
}

// ownWithDefaults are the own columns as a program of before needs them.
func (s Schema) ownWithDefaults() []Column {
	own := s.ownColumns()
	own[0].Default = s.values([]string{s.Initial})[0]
	own[1].Default = "1"
	return own
}

// ownDefaults gives the own columns that were there before the defaults that
// the constraints and triggers to come let in. The rows are looked at before
// it, so that a migration which stops there has left the defaults alone, and
// after it, for those that came in by another one.
func (s Schema) ownDefaults() step {
	var sets []string
	for _, c := range s.ownWithDefaults() {
		if c.Default != "" {
			sets = append(sets, fmt.Sprintf("  ALTER COLUMN %s SET DEFAULT %s", ident(c.Name), c.Default))
		}
	}
	return step{up: []string{"ALTER TABLE " + ident(s.Table) + "\n" + strings.Join(sets, ",\n") + ";"}}
}

// required are the columns that must have a value.
func (s Schema) required() []Column {
	return slices.DeleteFunc(slices.Concat(s.ownColumns(), s.Columns), func(c Column) bool { return c.Optional })
}
