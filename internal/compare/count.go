package compare

import (
	"fmt"
	"slices"

	"github.com/pawl-go/pawl/internal/model"
)

// Gone is the value of a status column that the new definitions do not know any
// more, with where to look for rows that hold it.
type Gone struct {
	// Table is the table as the old definitions describe it.
	Table *model.Table
	// State is the state's name, and Code what stands for it in a column of codes.
	State string
	Code  int
	// Count is how many rows held it when it was asked, nil until then.
	Count *int64
	// Unknown says why it could not be counted, empty otherwise.
	Unknown string
}

// gone marks a change as one that rows decide.
func (d *differ) gone(c *Change, state string, code int) {
	c.Gone = &Gone{Table: d.old.Table, State: state, Code: code}
	c.Reasons = append(c.Reasons, breaks(rows("any that stand in "+state+" could not be read or moved; count them with --database")))
	slices.SortStableFunc(c.Reasons, func(a, b Reason) int { return place(a.Side) - place(b.Side) })
}

// Uncounted returns the changes that rows decide, in order.
func (r *Report) Uncounted() []*Change {
	var changes []*Change
	for _, c := range r.Changes {
		if c.Gone != nil {
			changes = append(changes, c)
		}
	}
	return changes
}

// Count notes how many rows stand in the state that goes, and judges anew: the
// change breaks rows while there are any. A change that rows do not decide is
// left as it is.
func (c *Change) Count(n int64) {
	switch {
	case c.Gone == nil:
	case n == 0:
		c.judge(rows("none stands in " + c.Gone.State + " as of now; the migration that takes it away checks again"))
	case n == 1:
		c.judge(breaks(rows("1 stands in " + c.Gone.State + " and could not be read or moved; move it first")))
	default:
		c.judge(breaks(rows(fmt.Sprintf("%d stand in %s and could not be read or moved; move them first", n, c.Gone.State))))
	}
	if c.Gone != nil {
		c.Gone.Count, c.Gone.Unknown = &n, ""
	}
}

// NotCounted notes why the rows could not be counted; the change goes on to
// break them. A change that rows do not decide is left as it is.
func (c *Change) NotCounted(why string) {
	if c.Gone == nil {
		return
	}
	c.judge(breaks(rows("those in " + c.Gone.State + " could not be counted: " + why)))
	c.Gone.Count, c.Gone.Unknown = nil, why
}

func (c *Change) judge(r Reason) {
	for i := range c.Reasons {
		if c.Reasons[i].Side == Rows {
			c.Reasons[i] = r
		}
	}
}
