package fsmtest

import (
	"fmt"
	"slices"
	"strings"
)

// with puts another value in the place of a column's, among columns with their values.
func with(columns []string, name, value string) []string {
	columns = slices.Clone(columns)
	for i := 0; i+1 < len(columns); i += 2 {
		if columns[i] == name {
			columns[i+1] = value
		}
	}
	return columns
}

// without leaves a column out.
func without(columns []string, name string) []string {
	for i := 0; i+1 < len(columns); i += 2 {
		if columns[i] == name {
			return slices.Concat(columns[:i], columns[i+2:])
		}
	}
	return columns
}

// neverNull sees that a record goes through, and that none of its columns may be
// NULL. Those that have a default may be left out, and are then as the record has them.
func (w *writing) neverNull(table string, record []string, defaults ...string) {
	w.t.Helper()
	w.must("", w.insert(table, record...))
	for i := 0; i < len(record); i += 2 {
		w.must(nullRefused, w.insert(table, with(record, record[i], "NULL")...))
	}
	for _, name := range defaults {
		i := slices.Index(record, name)
		same := fmt.Sprintf("SELECT 1 / count(*) FROM %s AS x WHERE x.%s = %s AND x.at = '2002-02-02'", quoted(table), quoted(name), record[i+1])
		w.must("", w.insert(table, with(without(record, name), "at", "'2002-02-02'")...), same)
	}
}

// history sees that an entry says who, when and what, once a version.
func (w *writing) history() {
	m := w.e.m
	r, initial := w.row(m.Initial), literal(w.e.recorded(m.Initial))
	entry := append(w.keys(r), "version", "77", "event", "'e'", "to_status", initial, "actor", "''", "reason", "''", "request_id", "''", "forced", "false", "at", "now()")
	w.neverNull(m.History, entry, "actor", "reason", "request_id", "forced")
	w.must(twiceRefused, w.insert(m.History, entry...), w.insert(m.History, with(entry, "event", "'f'")...))
	forced := with(entry, "forced", "true")
	w.mustRefuse(w.insert(m.History, forced...))
	w.mustRefuse(w.insert(m.History, with(forced, "actor", "'a'")...))
	w.mustRefuse(w.insert(m.History, with(forced, "reason", "'r'")...))
	w.must("", w.insert(m.History, with(with(forced, "actor", "'a'"), "reason", "'r'")...))
	w.must("", w.insert(m.History, with(entry, "actor", "'a'")...))
}

func (w *writing) mustRefuse(statements ...string) {
	w.t.Helper()
	w.must(checkRefused, statements...)
}

// facts sees that a fact counts once among those of its event.
func (w *writing) facts() {
	m := w.e.m
	if m.Facts == "" {
		return
	}
	r, initial := w.row(m.Initial), literal(w.e.recorded(m.Initial))
	fact := append([]string{"event", "'e'", "identity", "'i'"}, append(w.keys(r), "fingerprint", "'f'", "outcome", "'Applied'",
		"from_status", initial, "to_status", initial, "version", "1", "at", "now()")...)
	w.neverNull(m.Facts, fact)
	once := w.insert(m.Facts, fact...)
	w.must(twiceRefused, once, w.insert(m.Facts, with(fact, "version", "2")...))
	w.must("", once, w.insert(m.Facts, with(fact, "event", "'other'")...))
	w.must("", once, w.insert(m.Facts, with(fact, "identity", "'other'")...))
}

// outbox sees that what is emitted is whole.
func (w *writing) outbox() {
	record := []string{"machine", "'m'", "key", "'k'", "version", "1", "event", "'e'", "topic", "'t'", "payload", "'{}'", "at", "now()"}
	w.neverNull("fsm_outbox", record)
	w.must(twiceRefused, w.insert("fsm_outbox", record...),
		"INSERT INTO fsm_outbox (id, machine, key, version, event, topic, payload, at) OVERRIDING SYSTEM VALUE SELECT id, 'm', 'k', 1, 'e', 't', '{}', now() FROM fsm_outbox LIMIT 1")
}

// audit sees that a correction has an author and a reason.
func (w *writing) audit() {
	record := []string{
		"machine", "'m'", "key", "'k'", "version", "1", "action", "'a'", "from_status", "'f'", "to_status", "'t'",
		"actor", "'a'", "reason", "'r'", "request_id", "''", "at", "now()",
	}
	w.neverNull("fsm_audit", record, "request_id")
	w.mustRefuse(w.insert("fsm_audit", with(record, "actor", "''")...))
	w.mustRefuse(w.insert("fsm_audit", with(record, "reason", "''")...))
	w.must(twiceRefused, w.insert("fsm_audit", record...),
		"INSERT INTO fsm_audit (id, machine, key, version, action, from_status, to_status, actor, reason, at) OVERRIDING SYSTEM VALUE SELECT id, 'm', 'k', 1, 'a', 'f', 't', 'a', 'r', now() FROM fsm_audit LIMIT 1")
}

