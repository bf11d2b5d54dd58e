// Package check turns the tree of one definition into a checked machine, or
// says what is wrong with it: every problem of a file in one run, each at the
// key, the value or the character of SQL that it is about.
//
// It knows the language of definitions and gives meaning to names. Reading
// YAML it leaves to internal/syntax, reading SQL to internal/sqlexpr; it
// renders nothing and reads no file.
package check

import (
	"slices"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

// Run checks one definition. It adds every problem to problems and returns the
// machine, or nil when an error left something out of it; warnings do not, nor do
// errors of rules that can be waived, which judge a machine that is all there. A
// nil file, which internal/syntax gives after it reported why, is nil without a
// further problem. Run never panics; calls with different lists may run
// concurrently.
func Run(file *syntax.Node, problems *diag.List) *model.Machine {
	if file == nil {
		return nil
	}
	c := &checker{
		problems: &diag.List{},
		machine:  &model.Machine{Source: file.Pos.File, Pos: file.Pos},
		hints:    make(map[unknownName]string),
		compare:  maxCompared,
		read:     make(map[fragment]reading),
		further:  make(map[diag.Problem][]diag.Position),
	}
	whole := c.definition(file)
	problems.Append(c.problems)
	if !whole || c.incomplete() {
		return nil
	}
	return c.machine
}

// incomplete reports whether an error says more than a judgement.
func (c *checker) incomplete() bool {
	return slices.ContainsFunc(c.problems.Sorted(), func(p diag.Problem) bool {
		return p.Severity == diag.Error && !waivable[p.Code]
	})
}

// definition reads the whole file. It returns false when the rest could not be
// looked at.
func (c *checker) definition(file *syntax.Node) bool {
	top := c.mapping(file, "a definition")
	if top == nil {
		return false
	}
	c.keys(top, "definition")
	c.header(top)
	c.table(top)
	c.states(top)
	c.codes()
	c.holdings()
	for _, later := range c.columnSQL {
		later()
	}
	c.guards(top)
	c.events(top)
	if c.tooLarge(top) {
		return false
	}
	c.transitions(top)
	c.maps(top)
	c.formerNames()
	c.enumLabels()
	c.decisions()
	c.exclusive()
	c.facts()
	c.deadlines()
	c.graph()
	c.identifiers()
	c.usage()
	c.waivers(top)
	return true
}

// checker gathers one machine and what is wrong with it.
type checker struct {
	problems *diag.List
	machine  *model.Machine

	// hasTable says that the definition has a table, usable or not.
	hasTable bool
	// gaps says that a transition or its SQL was dropped after an error, so that
	// what seems to be unused or out of reach may not be.
	gaps bool
	// statesKnown and eventsKnown say that a list of them was read, so that a
	// name that is not in it is worth a problem of its own.
	statesKnown, eventsKnown bool
	// stateOf and eventOf find by name, which a large machine does often.
	stateOf map[string]*model.State
	eventOf map[string]*eventDecl
	// stateNames and eventNames are what may have been meant by others.
	stateNames, eventNames []string
	// hints are the ends of messages about unknown names, each found once, and
	// compare is how many more names may be compared to find one.
	hints   map[unknownName]string
	compare int
	// columnSQL reads the defaults and checks of columns, which may name columns
	// that are declared after them, and states.
	columnSQL []func()
	// held is what the status column may hold, nil where that is not known.
	held []string
	// read is the SQL that was read before.
	read map[fragment]reading

	// further has, of problems that concern several parts, the places of the
	// others, where a waiver counts as well.
	further map[diag.Problem][]diag.Position

	guardDecls []*guardDecl
	eventDecls []*eventDecl
	stateDecls []*stateDecl
	transDecls []*transDecl
}

func (c *checker) errorf(pos diag.Position, code diag.Code, format string, args ...any) {
	c.problems.Addf(pos, code, diag.Error, format, args...)
}

func (c *checker) warnf(pos diag.Position, code diag.Code, format string, args ...any) {
	c.problems.Addf(pos, code, diag.Warning, format, args...)
}

// unknown reports a name that nothing declares, with the name that was
// probably meant.
func (c *checker) unknown(pos diag.Position, what, name string, known []string) {
	c.errorf(pos, CodeUnknownName, "%s %s is not declared%s", what, quote(name), c.hint(what, name, known))
}

// hint ends a message about an unknown name with the one that was probably
// meant.
func (c *checker) hint(what, name string, known []string) string {
	asked := unknownName{what, name}
	hint, found := c.hints[asked]
	if !found && c.compare >= len(known) {
		c.compare -= len(known)
		hint = meant(name, known)
		c.hints[asked] = hint
	}
	return hint
}

// unknownName is a name that a kind of thing does not have.
type unknownName struct{ what, name string }

// maxCompared bounds the search for suggestions: a thousand names may each be
// told from a thousand others, and nobody reads more.
const maxCompared = 1_000_000

// meant ends a message with a suggestion where there is one.
func meant(name string, known []string) string {
	if near := diag.Nearest(name, known); near != "" {
		return "; did you mean " + quote(near) + "?"
	}
	return ""
}

// header reads what the machine is called.
func (c *checker) header(top *syntax.Mapping) {
	m := c.machine
	entry, ok := top.Entry("machine")
	if !ok {
		c.errorf(top.Pos, CodeMissing, "key \"machine\" is missing; name the machine, as in machine: order")
	} else if name := c.nameValue(entry.Value, "the machine's name"); name != nil {
		m.Name, m.Pos = name.Text, name.Pos
		c.machineName(name)
	}
	m.Describe = c.describe(top)
	m.Owner, m.Tags = c.owner(top), c.tags(top)
	if create, ok := top.Entry("create"); ok && !create.Value.IsNull() {
		if fields := c.mapping(create.Value, "\"create\""); fields != nil {
			c.keys(fields, "create")
			m.CreateEmit = c.topics(fields.Get("emit"))
		}
	}
}

const (
	maxStates = 2000
	maxEvents = 1000
	// maxCells bounds the work and the output of one machine.
	maxCells       = 250_000
	maxTransitions = 20_000
)

// tooLarge refuses a machine that nobody could read and that would take the
// generator very long.
func (c *checker) tooLarge(top *syntax.Mapping) bool {
	states, events := len(c.machine.States), len(c.machine.Events)
	transitions := 0
	if list := top.Get("transitions").AsSequence(); list != nil {
		transitions = len(list.Items)
	}
	if states <= maxStates && events <= maxEvents && states*events <= maxCells && transitions <= maxTransitions {
		return false
	}
	c.errorf(c.machine.Pos, CodeTooLarge, "this machine has %d states, %d events and %d transitions; at most %d, %d and %d are read, and %d cells; split it into several machines",
		states, events, transitions, maxStates, maxEvents, maxTransitions, maxCells)
	return true
}
