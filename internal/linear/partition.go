package linear

import (
	"cmp"
	"maps"
	"slices"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// partition is what is checked together: a row, or rows of which one fact was told.
type partition struct {
	keys []string
	// ops are all operations, by their beginning; those without effect among them.
	ops    []*operation
	starts map[string]*start
}

// partitions cuts the history.
func (h *History) partitions() ([]*partition, error) {
	groups := newGroups()
	for _, op := range h.ops {
		if op.kind != reads {
			groups.row(op.key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(h.starts)) {
		groups.row(key)
	}
	h.ghosts(groups)
	if len(groups.rows) == 0 {
		return nil, ErrNothing
	}
	for _, op := range h.ops {
		if op.void {
			continue
		}
		identity, err := op.identity(h.machine)
		op.values = nil // so many of them are not kept
		if err != nil {
			return nil, err
		}
		if identity != "" {
			groups.tell(identity, op.key)
		}
	}
	parts := make([]*partition, len(groups.up))
	of := func(key string) *partition {
		row, ok := groups.rows[key]
		if !ok {
			return nil
		}
		root := groups.root(row)
		if parts[root] == nil {
			parts[root] = &partition{starts: map[string]*start{}}
		}
		return parts[root]
	}
	for _, key := range groups.keys {
		of(key).keys = append(of(key).keys, key)
	}
	for _, op := range h.ops {
		if p := of(op.key); p != nil {
			p.ops = append(p.ops, op)
		} else {
			h.strangers++
		}
	}
	for key, s := range h.starts {
		of(key).starts[key] = s
	}
	h.missing(of, groups.keys)
	parts = slices.DeleteFunc(parts, func(p *partition) bool { return p == nil })
	for _, p := range parts {
		if err := p.complete(h.machine, h.sweeps); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// ghosts adds the rows that nobody made: somebody looked at all, and found one that was
// neither created nor there before. Where the history has some rows from before, and
// does not say that these are all, it may be one more.
func (h *History) ghosts(g *groups) {
	if len(h.starts) > 0 && !h.all {
		return
	}
	for _, whole := range h.wholes {
		for _, op := range h.ops {
			if op.kind == reads && !op.seen.gone && op.from == whole.from {
				g.row(op.key)
			}
		}
	}
}

// missing adds that a row was not there when somebody looked at all.
func (h *History) missing(of func(string) *partition, keys []string) {
	for _, whole := range h.wholes {
		there := map[string]bool{}
		for _, op := range h.ops {
			if op.kind == reads && op.from == whole.from {
				there[op.key] = true
			}
		}
		for _, key := range keys {
			if !there[key] {
				p := of(key)
				p.ops = append(p.ops, &operation{kind: reads, key: key, interval: whole, seen: &seen{gone: true}})
			}
		}
	}
}

// complete adds what sweeps may have done, sorts, and sees to it that every row has a
// beginning.
func (p *partition) complete(m *model.Machine, unknown []*operation) error {
	for _, s := range unknown {
		for _, key := range p.keys {
			p.ops = append(p.ops, &operation{place: s.place, kind: sweeps, client: s.client, key: key, interval: s.interval})
		}
	}
	slices.SortStableFunc(p.ops, func(a, b *operation) int { return cmp.Compare(a.from, b.from) })
	created := map[string]bool{}
	for _, op := range p.ops {
		if op.kind == creates && !op.void {
			created[op.key] = true
		}
	}
	for _, op := range p.ops {
		s := p.starts[op.key]
		switch {
		case s != nil && op.from < s.at:
			return s.err("the row %s begins after it was called", op.key)
		case s == nil && !created[op.key] && op.told != nil && op.told.outcome != oracle.NotFound:
			return op.err("nothing says how the row %s began: record its creation, or the row as it was", op.key)
		}
	}
	return nil
}

// groups are rows that belong together.
type groups struct {
	rows  map[string]int
	keys  []string
	up    []int
	facts map[string]int // the row of which the fact was told first
}

func newGroups() *groups { return &groups{rows: map[string]int{}, facts: map[string]int{}} }

func (g *groups) row(key string) {
	if _, known := g.rows[key]; !known {
		g.rows[key] = len(g.up)
		g.keys = append(g.keys, key)
		g.up = append(g.up, len(g.up))
	}
}

// tell joins the row with the others of which the fact was told.
func (g *groups) tell(identity, key string) {
	row := g.root(g.rows[key])
	other, told := g.facts[identity]
	if !told {
		g.facts[identity] = row
		return
	}
	g.up[row] = g.root(other)
}

func (g *groups) root(row int) int {
	for g.up[row] != row {
		g.up[row] = g.up[g.up[row]]
		row = g.up[row]
	}
	return row
}
