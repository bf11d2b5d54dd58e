package gensql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// renames carries on the renames of prev and begins those that the definition
// asks for. Whatever would leave rows or programs with a name that nobody
// reads is a problem.
func (s *Schema) renames(prev Schema, m *model.Machine, problems *diag.List) {
	for _, r := range prev.Renames {
		if s.goesOn(r, m, problems) {
			s.Renames = append(s.Renames, r)
		}
	}
	known := func(state string) bool {
		return slices.Contains(prev.States, state) || slices.Contains(prev.pending().States, state)
	}
	for _, state := range m.States {
		under := slices.ContainsFunc(prev.Renames, func(r Rename) bool { return r.Is == state.Name || r.Is == state.Was })
		switch {
		case state.Was == "" || under:
		case known(state.Was) && known(state.Name):
			problems.Addf(state.WasPos, CodeTwoIntoOne, diag.Error,
				"the states %q and %q were both there before; was gives one state another name and cannot make one of two: retire %[1]q and lead its rows to %[2]q by a transition", state.Was, state.Name)
		case known(state.Was):
			if s.coded() && prev.code(state.Was) != state.Code {
				problems.Addf(state.Pos, CodeMigration, diag.Error, "the code of %q was %d when it was called %q; a rename keeps it", state.Name, prev.code(state.Was), state.Was)
				continue
			}
			s.Renames = append(s.Renames, Rename{state.Was, state.Name, RenameExpand})
		case !known(state.Name):
			problems.Addf(state.WasPos, CodeWasUnknown, diag.Error, "the newest migration knows no state %q%s", state.Was,
				suggest(state.Was, slices.DeleteFunc(slices.Clone(prev.States), func(name string) bool { return m.State(name) != nil })))
		}
	}
}

func suggest(name string, candidates []string) string {
	if near := diag.Nearest(name, candidates); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; delete was if the state is new"
}

// goesOn reports whether the definition still says of a rename under way what
// it said at its beginning; otherwise it is a problem.
func (s *Schema) goesOn(r Rename, m *model.Machine, problems *diag.List) bool {
	refuse := func(pos diag.Position, format string, args ...any) bool {
		problems.Addf(pos, CodeRenameUnderWay, diag.Error, format+"; the rename of %q to %q is under way: fsmgen generate --advance takes its next step when the programs of before are gone",
			append(args, r.Was, r.Is)...)
		return false
	}
	is := m.State(r.Is)
	again := slices.IndexFunc(m.States, func(state *model.State) bool { return state.Was == r.Is })
	switch {
	case m.State(r.Was) != nil:
		return refuse(m.State(r.Was).Pos, "a state %q cannot be declared yet", r.Was)
	case is == nil && again >= 0:
		return refuse(m.States[again].WasPos, "the state %q cannot get another name yet", r.Is)
	case is == nil:
		return refuse(m.Pos, "the state %q cannot go yet", r.Is)
	case is.Was == "":
		return refuse(is.Pos, "the state %q must keep was: %s", r.Is, r.Was)
	case is.Was != r.Was:
		return refuse(is.WasPos, "the state %q must keep was: %s", r.Is, r.Was)
	}
	return true
}

// backNames is the way back from a rename that has begun: rows, history and
// facts that have the new name get the former one again.
func (s Schema) backNames(begun []Rename) step {
	var back step
	for _, r := range begun {
		back.up = append(back.up, comment(fmt.Sprintf("The state %q is now called %q; both names are accepted.", r.Was, r.Is)))
	}
	swapped := make([]Rename, len(begun))
	for i, r := range begun {
		swapped[i] = Rename{Was: r.Is, Is: r.Was}
	}
	for _, t := range s.named() {
		back.down = append(back.down, fmt.Sprintf("UPDATE %s AS o SET %s WHERE %s;", ident(t.table), t.set(swapped), t.where(swapped)))
	}
	return back
}

// named is a table with columns that hold names of states.
type named struct {
	table   string
	columns []string
	enum    string // the columns' type where that is no text
}

// named lists the tables that a rename is about: rows first, since history and
// facts get no former name any more once no row has it.
func (s Schema) named() []named {
	texts := []string{"from_status", "to_status"}
	tables := []named{{table: s.Machine + "_history", columns: texts}}
	if s.Facts {
		tables = append(tables, named{table: s.Machine + "_facts", columns: texts})
	}
	if s.coded() {
		return tables // the rows hold a code, which stays
	}
	rows := named{table: s.Table, columns: []string{s.own().Status}}
	if s.enum() {
		rows.enum = s.statusType()
	}
	return append([]named{rows}, tables...)
}

// text is a column as it can be compared with names.
func (t named) text(column string) string {
	if t.enum != "" {
		return qualified("o", column) + "::text"
	}
	return qualified("o", column)
}

