package genmatrix

import (
	"strings"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/wording"
)

// table is what stands beside the matrix: headers and rows of text. All formats
// have the same ones.
type table struct {
	title   wording.Phrase
	columns []column
	rows    [][]string
}

type column struct {
	header wording.Phrase
	width  float64
	// name says that the column holds names of the definition.
	name bool
}

// tables are those of the machine, without the ones that have nothing to say.
func (v view) tables() []table {
	var out []table
	for _, t := range []table{v.stateTable(), v.eventTable(), v.guardTable(), v.writeTable()} {
		if t = t.tidy(); len(t.rows) > 0 {
			out = append(out, t)
		}
	}
	return out
}

func (v view) stateTable() table {
	t := table{title: states, columns: []column{{colState, 20, true}, {colLabel, 24, false}, {colMark, 12, false}, {colMeaning, 50, false}, {colDeadline, 40, false}}}
	for _, s := range v.States {
		t.rows = append(t.rows, []string{
			s.Name, wording.Label(s.Name, s.Labels, v.lang), strings.Join(wording.Marks(s, v.lang), ", "), s.Describe, wording.Deadline(s.Deadline, v.lang),
		})
	}
	return t
}

func (v view) eventTable() table {
	t := table{title: events, columns: []column{{colEvent, 22, true}, {colLabel, 24, false}, {colMeaning, 50, false}, {colSource, 12, false}, {colParams, 44, false}, {colIdentity, 18, false}, {colPrint, 18, false}, {colNote, 18, false}}}
	for _, e := range v.Events {
		from, note := v.say(internal), ""
		if e.Callback {
			from = v.say(callback)
		}
		if e.ExpectVersion {
			note = v.say(expects)
		}
		t.rows = append(t.rows, []string{
			e.Name, wording.Label(e.Name, e.Labels, v.lang), e.Describe, from, params(e.Params), paramNames(e.Identity), paramNames(e.Fingerprint), note,
		})
	}
	return t
}

// params says the parameters with their types and checks.
func params(ps []*model.Param) string {
	said := make([]string, len(ps))
	for i, p := range ps {
		said[i] = p.Name + " " + p.Type.SQL
		if p.Check != nil {
			said[i] += " (" + p.Check.Source + ")"
		}
	}
	return strings.Join(said, ", ")
}

func (v view) guardTable() table {
	t := table{title: guards, columns: []column{{colGuard, 24, true}, {colMeaning, 60, false}, {colSQL, 80, false}}}
	for _, g := range v.Guards {
		t.rows = append(t.rows, []string{g.Name, g.Describe, g.SQL.Source})
	}
	return t
}

func (v view) writeTable() table {
	t := table{title: writes, columns: []column{{colEvent, 22, true}, {colFrom, 30, false}, {colGuard, 24, false}, {colTo, 18, false}, {colSets, 60, false}, {colEmits, 24, false}}}
	for _, tr := range v.Transitions {
		guard := ""
		if tr.Guard != nil {
			guard = short(tr.Guard)
		}
		t.rows = append(t.rows, []string{tr.Event.Name, model.StateNames(tr.From), guard, tr.To.Name, wording.Sets(tr), strings.Join(tr.Emit, ", ")})
	}
	return t
}

// short is a guard by its name, for places that have a table of guards beside
// them; its words or its SQL for a guard without a name.
func short(g *model.Guard) string {
	if g.Name != "" {
		return g.Name
	}
	return wording.Guard(g)
}

// tidy leaves out columns in which nothing stands.
func (t table) tidy() table {
	out := table{title: t.title, rows: make([][]string, len(t.rows))}
	for i, c := range t.columns {
		used := false
		for _, row := range t.rows {
			used = used || row[i] != ""
		}
		if !used {
			continue
		}
		out.columns = append(out.columns, c)
		for j, row := range t.rows {
			out.rows[j] = append(out.rows[j], row[i])
		}
	}
	return out
}
