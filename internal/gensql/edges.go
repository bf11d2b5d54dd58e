package gensql

import (
	"fmt"
	"slices"
)

// edgesInFunction says of a schema that the function judges what an UPDATE
// does. Before, the trigger did so by its WHEN, which PostgreSQL reads and
// prepares anew for every UPDATE statement, however few rows it has: that made
// up half of what a transition cost. A function is prepared once a session.
const edgesInFunction = "function"

func (s Schema) judgesInFunction() bool { return s.EdgesIn == edgesInFunction }

// function lets pass what an edge allows and refuses everything else. It lets a
// forced correction pass too: one that has said so in the history, with actor
// and reason. Of an INSERT it is called on a violation alone.
func (s Schema) function() step {
	name := s.called().Refuse()
	body := []string{
		fmt.Sprintf("CREATE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$", name),
		"BEGIN",
	}
	if s.judgesInFunction() {
		body = append(body, s.judgement()...)
	}
	return step{
		[]string{dollarQuoted(lines(append(body,
			"  IF TG_OP = 'INSERT' THEN",
			fmt.Sprintf("    RAISE EXCEPTION '%s: a row begins as %%, version 1, not as %%, version %%', TG_ARGV[0], %s, %s", s.Machine, s.text("NEW"), s.version("NEW")),
			fmt.Sprintf("      USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = '%s';", s.called().Birth()),
			"  END IF;",
			fmt.Sprintf("  IF %s AND %s = %s + 1 AND EXISTS (", s.sameKey("NEW", "OLD"), s.version("NEW"), s.version("OLD")),
			fmt.Sprintf("    SELECT 1 FROM %s AS h WHERE %s AND h.version = %s", s.called().History(), s.sameKey("h", "NEW"), s.version("NEW")),
			fmt.Sprintf("      AND h.forced AND %s = %s AND %s = %s) THEN", s.told("h.from_status"), s.text("OLD"), s.told("h.to_status"), s.text("NEW")),
			"    RETURN NULL;",
			"  END IF;",
			fmt.Sprintf("  RAISE EXCEPTION '%s: no edge leads from %%, version %%, to %%, version %%', %s, %s, %s, %s", s.Machine, s.text("OLD"), s.version("OLD"), s.text("NEW"), s.version("NEW")),
			fmt.Sprintf("    USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = '%s';", s.called().Edge()),
			"END $$;",
		)...))},
		[]string{fmt.Sprintf("DROP FUNCTION %s();", name)},
	}
}

// judgement lets an UPDATE pass that leaves key, version and state alone, or
// takes an edge and counts the version by one. What is NULL is not true, and so
// it is not let pass: a state that is NULL, should a column ever lose its NOT
// NULL, and all of an INSERT, in which OLD is NULL.
func (s Schema) judgement() []string {
	same := fmt.Sprintf("%s = %s AND ", s.version("NEW"), s.version("OLD"))
	up := []string{
		"  -- What leaves key, version and state alone, or takes an edge, may pass. In an INSERT OLD is NULL, and nothing does.",
		fmt.Sprintf("  IF %s AND (", s.sameKey("NEW", "OLD")),
		fmt.Sprintf("    %s%s = %s", same, qualified("NEW", s.own().Status), qualified("OLD", s.own().Status)),
	}
	for _, r := range s.renamesAt(RenameMigrate) { // the same state under its new name is no move
		up = append(up, fmt.Sprintf("    OR %s%s = %s AND %s = %s", same, s.status("OLD"), literal(r.Was), s.status("NEW"), literal(r.Is)))
	}
	if edges := s.edgesInForce(); len(edges) > 0 {
		up = append(up, fmt.Sprintf("    OR %s = %s + 1 AND (", s.version("NEW"), s.version("OLD")))
		for _, line := range s.edgeLines(edges) {
			up = append(up, "  "+line)
		}
		up = append(up, "    )")
	}
	return append(up, "  ) THEN", "    RETURN NULL;", "  END IF;")
}

// edgeTrigger fires after the UPDATE, so that another trigger which changes
// the row before it cannot slip past.
func (s Schema) edgeTrigger() step {
	up := []string{fmt.Sprintf("CREATE TRIGGER %s AFTER UPDATE ON %s FOR EACH ROW", s.called().Edge(), ident(s.Table))}
	if !s.judgesInFunction() {
		up = append(up, s.edgesInWhen()...)
	}
	up = append(up, fmt.Sprintf("EXECUTE FUNCTION %s();", s.called().Refuse()))
	return step{[]string{lines(up...)}, []string{fmt.Sprintf("DROP TRIGGER %s ON %s;", s.called().Edge(), ident(s.Table))}}
}

// edgesInWhen is the condition of the trigger where its function has none, for
// the way back to the migrations of then.
func (s Schema) edgesInWhen() []string {
	status := ident(s.own().Status)
	up := []string{fmt.Sprintf("WHEN ((OLD.%s <> NEW.%[1]s OR %s <> %s OR %s)", status, s.version("OLD"), s.version("NEW"), s.otherKey("OLD", "NEW"))}
	edges := s.edgesInForce()
	moved := s.renamesAt(RenameMigrate)
	switch {
	case len(edges) == 0 && len(moved) == 0:
		up[0] += ")"
	case len(moved) == 0:
		up = append(up, fmt.Sprintf("  AND NOT (%s AND %s = %s + 1 AND (", s.sameKey("OLD", "NEW"), s.version("NEW"), s.version("OLD")))
		up = append(up, s.edgeLines(edges)...)
		up = append(up, "  )))")
	default:
		up = append(up, fmt.Sprintf("  AND NOT (%s AND (", s.sameKey("OLD", "NEW")))
		or := "    "
		if len(edges) > 0 {
			up = append(up, fmt.Sprintf("    %s = %s + 1 AND (", s.version("NEW"), s.version("OLD")))
			up = append(up, s.edgeLines(edges)...)
			up = append(up, "    )")
			or = "    OR "
		}
		for _, r := range moved {
			up = append(up, fmt.Sprintf("%s%s = %s AND %s = %s AND %s = %s", or, s.version("NEW"), s.version("OLD"), s.status("OLD"), literal(r.Was), s.status("NEW"), literal(r.Is)))
			or = "    OR "
		}
		up = append(up, "  )))")
	}
	return up
}

func (s Schema) edgeLines(edges []Edge) []string {
	up := make([]string, len(edges))
	enters := s.entered()
	for i, e := range edges {
		or := "    OR "
		if i == 0 {
			or = "       "
		}
		up[i] = fmt.Sprintf("%s%s AND %s", or, s.stands("OLD", e.From), enters.standsIn("NEW", e.To))
	}
	return up
}

// changeEdges replaces function and trigger where what they allow is not the
// same, and gives rows their former names again on the way back from renames
// that have begun. The rest of the rules changes between the two lists of steps.
// No trigger looks while names are given back, which is no edge.
func (s *Schema) changeEdges(prev Schema, begun []Rename) (before, after []step) {
	if was, is := prev.function(), s.function(); !slices.Equal(was.up, is.up) {
		before = append(before, replacedFunction(was, is))
	}
	was, is := prev.edgeTrigger(), s.edgeTrigger()
	changed := !slices.Equal(was.up, is.up)
	if len(begun) == 0 {
		if changed {
			after = append(after, replaced(was, is))
		}
		return before, after
	}
	back := s.backNames(begun)
	switch {
	case changed:
		return append(before, step{was.down, was.up}), []step{back, is}
	case !s.coded(): // where a code is kept, the rows stay as they are
		back.down = slices.Concat(is.down, back.down, is.up)
	}
	return before, []step{back}
}
