package linear

import (
	"fmt"
	"slices"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// agrees reports whether the world is as somebody saw it.
func (c *checker) agrees(w oracle.World, op *operation) bool { return c.contradiction(w, op) == "" }

// contradiction says in what the world differs from what was seen, empty for nothing.
func (c *checker) contradiction(w oracle.World, op *operation) string {
	s := op.seen
	r, there := w.Row(op.key)
	switch {
	case !there && s.gone:
		return ""
	case !there:
		return "no row"
	case s.gone:
		return rowText(r)
	case stateOf(c.m, s.state) != r.State, s.version != r.Version:
		return rowText(r)
	case !c.sameColumns(r.Columns, s.columns):
		return "other columns: " + columnsText(c.m, r.Columns)
	case s.looked.history && !c.sameHistory(r.Past, s.history):
		return "the history " + historyText(r.Past)
	case s.looked.facts && !sameFacts(w, op.key, s.facts):
		return fmt.Sprintf("other facts, %d of them", w.Facts(op.key))
	case s.looked.outbox && !sameOutbox(r.Past, s.emitted):
		return "the outbox " + outboxText(r.Past)
	}
	return ""
}

// sameColumns compares what is known of a row with what was shown of it.
func (c *checker) sameColumns(row oracle.Values, shown map[string][]byte) bool {
	for _, column := range c.m.Table.Columns {
		text, looked := shown[column.Name]
		is := row[column.Name]
		if !looked || is == any(oracle.Untold{}) {
			continue
		}
		v, err := decode(column.Type, text)
		switch {
		case err != nil, is == any(moment{}) && v == nil:
			return false
		case v != is && v != any(oracle.Untold{}) && is != any(moment{}):
			return false
		}
	}
	return true
}

// sameHistory compares from the newest entry on.
func (c *checker) sameHistory(e *oracle.Entry, saw []oracle.Transition) bool {
	for ; e != nil; e = e.Before {
		if !e.History {
			continue
		}
		if e.Event == oracle.EventUntold {
			return true
		}
		if len(saw) == 0 {
			return c.forgets()
		}
		if saw[len(saw)-1] != e.Transition {
			return false
		}
		saw = saw[:len(saw)-1]
	}
	return len(saw) == 0
}

func sameFacts(w oracle.World, key string, saw []fact) bool {
	for _, f := range saw {
		if is, known := w.Fact(f.event, f.identity); !known || is != (oracle.Fact{Key: key, Fingerprint: f.fingerprint, First: f.first}) {
			return false
		}
	}
	return len(saw) == w.Facts(key)
}

// sameOutbox takes rows that were emitted before the history for nobody's business.
func sameOutbox(e *oracle.Entry, saw []emitted) bool {
	left := slices.Clone(saw)
	for ; e != nil; e = e.Before {
		if e.Event == oracle.EventUntold {
			return true
		}
		for _, topic := range e.Emits {
			at := slices.Index(left, emitted{e.Event, topic, e.Version})
			if at < 0 {
				return false
			}
			left = slices.Delete(left, at, at+1)
		}
	}
	return len(left) == 0
}

// columnsText are the declared columns whose values are known.
func columnsText(m *model.Machine, columns oracle.Values) string {
	text := ""
	for _, c := range m.Table.Columns {
		if v := columns[c.Name]; v != any(oracle.Untold{}) {
			text += fmt.Sprintf(" %s=%v", c.Name, v)
		}
	}
	return text
}
