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
		typ := c.Type
		if typ == "timestamptz" {
			typ = "timestamp with time zone"
		}
		wanted = append(wanted, fmt.Sprintf("      (%d, %s, %s)", len(wanted)+1, literal(c.Name), literal(typ)))
	}
	var names []string
	for _, k := range s.keys() {
		names = append(names, k.Name)
	}
	sort.Strings(names)
	key := strings.ReplaceAll(s.keyList(""), "'", "''")
	return block(
		"DECLARE",
		"  problem text;",
		"BEGIN",
		fmt.Sprintf("  IF NOT EXISTS (SELECT FROM pg_class AS r WHERE r.oid = to_regclass(%s) AND r.relkind = 'r') THEN", literal(ident(s.Table))),
		fmt.Sprintf("    RAISE EXCEPTION '%s is no table here, or a partitioned one' USING ERRCODE = 'undefined_table';", s.Table),
		"  END IF;",
		"  SELECT string_agg(format('%s is %s, not %s', w.name, format_type(a.atttypid, a.atttypmod), w.type), '; ' ORDER BY w.place) INTO problem",
		"    FROM (VALUES",
		strings.Join(wanted, ",\n"),
		"    ) AS w(place, name, type)",
		fmt.Sprintf("    JOIN pg_attribute AS a ON a.attrelid = %s AND a.attname = w.name AND NOT a.attisdropped", s.relation()),
		"    WHERE format_type(a.atttypid, a.atttypmod) <> w.type"+s.lenient()+";",
		"  IF problem IS NOT NULL THEN",
		fmt.Sprintf("    RAISE EXCEPTION '%s is not what the definition says: %%', problem USING ERRCODE = 'datatype_mismatch',", s.Table),
		"      HINT = 'Correct the types in the definition, or alter the table first.';",
		"  END IF;",
		"  IF NOT EXISTS (",
		"    SELECT FROM pg_index AS i",
		fmt.Sprintf("    WHERE i.indrelid = %s AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL", s.relation()),
		"      AND (SELECT array_agg(a.attname::text ORDER BY a.attname::text COLLATE \"C\") FROM pg_attribute AS a",
		"           WHERE a.attrelid = i.indrelid AND a.attnotnull AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1]))",
		fmt.Sprintf("          = ARRAY[%s]", literals(names)),
		fmt.Sprintf("      AND i.indnkeyatts = %d) THEN", len(names)),
		fmt.Sprintf("    RAISE EXCEPTION '%s has no primary key or unique index of NOT NULL columns on exactly (%s)' USING ERRCODE = 'undefined_object';", s.Table, key),
		"  END IF;",
	)
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
	own := s.ownColumns()
	own[0].Default = s.values([]string{s.Initial})[0]
	own[1].Default = "1"
	for _, c := range slices.Concat(own, s.Columns) {
		adds = append(adds, "  ADD COLUMN IF NOT EXISTS "+c.declare())
	}
	return "ALTER TABLE " + ident(s.Table) + "\n" + strings.Join(adds, ",\n") + ";"
}

// required are the columns that must have a value.
func (s Schema) required() []Column {
	return slices.DeleteFunc(slices.Concat(s.ownColumns(), s.Columns), func(c Column) bool { return c.Optional })
}

// rowsFit looks for rows that the constraints would refuse, and names them:
// PostgreSQL itself would only say that there are some.
func (s Schema) rowsFit() string {
	var empty []string
	for _, c := range s.required() {
		empty = append(empty, fmt.Sprintf("    CASE WHEN bool_or(o.%s IS NULL) THEN %s END", ident(c.Name), literal(c.Name)))
	}
	return block(
		"DECLARE",
		"  problem text;",
		"BEGIN",
		"  SELECT concat_ws(', ',",
		strings.Join(empty, ",\n"),
		fmt.Sprintf("  ) INTO problem FROM %s AS o;", ident(s.Table)),
		"  IF problem <> '' THEN",
		fmt.Sprintf("    RAISE EXCEPTION '%s has rows without a value in: %%', problem USING ERRCODE = 'not_null_violation',", s.Table),
		"      HINT = 'Give those rows a value, then migrate again; only columns were added so far.';",
		"  END IF;",
		"  SELECT string_agg(format('%s (%s rows)', r.state, r.rows), ', ' ORDER BY r.state) INTO problem FROM (",
		fmt.Sprintf("    SELECT %s::text AS state, count(*) AS rows FROM %s AS o WHERE NOT (%s) GROUP BY 1 ORDER BY 1 LIMIT 20", qualified("o", s.own().Status), ident(s.Table), s.standsIn("o", s.States)),
		"  ) AS r;",
		"  IF problem IS NOT NULL THEN",
		fmt.Sprintf("    RAISE EXCEPTION '%s has rows in states that %s does not have: %%', problem USING ERRCODE = 'check_violation',", s.Table, s.Machine),
		"      HINT = 'Declare the states or move the rows out of them, then migrate again; only columns were added so far.';",
		"  END IF;",
	)
}
