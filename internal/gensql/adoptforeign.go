package gensql

import (
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/internal/sqlname"
)

// mark is the comment of what the adoption makes. It is set in the statement
// that makes it, so that no attempt, however it was cut off, leaves one of
// ours that looks like one of the user's.
func (s Schema) mark() string {
	return literal(fmt.Sprintf("Made by fsmgen for the machine %s on %s.", s.Machine, s.Table))
}

// owned makes a step that may run a second time, and what it makes known as
// ours. target is that, as COMMENT ON names it.
func (s Schema) owned(made step, target string) step {
	st := again(made)
	st.up = []string{block(append(append([]string{"BEGIN"}, st.up...), s.comment(target))...)}
	return st
}

// ownedTable is owned for a table. Its statements go to the server in one text,
// which is all or nothing as well, and which sqlc, unlike a block, looks into.
func (s Schema) ownedTable(made step, name string) step {
	st := again(made)
	st.up = []string{lines(append(st.up, s.comment("TABLE "+name))...)}
	return st
}

func (s Schema) comment(target string) string {
	return fmt.Sprintf("COMMENT ON %s IS %s;", target, s.mark())
}

// foreign looks for objects of the user's that have the names of ours, before
// anything is changed: a second attempt would replace them, and the way back
// drop them. The deadline index, which is not made in a transaction, is known
// by what it is.
func (s Schema) foreign() string {
	called := s.called()
	relations := []string{called.History(), sqlname.PrimaryKey(called.History())}
	if s.Facts {
		relations = append(relations, called.Facts(), sqlname.PrimaryKey(called.Facts()), called.FactsKeyIndex())
	}
	index := "false"
	if s.Deadlines {
		relations = append(relations, called.DeadlineIndex())
		index = s.isDeadlineIndex("c.oid")
	}
	checks := []string{called.StatusCheck(), called.VersionCheck(), called.NullCheck()}
	for _, c := range s.Columns {
		if c.Check != "" {
			checks = append(checks, called.ColumnCheck(c.Name))
		}
	}
	here := func(namespace string) string {
		return fmt.Sprintf("%s IN (SELECT n.oid FROM pg_namespace AS n WHERE n.nspname = ANY (current_schemas(false)))", namespace)
	}
	return block(
		"DECLARE",
		"  problem text;",
		"BEGIN",
		"  SELECT string_agg(f.name, ', ' ORDER BY f.place, f.name COLLATE \"C\") INTO problem FROM (",
		"    SELECT 1 AS place, c.relname::text AS name FROM pg_class AS c",
		fmt.Sprintf("    LEFT JOIN pg_index AS i ON i.indexrelid = c.oid AND i.indrelid <> %s", s.relation()),
		fmt.Sprintf("    WHERE c.relname IN (%s) AND %s", literals(relations), here("c.relnamespace")),
		fmt.Sprintf("      AND obj_description(COALESCE(i.indrelid, c.oid), 'pg_class') IS DISTINCT FROM %s", s.mark()),
		fmt.Sprintf("      AND NOT (c.relname = %s AND %s)", literal(called.DeadlineIndex()), index),
		"    UNION ALL",
		"    SELECT 2, p.proname FROM pg_proc AS p",
		fmt.Sprintf("    WHERE p.proname IN (%s) AND p.pronargs = 0 AND %s", literals([]string{called.Refuse(), called.Forget(), called.Adopt()}), here("p.pronamespace")),
		fmt.Sprintf("      AND obj_description(p.oid, 'pg_proc') IS DISTINCT FROM %s", s.mark()),
		"    UNION ALL",
		"    SELECT 3, 'trigger ' || t.tgname FROM pg_trigger AS t",
		fmt.Sprintf("    WHERE t.tgrelid = %s AND NOT t.tgisinternal AND t.tgname IN (%s)", s.relation(), literals([]string{called.Edge(), called.Birth(), called.Gone()})),
		fmt.Sprintf("      AND obj_description(t.tgfoid, 'pg_proc') IS DISTINCT FROM %s", s.mark()),
		"    UNION ALL",
		"    SELECT 4, 'constraint ' || k.conname FROM pg_constraint AS k",
		fmt.Sprintf("    WHERE k.conrelid = %s AND k.conname IN (%s)", s.relation(), literals(checks)),
		fmt.Sprintf("      AND obj_description(k.oid, 'pg_constraint') IS DISTINCT FROM %s", s.mark()),
		"  ) AS f;",
		"  IF problem IS NOT NULL THEN",
		raise("something else is called as what "+s.Machine+" needs: %s", "rename it or the machine, then migrate again", "duplicate_object", "problem"),
		"  END IF;")
}

// isDeadlineIndex is the condition that an index is the one that is needed,
// finished or not.
func (s Schema) isDeadlineIndex(index string) string {
	return strings.Join([]string{
		"EXISTS (",
		"        SELECT FROM pg_index AS d JOIN pg_attribute AS a ON a.attrelid = d.indrelid AND a.attnum = d.indkey[0]",
		"        JOIN pg_class AS r ON r.oid = d.indexrelid JOIN pg_am AS m ON m.oid = r.relam",
		fmt.Sprintf("        WHERE d.indexrelid = %s AND d.indrelid = %s AND a.attname = %s AND NOT d.indisunique AND d.indnatts = 1", index, s.relation(), literal(s.own().Deadline)),
		fmt.Sprintf("          AND d.indoption[0] = 0 AND m.amname = 'btree' AND pg_get_expr(d.indpred, d.indrelid) = format('(%%I IS NOT NULL)', %s))", literal(s.own().Deadline)),
	}, "\n")
}

// markCheck makes a constraint of the table known as ours.
func (s Schema) markCheck(name string) string {
	return fmt.Sprintf("    COMMENT ON CONSTRAINT %s ON %s IS %s;", ident(name), ident(s.Table), s.mark())
}
