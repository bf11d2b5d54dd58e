package check

import (
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/genfile"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

// exported returns the Go identifier of a name.
func (c *checker) exported(s *syntax.Scalar, what string) string {
	if strings.IndexFunc(s.Text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0 {
		c.errorf(s.Pos, CodeIdentifier, "%s %s has no letter or digit, so no Go name can be made of it", what, quote(s.Text))
		return ""
	}
	return genfile.Exported(s.Text)
}

// generated are the names that every generated package declares itself.
var generated = map[string]bool{
	"Create": true, "Correct": true, "Get": true, "History": true, "Then": true, "Sweep": true, "Sweeps": true, "States": true,
	"Events": true, "Allowed": true, "Next": true, "Key": true, "Row": true, "Result": true, "State": true, "Event": true,
	"Machine": true, "Entry": true, "Swept": true, "CreateParams": true, "Initial": true,
	"BatchResult": true, "LockRows": true, "HeldRows": true,
}

// adopted is what the history says of a row that was there before its machine.
const adopted = "adopted"

// idents finds names that give one Go identifier.
type idents struct {
	c     *checker
	what  string
	taken map[string]string
}

func (i *idents) take(pos diag.Position, name, ident string) {
	if ident == "" {
		return
	}
	if other, ok := i.taken[ident]; ok {
		i.c.errorf(pos, CodeIdentifier, "%s %s would be called %s in Go, as %s is; rename one", i.what, quote(name), ident, other)
		return
	}
	i.taken[ident] = quote(name)
}

// identifiers checks that no two Go names of the generated package are equal.
func (c *checker) identifiers() {
	m := c.machine
	states := idents{c, "state", make(map[string]string)}
	constants := make(map[string]string)
	for _, s := range m.States {
		states.take(s.Pos, s.Name, s.Ident)
		constants["State"+s.Ident] = "the constant of state " + quote(s.Name)
	}
	events := idents{c, "event", make(map[string]string)}
	for _, e := range m.Events {
		events.take(e.Pos, e.Name, e.Ident)
		constants["Event"+e.Ident] = "the constant of event " + quote(e.Name)
	}
	for _, e := range m.Events {
		for _, own := range []struct{ suffix, what string }{
			{"Params", "the parameters of event "}, {"Item", "an item of the batch of event "}, {"Batch", "the batch of event "},
		} {
			if other, ok := events.taken[strings.TrimSuffix(e.Ident, own.suffix)]; ok && strings.HasSuffix(e.Ident, own.suffix) {
				constants[e.Ident] = own.what + other
			}
		}
	}
	for _, e := range m.Events {
		switch what, taken := constants[e.Ident]; {
		case e.Ident == "" || !c.hasTable: // without a table there are no calls, only constants
		case generated[e.Ident], e.Name == adopted, e.Ident == "KeepHistory" && m.Table.History != nil:
			c.errorf(e.Pos, CodeReserved, "event name %s is reserved: the generated package or the history uses %s itself; choose another", quote(e.Name), e.Ident)
		case taken:
			c.errorf(e.Pos, CodeIdentifier, "event %s would be called %s in Go, as %s is; rename it", quote(e.Name), e.Ident, what)
		}
		params := idents{c, "parameter", make(map[string]string)}
		for _, p := range e.Params {
			params.take(p.Pos, p.Name, p.Ident)
		}
	}
	c.innerNames()
	c.mapNames(constants, events.taken)
	c.sweepNames()
	c.columnIdents(m.Table)
}

// innerNames checks the names that the generated package has for itself: those
// of the calls, and of the sweeps, with a small first letter. Two capitals may
// have one small letter, as I and the dotted one of Turkish.
func (c *checker) innerNames() {
	if !c.hasTable {
		return
	}
	taken := make(map[string]*model.Event)
	for _, swept := range c.machine.DeadlineEvents() {
		if swept.Ident != "" {
			taken["sweep"+swept.Ident] = swept
		}
	}
	for _, e := range c.machine.Events {
		if e.Ident == "" {
			continue
		}
		name := genfile.Small(e.Ident) + "Info"
		other, ok := taken[name]
		switch {
		case !ok:
			taken[name] = e
		case other.Ident != e.Ident: // those that are equal have been reported
			c.errorf(e.Pos, CodeIdentifier, "event %s would have the name %s inside the Go package, as event %s has; rename one", quote(e.Name), name, quote(other.Name))
		}
	}
}

// mapNames checks what is generated for maps: for alipay the functions
// AlipayEvent and AlipayWords, and for all of them the constant Kept.
func (c *checker) mapNames(constants, calls map[string]string) {
	for _, m := range c.machine.Maps {
		for _, name := range []string{m.Ident + "Event", m.Ident + "Words"} {
			what, taken := constants[name]
			if !taken && c.hasTable {
				what, taken = calls[name]
				what = "the call of event " + what
			}
			switch {
			case taken:
				c.errorf(m.Pos, CodeIdentifier, "map %s would have a function called %s in Go, as %s is; rename the map", quote(m.Name), name, what)
			case generated[name]:
				c.errorf(m.Pos, CodeReserved, "map name %s is reserved: the generated package declares %s itself; choose another", quote(m.Name), name)
			}
		}
	}
	for _, e := range c.machine.Events {
		if e.Ident == "Kept" && len(c.machine.Maps) > 0 && c.hasTable {
			c.errorf(e.Pos, CodeReserved, "event name %s is reserved in a machine with maps: the generated package declares Kept itself; choose another", quote(e.Name))
		}
	}
}

func (c *checker) columnIdents(t *model.Table) {
	if t == nil {
		return
	}
	columns := idents{c, "column", make(map[string]string)}
	for _, own := range []string{model.StatusColumn, model.VersionColumn, model.DeadlineColumn, model.DeadlineRunsColumn} {
		columns.taken[genfile.Exported(own)] = "the machine's own " + quote(own)
	}
	for _, key := range t.Keys {
		if !slices.Contains(t.Own(), key.Name) && key.Name != model.VersionColumn {
			columns.take(key.Pos, key.Name, key.Ident)
		}
	}
	if _, taken := columns.taken["Key"]; !taken {
		columns.taken["Key"] = "the key of CreateParams"
	}
	for _, column := range t.Columns {
		columns.take(column.Pos, column.Name, column.Ident)
	}
}
