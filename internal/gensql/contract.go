package gensql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// Advance returns the migrations, in order, that take the next step from prev
// now that the programs generated before the definition's newest ones are gone;
// none when nothing is pending. A definition that says something else than prev,
// or a prev of an earlier fsmgen, is a problem: it has to be migrated first.
func Advance(m *model.Machine, prev Schema, problems *diag.List) [][]byte {
	now := SchemaOf(m)
	var unsaid diag.List // what is wrong with it is told when it is migrated
	now.expand(prev, m, &unsaid)
	if prev.EdgesIn != now.EdgesIn {
		problems.Addf(m.Pos, CodeNotMigrated, diag.Error, "the newest migration of %q is of an earlier fsmgen: run fsmgen generate and deploy it first", m.Name)
		return nil
	}
	if unsaid.Errors() > 0 || !now.same(prev) {
		problems.Addf(m.Pos, CodeNotMigrated, diag.Error, "the definition has changed since the newest migration of %q: run fsmgen generate and deploy it first", m.Name)
		return nil
	}
	next := SchemaOf(m)
	next.keep(prev)
	next.Renames = slices.Clone(prev.Renames)
	for i := range next.Renames {
		next.Renames[i].Step = RenameMigrate
	}
	var files [][]byte
	if !next.same(prev) {
		files = append(files, next.file(m, &prev, next.change(prev, m, problems), problems))
	}
	ended := next
	ended.Renames = nil
	for _, r := range prev.Renames {
		if r.Step == RenameExpand {
			ended.Renames = append(ended.Renames, Rename{r.Was, r.Is, RenameMigrate})
		}
	}
	if !ended.same(next) {
		up, down := ended.contractRenames(next)
		files = append(files, ended.render(m, noTransaction, marked(up), marked(down), problems))
	}
	return files
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
	tables := []named{{table: s.called().History(), columns: texts}}
	if s.Facts {
		tables = append(tables, named{table: s.called().Facts(), columns: texts})
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
// moves come to an end: to replace the trigger of inserts it waits for all who
// have written to the table, and who writes later finds the function as it then
// is. The last one, which is whole or not at all, takes the former names out of
// the rules, and fails when a row still has one.
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
	up = append(up, rules([]step{replacedFunction(prev.function(), moving.function()), moving.birthTrigger()}))
	for _, t := range s.named() {
		up = append(up, t.move(ended))
	}
	rest := []step{s.statusCheck(), replacedFunction(prev.function(), s.function()), s.birthTrigger()}
	back := []step{prev.statusCheck(), replacedFunction(s.function(), prev.function()), prev.birthTrigger()}
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
