package simulate

import (
	"time"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// Entry is a line of the history.
type Entry struct {
	Step int
	oracle.Transition
	At time.Time
}

// History is what the history of the row has, by version. A row that was given has
// none of before.
func (t *Tape) History() []Entry {
	var out []Entry
	for _, s := range t.Steps {
		if s.History {
			out = append(out, Entry{s.N, s.Made, s.At})
		}
	}
	return out
}

// Facts are what the table of facts has of the row, in the order told.
func (t *Tape) Facts() []Fact {
	var out []Fact
	for _, s := range t.Steps {
		if s.Fact != nil {
			out = append(out, *s.Fact)
		}
	}
	return out
}

// Message is a row of the outbox.
type Message struct {
	Step    int
	Topic   string
	Event   string
	Version int64
}

// Outbox is what was written to the outbox, in order.
func (t *Tape) Outbox() []Message {
	var out []Message
	for _, s := range t.Steps {
		for _, topic := range s.Emits {
			out = append(out, Message{s.N, topic, s.Made.Event, s.Version})
		}
	}
	return out
}

// Cell is a column of the row with its value.
type Cell struct {
	Column *model.Column
	Value  any
	// Step is the number of the step that gave it its value last.
	Step int
}

// Columns are the key and the declared columns as they stand; none without a row
// or a table.
func (t *Tape) Columns() []Cell {
	r, there := t.Row()
	if !there || !t.Machine.HasTable() {
		return nil
	}
	var out []Cell
	for _, c := range t.Machine.Model.Table.Keys {
		v, told := r.Key[c.Name]
		if !told {
			v = oracle.Untold{}
		}
		out = append(out, Cell{Column: c, Value: v})
	}
	for _, c := range t.Machine.Model.Table.Columns {
		cell := Cell{Column: c, Value: r.Columns[c.Name]}
		for _, s := range t.Steps {
			for _, set := range s.Set {
				if set.Column == c {
					cell.Step = s.N
				}
			}
		}
		out = append(out, cell)
	}
	return out
}