func (t named) set(renames []Rename) string {
	var sets []string
	for _, c := range t.columns {
		value := renamed(t.text(c), renames, func(r Rename) (from, to string) { return r.Was, r.Is })
		if t.enum != "" {
			value += "::" + t.enum
		}
		sets = append(sets, ident(c)+" = "+value)
	}
	return strings.Join(sets, ", ")
}

func (t named) where(renames []Rename) string {
	var was, conditions []string
	for _, r := range renames {
		was = append(was, literal(r.Was))
	}
	for _, c := range t.columns {
		conditions = append(conditions, isOneOf(t.text(c), was))
	}
	return strings.Join(conditions, " OR ")
}

// move is the statement that gives every row of a table the new names, in
// batches that commit as they go, so that nobody waits long and a run that is
// cut short may be run again. It goes by the table's blocks, which needs no
// index; rows that others hold are passed over, and only when nothing else is
// left is one of them waited for, with no other lock in hand.
func (t named) move(renames []Rename) string {
	table, set, where := ident(t.table), t.set(renames), t.where(renames)
	return block(
		"DECLARE",
		"  size bigint;",
		"  place bigint;",
		"  batch bigint;",
		"  moved bigint;",
		"BEGIN",
		"  LOOP",
		"    moved := 0;",
		"    place := 0;",
		fmt.Sprintf("    size := COALESCE((SELECT max(pg_relation_size(p.relid)) FROM pg_partition_tree(%s) AS p), pg_relation_size(%[1]s))", literal(table)),
		"      / current_setting('block_size')::bigint + 1;",
		"    WHILE place < size LOOP",
		"      WITH held AS MATERIALIZED (",
		"        SELECT o.tableoid, o.ctid FROM "+table+" AS o",
		fmt.Sprintf("        WHERE o.ctid >= format('(%%s,0)', place)::tid AND o.ctid < format('(%%s,0)', place + %d)::tid AND (%s)", moveBlocks, where),
		"        FOR NO KEY UPDATE OF o SKIP LOCKED",
		"      )",
		fmt.Sprintf("      UPDATE %s AS o SET %s FROM held AS h WHERE o.tableoid = h.tableoid AND o.ctid = h.ctid;", table, set),
		"      GET DIAGNOSTICS batch = ROW_COUNT;",
		"      moved := moved + batch;",
		fmt.Sprintf("      place := place + %d;", moveBlocks),
		"      COMMIT;",
		"    END LOOP;",
		fmt.Sprintf("    EXIT WHEN NOT EXISTS (SELECT 1 FROM %s AS o WHERE %s);", table, where),
		"    IF moved = 0 THEN",
		fmt.Sprintf("      UPDATE %s AS o SET %s WHERE (o.tableoid, o.ctid) =", table, set),
		fmt.Sprintf("        (SELECT o.tableoid, o.ctid FROM %s AS o WHERE %s LIMIT 1);", table, where),
		"      COMMIT;",
		"    END IF;",
		"  END LOOP;")
}

// moveBlocks is how many blocks of a table one batch looks at.
const moveBlocks = 64

// comment is a text as one comment line.
func comment(text string) string { return "-- " + strings.Join(strings.Fields(text), " ") }

// contractRenames is the migration that ends renames: s has no longer what
// prev has. The first statement lets nothing enter a former name, so that the
// moves come to an end; the last one, which is whole or not at all, takes the
// former names out of the rules, and fails when a row still has one.
func (s Schema) contractRenames(prev Schema) (up, down []string) {
	var ended []Rename
	moving := prev
	moving.Renames = slices.Clone(prev.Renames)
	for i, r := range moving.Renames {
		if !slices.Contains(s.Renames, r) {
			ended = append(ended, r)
			moving.Renames[i].Step = stepMove
		}
	}
	up = append(up, rules([]step{moving.edgeTrigger(), moving.birthTrigger()}))
	for _, t := range s.named() {
		up = append(up, t.move(ended))
	}
	rest := []step{s.statusCheck(), replacedFunction(prev.function(), s.function()), s.edgeTrigger(), s.birthTrigger()}
	back := []step{prev.statusCheck(), replacedFunction(s.function(), prev.function()), prev.edgeTrigger(), prev.birthTrigger()}
	note := comment("Rows, history and facts keep the new names, which the rules of before know as well.")
	return append(up, rules(rest)), []string{note, rules(back)}
}

// rules replaces constraints and triggers in one statement that may run again.
func rules(steps []step) string {
	body := []string{"BEGIN"}
	for _, st := range steps {
		for _, text := range st.down {
			text = strings.Replace(text, "DROP CONSTRAINT ", "DROP CONSTRAINT IF EXISTS ", 1)
			text = strings.Replace(text, "DROP TRIGGER ", "DROP TRIGGER IF EXISTS ", 1)
			if !strings.HasPrefix(text, "CREATE OR REPLACE") { // a function is replaced in place
				body = append(body, text)
			}
		}
		body = append(body, st.up...)
	}
	return block(body...)
}
