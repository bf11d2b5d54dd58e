// Package compare says in words what changed between two sets of machines, and
// what each change does to those who are not asked: programs of the old
// definitions that still run beside the new database, rows and facts that are
// there, Go callers of the generated package, and consumers of the outbox.
//
// It reads no file and asks no database: machines come checked, and how many
// rows stand in a state that goes is told to it (see [Report.Count]).
package compare

import (
	"slices"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// Level is a step of a semantic version.
type Level int

// The levels, the larger ones later.
const (
	None Level = iota
	Patch
	Minor
	Major
)

// String returns none, patch, minor or major.
func (l Level) String() string { return [...]string{"none", "patch", "minor", "major"}[l] }

// Side is who may be hit by a change.
type Side string

// The sides, in the order in which reasons name them.
const (
	// Programs are they, which run on beside the new
	// database and the new programs while a deployment lasts.
	Programs Side = "programs"
	// Rows are the rows, histories and facts that are there.
	Rows Side = "rows"
	// Callers are those who call the generated Go package.
	Callers Side = "callers"
	// Consumers read the outbox.
	Consumers Side = "consumers"
)

// Reason says what a change does to one side.
type Reason struct {
	Side Side
	// Breaks says that the side goes wrong, or must be changed before or with it.
	Breaks bool
	Text   string
}

// Change is one difference.
type Change struct {
	Machine string
	Kind    Kind
	// Path is the place in the definition, such as states.PAID.deadline.
	Path    string
	Text    string
	Reasons []Reason
	// Old and New are the places in the two files; the one where there is
	// nothing is zero.
	Old, New diag.Position
	// Gone is set for a state that goes while rows may stand in it.
	Gone *Gone

	level Level
}

// Safe reports whether no side breaks.
func (c *Change) Safe() bool {
	return !slices.ContainsFunc(c.Reasons, func(r Reason) bool { return r.Breaks })
}

// Semver returns what the change asks of the version: what Go callers see, and
// major for every change that is not safe.
func (c *Change) Semver() Level {
	if !c.Safe() {
		return Major
	}
	return c.level
}

// Report holds the changes in the order of the new definitions, what was
// removed at its old place.
type Report struct {
	Changes []*Change
}

// Semver returns the largest level of the changes, None without any.
func (r *Report) Semver() Level {
	level := None
	for _, c := range r.Changes {
		level = max(level, c.Semver())
	}
	return level
}

// Breaking returns how many changes are not safe.
func (r *Report) Breaking() int {
	n := 0
	for _, c := range r.Changes {
		if !c.Safe() {
			n++
		}
	}
	return n
}

// Machines compares two sets of checked machines, matched by their names. Equal
// sets, however they are written, give an empty report. It is safe for
// concurrent use, and neither changes nor keeps the machines.
func Machines(old, new []*model.Machine) *Report {
	r := &Report{}
	for _, p := range merged(old, new, func(o, n *model.Machine) bool { return o.Name == n.Name }) {
		d := &differ{report: r, old: p.old, new: p.new}
		switch {
		case p.old == nil:
			d.name = p.new.Name
			d.add(MachineAdded, "", diag.Position{}, p.new.Pos, Minor, "the machine is new", callers("package "+p.new.Package+" is new"))
		case p.new == nil:
			d.name = p.old.Name
			d.machineRemoved(new)
		default:
			d.name = p.new.Name
			d.machine()
		}
	}
	return r
}

// differ compares one machine with what it was.
type differ struct {
	report   *Report
	name     string
	old, new *model.Machine
	// former has for each state of new the state of old that it was, perhaps under another name.
	former map[*model.State]*model.State
}

func (d *differ) add(kind Kind, path string, old, new diag.Position, level Level, text string, reasons ...Reason) *Change {
	c := &Change{Machine: d.name, Kind: kind, Path: path, Text: text, Reasons: reasons, Old: old, New: new, level: level}
	slices.SortStableFunc(c.Reasons, func(a, b Reason) int { return place(a.Side) - place(b.Side) })
	d.report.Changes = append(d.report.Changes, c)
	return c
}

func place(s Side) int { return slices.Index([]Side{Programs, Rows, Callers, Consumers}, s) }

func programs(text string) Reason  { return Reason{Side: Programs, Text: text} }
func rows(text string) Reason      { return Reason{Side: Rows, Text: text} }
func callers(text string) Reason   { return Reason{Side: Callers, Text: text} }
func consumers(text string) Reason { return Reason{Side: Consumers, Text: text} }

func breaks(r Reason) Reason {
	r.Breaks = true
	return r
}

// pair holds what was and what is; one of them is nil for what is new or gone.
type pair[T any] struct{ old, new *T }

// merged pairs two lists: in the order of new, with what is only in old behind
// what it followed there.
func merged[T any](old, new []*T, same func(o, n *T) bool) []pair[T] {
	match := func(n *T) int { return slices.IndexFunc(old, func(o *T) bool { return same(o, n) }) }
	gone := make([]bool, len(old))
	for i, o := range old {
		gone[i] = !slices.ContainsFunc(new, func(n *T) bool { return same(o, n) })
	}
	var pairs []pair[T]
	after := func(i int) {
		for i++; i < len(old) && gone[i]; i++ {
			pairs = append(pairs, pair[T]{old: old[i]})
		}
	}
	after(-1)
	for _, n := range new {
		i := match(n)
		if i < 0 {
			pairs = append(pairs, pair[T]{new: n})
			continue
		}
		pairs = append(pairs, pair[T]{old: old[i], new: n})
		after(i)
	}
	return pairs
}
