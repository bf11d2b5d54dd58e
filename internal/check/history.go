package check

import (
	"slices"
	"strings"
	"time"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

// history reads how the history is cut into partitions.
func (c *checker) history(t *model.Table, fields *syntax.Mapping) {
	entry, ok := fields.Entry("history")
	if !ok || entry.Value.IsNull() {
		return
	}
	history := c.mapping(entry.Value, "\"history\"")
	if history == nil {
		return
	}
	c.keys(history, "history")
	h := &model.History{Pos: entry.Value.Pos}
	units := model.PartitionUnits()
	unit, ok := history.Entry("partition")
	switch {
	case !ok:
		c.errorf(entry.Key.Pos, CodeMissing, "the history does not say how long a partition is; write partition: month")
		return
	case unit.Value.AsScalar() == nil || unit.Value.IsNull():
		c.wrongKind(unit.Value, "\"partition\"", "one of "+strings.Join(units, ", "))
		return
	case !slices.Contains(units, unit.Value.AsScalar().Text):
		text := unit.Value.AsScalar().Text
		hint := meant(text, units)
		if hint == "" {
			hint = "; use " + strings.Join(units, ", ")
		}
		c.errorf(unit.Value.Pos, CodeHistory, "a partition cannot be %s long%s", quote(text), hint)
		return
	}
	h.Partition = unit.Value.AsScalar().Text
	if keep, ok := history.Entry("keep"); ok && !keep.Value.IsNull() {
		h.Keep = c.keep(keep.Value)
	}
	if t.Existing {
		c.errorf(entry.Key.Pos, CodeHistory, "the history of a table that was there before cannot be in partitions, since taking in its rows relies on the key of a whole one; delete history")
		return
	}
	t.History = h
}

// keep reads how long entries stay, 0 after a problem was reported.
func (c *checker) keep(n *syntax.Node) time.Duration {
	const day = 24 * time.Hour
	s := n.AsScalar()
	if s == nil {
		c.wrongKind(n, "\"keep\"", "a duration such as 400d")
		return 0
	}
	d, ok := parseDuration(s.Text)
	switch {
	case !ok:
		c.errorf(n.Pos, CodeDuration, "%s is no duration of at least 1d and at most 100 years; write it as 400d", quote(s.Text))
		return 0
	case d < day || d%day != 0:
		c.errorf(n.Pos, CodeHistory, "entries cannot be kept for %s, since whole partitions go; write whole days, as in 400d", quote(s.Text))
		return 0
	}
	return d
}
