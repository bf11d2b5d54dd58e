package mutate

import (
	"fmt"
	"sort"
	"strings"
)

// Source is one text that can be broken: a statement of a query file, or a migration.
type Source struct {
	// Machine is the lifecycle that the text is of.
	Machine string
	// Name is the statement's, OrderPay, or the migration file's.
	Name string
	// Event is what a statement is the call of; empty for a statement of none, and
	// for a migration.
	Event string
	// Batch says that the statement is the event's batch.
	Batch bool
	// File and Line are where the text begins: queries/order.sql, 12.
	File string
	Line int
	// Text is the text as it stands there.
	Text string
	// Migration says that the text makes tables and triggers.
	Migration bool

	params map[string]string // how a parameter stands in the file, and in what is run: @fsm_key, $1
	words  *words
	// again has the functions and triggers that a later migration makes again.
	again map[string]bool
	// head and tail stand around the text in what is run.
	head, tail string
}

// Mutant is a source with one small change.
type Mutant struct {
	// ID is unique among the mutants of the same texts: "OrderPay:and-drop:14".
	ID string
	// Operator is the name of the rule that made it.
	Operator string
	Source   *Source
	// Line and Column are where the change begins, in the source's file, from 1.
	Line, Column int
	// Before and After are the text of the change alone, on one line each, with …
	// between what changes in several places. One of them is empty where something
	// was only added, or left out.
	Before, After string
	// Text is the whole altered text, as it would stand in the file.
	Text string
}

// String is the mutant for people: where it is, what it changes and how.
func (m *Mutant) String() string {
	return fmt.Sprintf("%s:%d:%d: %s: %s → %s", m.Source.File, m.Line, m.Column, m.Operator, Shown(m.Before), Shown(m.After))
}

// Shown is a text of a change, shortened in the middle; "nothing" for an empty one.
func Shown(s string) string {
	const longest = 70
	if s == "" {
		return "nothing"
	}
	if r := []rune(s); len(r) > longest {
		half := (longest - 3) / 2
		return string(r[:half]) + " … " + string(r[len(r)-half:])
	}
	return s
}

// SQL returns what is run for the text: a statement with its parameters by
// number, as sqlc numbered them; a migration as the whole file.
func (m *Mutant) SQL() string { return m.Source.run(m.Text) }

// edit puts new in the place of bytes of a text.
type edit struct {
	lo, hi int
	new    string
}

// apply returns the text after edits, which are in order and do not overlap.
func apply(sql string, edits []edit) string {
	var b strings.Builder
	at := 0
	for _, e := range edits {
		_, _ = b.WriteString(sql[at:e.lo])
		_, _ = b.WriteString(e.new)
		at = e.hi
	}
	_, _ = b.WriteString(sql[at:])
	return b.String()
}

// Mutants returns all mutants of a source, in the order of the text and then of
// the operators, each altered text once. What a later migration makes again is
// left alone. The error is the parser's.
func Mutants(s *Source) ([]*Mutant, error) {
	t, err := read(s.Text)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", s.File, s.Line, err)
	}
	m := &maker{source: s, seen: map[string]bool{squeeze(s.Text): true}, count: map[string]int{}}
	for _, op := range Operators() {
		if op.Migration && !s.Migration {
			continue
		}
		for _, root := range s.lasting(t) {
			if err := m.statement(op, t, root); err != nil {
				return nil, err
			}
		}
	}
	sort.SliceStable(m.out, func(i, j int) bool {
		a, b := m.out[i], m.out[j]
		return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
	})
	return m.out, nil
}

// place is what an operator knows of the text around a node.
type place struct {
	*text
	words *words
}

// maker collects the mutants of one source.
type maker struct {
	source *Source
	out    []*Mutant
	seen   map[string]bool
	count  map[string]int
}

// statement adds what an operator makes of a statement, and of the body of a function.
func (m *maker) statement(op Operator, t *text, root *node) error {
	root.walk(func(n *node) {
		op.sites(&place{t, m.source.words}, n, func(edits ...edit) { m.add(op.Name, edits) })
	})
	if root.kind == "CreateFunctionStmt" {
		return m.body(op, root)
	}
	return nil
}

func (m *maker) add(operator string, edits []edit) {
	sort.SliceStable(edits, func(i, j int) bool { return edits[i].lo < edits[j].lo })
	sql := m.source.Text
	altered := apply(sql, edits)
	key := squeeze(altered)
	if m.seen[key] {
		return
	}
	m.seen[key] = true
	lo := len(sql)
	var before, after []string
	for _, e := range edits {
		lo = min(lo, e.lo)
		before, after = piece(before, sql[e.lo:e.hi]), piece(after, e.new)
	}
	line := strings.Count(sql[:lo], "\n")
	m.count[operator]++
	m.out = append(m.out, &Mutant{
		ID:       fmt.Sprintf("%s:%s:%d", m.source.Name, operator, m.count[operator]),
		Operator: operator,
		Source:   m.source,
		Line:     m.source.Line + line,
		Column:   lo - (strings.LastIndexByte(sql[:lo], '\n') + 1) + 1,
		Before:   strings.Join(before, " … "),
		After:    strings.Join(after, " … "),
		Text:     altered,
	})
}

// piece adds the text of one edit to those of a change.
func piece(list []string, s string) []string {
	if s = squeeze(s); s == "" {
		return list
	}
	return append(list, s)
}

// squeeze puts a text on one line, since blanks change nothing of what it says.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// Failing is what is run for a statement that fails whatever it is given. The
// tests that need the statement fail with it.
func (s *Source) Failing() string { return s.head + "SELECT 1/0\n" }
