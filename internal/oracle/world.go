package oracle

import (
	"maps"
	"slices"
)

// World is all rows and facts of a machine.
type World struct {
	rows  map[string]Row
	facts map[string]Fact
}

// Row returns a row, and whether it is there.
func (w World) Row(key string) (Row, bool) {
	r, ok := w.rows[key]
	return r, ok
}

// Facts returns how many facts a row has.
func (w World) Facts(key string) (n int) {
	for _, f := range w.facts {
		if f.Key == key {
			n++
		}
	}
	return n
}

// Fact returns the fact of an identity, and whether it is known.
func (w World) Fact(event, identity string) (Fact, bool) {
	f, ok := w.facts[factKey(event, identity)]
	return f, ok
}

// With returns a world with the row as given, whatever it was before.
func (w World) With(key string, r Row) World {
	next := World{maps.Clone(w.rows), w.facts}
	if next.rows == nil {
		next.rows = map[string]Row{}
	}
	next.rows[key] = r
	return next
}

// Knowing returns a world that knows the fact, told before. Its identity is text as
// [Identity] makes it.
func (w World) Knowing(event, identity string, f Fact) World {
	return w.fact(factKey(event, identity), f)
}

// fact is the world with one fact more.
func (w World) fact(identity string, f Fact) World {
	next := World{w.rows, maps.Clone(w.facts)}
	if next.facts == nil {
		next.facts = map[string]Fact{}
	}
	next.facts[identity] = f
	return next
}

// Same reports whether two worlds are one.
func (w World) Same(v World) bool {
	return maps.EqualFunc(w.rows, v.rows, func(a, b Row) bool {
		return a.State == b.State && a.Version == b.Version && a.Runs == b.Runs && a.Due.Equal(b.Due) &&
			a.Made == b.Made && maps.Equal(a.Columns, b.Columns) && a.Past.same(b.Past)
	}) && maps.Equal(w.facts, v.facts)
}

// Keys are those of all rows, in order.
func (w World) Keys() []string { return slices.Sorted(maps.Keys(w.rows)) }
