package compare

import (
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/duration"
	"github.com/pawl-go/pawl/internal/model"
)

// history compares how the history is cut, and where that is the same, how long
// its entries stay.
func (d *differ) history(o, n *model.Table) {
	if was, is := cut(o), cut(n); was != is {
		reasons := []Reason{breaks(rows("their history is " + was + "; " + byHand))}
		switch {
		case o.History == nil:
			reasons = append(reasons, callers("KeepHistory is new; without calls of it the entries of later times have no partitions"))
		case n.History == nil:
			reasons = append(reasons, breaks(callers("KeepHistory is gone")))
		}
		d.add(TableHistory, "table.history", historyPos(o), historyPos(n), Major, "the history is "+is+"; it was "+was, reasons...)
		return
	}
	if o.History == nil || o.History.Keep == n.History.Keep {
		return
	}
	r := rows("entries that were dropped do not come back")
	if n.History.Keep > 0 && (o.History.Keep == 0 || n.History.Keep < o.History.Keep) {
		r = breaks(rows("older entries are dropped by the next KeepHistory after the migration"))
	}
	d.add(TableKeep, "table.history.keep", o.History.Pos, n.History.Pos, Minor,
		"entries of the history are kept "+kept(n.History)+"; it was "+kept(o.History), r)
}

// cut says how a table's history is kept.
func cut(t *model.Table) string {
	if t.History == nil {
		return "one whole table"
	}
	return "in partitions of a " + t.History.Partition
}

func kept(h *model.History) string {
	if h.Keep == 0 {
		return "for ever"
	}
	return "for " + duration.Format(h.Keep)
}

func historyPos(t *model.Table) diag.Position {
	if t.History == nil {
		return t.Pos
	}
	return t.History.Pos
}