// deletion sees that history and facts go with their row, and with no other.
func (w *writing) deletion() {
	m := w.e.m
	gone, kept := w.row(m.Initial), w.row(m.Initial)
	remove := "DELETE FROM " + quoted(m.Table) + " AS o WHERE " + w.e.where(gone, "o")
	initial := literal(w.e.recorded(m.Initial))
	for _, table := range []string{m.History, m.Facts} {
		if table == "" {
			continue
		}
		statements := []string{remove}
		if table == m.Facts {
			for i, r := range []*row{gone, kept} {
				statements = append([]string{w.insert(table, append(w.keys(r), "event", "'e'", "identity", literal(fmt.Sprint(i)), "fingerprint", "''", "outcome", "'Applied'",
					"from_status", initial, "to_status", initial, "version", "1", "at", "now()")...)}, statements...)
			}
		}
		count := func(r *row) string {
			return "(SELECT count(*) FROM " + quoted(table) + " AS x WHERE " + w.e.where(r, "x") + ")"
		}
		w.must("", append(statements, "SELECT 1 / (CASE WHEN "+count(gone)+" = 0 AND "+count(kept)+" > 0 THEN 1 ELSE 0 END)")...)
	}
}

// columns sees that the table refuses unknown states, versions below 1, NULL
// where a column is not optional, and what a column's check refuses.
func (w *writing) columns() {
	m := w.e.m
	r := w.row(m.Initial)
	for _, name := range []string{m.Status, m.Version} {
		w.must(nullRefused, w.update(r, quoted(name)+" = NULL"))
	}
	if m.Runs != "" {
		w.must(nullRefused, w.update(r, quoted(m.Runs)+" = NULL"))
	}
	for _, k := range m.Key {
		w.must(nullRefused, w.update(r, quoted(k.Name)+" = NULL"))
	}
	for _, c := range m.Columns {
		if !c.Optional {
			w.must(nullRefused, w.update(r, quoted(c.Name)+" = NULL"))
		}
		w.checked(r, c)
	}
	_, insert, err := w.e.insert(w.ctx, seed{state: m.Initial, version: 0})
	if err != nil {
		w.t.Fatal(err)
	}
	w.mustRefuse(insert)
	if m.StatusType == "text" {
		w.mustRefuse(w.stranger())
	}
	_, insert, err = w.e.insert(w.ctx, seed{state: m.Initial, version: 1})
	if err != nil {
		w.t.Fatal(err)
	}
	w.must("", insert)
	w.must(twiceRefused, insert, insert)
}

// stranger is an INSERT of a row in a state that the machine does not know.
func (w *writing) stranger() string {
	m := w.e.m
	_, insert, err := w.e.insert(w.ctx, seed{state: m.Initial, version: 1})
	if err != nil {
		w.t.Fatal(err)
	}
	known := typed(literal(w.e.recorded(m.Initial)), w.e.statusType())
	return strings.Replace(insert, known, "'no such state'", 1)
}

// checked puts values into a column, and sees that those are refused which the
// checks of the columns refuse.
func (w *writing) checked(r *row, c Column) {
	w.t.Helper()
	m := w.e.m
	var checks, columns []string
	for _, k := range m.Columns {
		if k.Check != "" {
			checks = append(checks, "("+k.Check+")")
		}
	}
	if len(checks) == 0 {
		return
	}
	// A check may look at the key and at the machine's own columns too.
	var others []string
	for _, k := range m.Key {
		others = append(others, "o."+quoted(k.Name))
	}
	for _, name := range []string{m.Status, m.Version, m.Deadline, m.Runs} {
		if name != "" {
			others = append(others, "o."+quoted(name))
		}
	}
	for _, value := range candidates(c) {
		columns = append(columns[:0], others...)
		for _, k := range m.Columns {
			if k.Name == c.Name {
				columns = append(columns, typed(value, c.Type)+" AS "+quoted(k.Name))
			} else {
				columns = append(columns, "o."+quoted(k.Name))
			}
		}
		var holds bool
		query := fmt.Sprintf("SELECT (%s) IS NOT FALSE FROM (SELECT %s FROM %s AS o WHERE %s) AS o",
			strings.Join(checks, " AND "), strings.Join(columns, ", "), quoted(m.Table), w.e.where(r, "o"))
		if err := w.tx.QueryRow(w.ctx, query).Scan(&holds); err != nil {
			w.t.Fatalf("%s: %v", query, err)
		}
		code := checkRefused
		if holds {
			code = ""
		}
		w.must(code, w.update(r, quoted(c.Name)+" = "+typed(value, c.Type)))
	}
}

// candidates are values of a column's type around its usual one and around zero.
func candidates(c Column) []string {
	switch base(c.Type) {
	case "smallint", "integer", "bigint", "numeric":
		list := []string{"-1", "0", "1", "2"}
		if c.Value != "" {
			list = append(list, c.Value+" - 1", c.Value, c.Value+" + 1")
		}
		return list
	case "text":
		return []string{"''", "'x'"}
	}
	return nil
}
