package randommachine

import (
	"fmt"
	"strings"
)

// waived are the rules that forbid what is often a slip, and here is drawn: that the
// order of two guards decides, or that a retry counts twice.
const waived = `waive: {FSM064: "the order decides", FSM046: "a retry counts twice"}`

// text writes the definition.
func (d *drawing) text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("machine: %s", word(d.machine))
	line("%s", waived)
	if len(d.createEmit) > 0 {
		line("create: {emit: %s}", words(d.createEmit))
	}
	line("table:")
	line("  name: %s", word(d.name))
	var keys []string
	for _, k := range d.keys {
		keys = append(keys, mapping("column: "+word(k.Name), "type: "+word(k.typ)))
	}
	line("  key: [%s]", strings.Join(keys, ", "))
	d.ownText(line)
	if d.history != "" {
		line("  history: %s", d.history)
	}
	line("  columns:")
	for _, c := range d.columns {
		line("    %s: %s", word(c.Name), c.text())
	}
	line("states:")
	for i, s := range d.all {
		line("  %s: %s", word(s.name), s.text(i == 0, d.storage == 2))
	}
	line("events:")
	for _, e := range d.ev {
		line("  %s: %s", word(e.name), e.text())
	}
	d.transitions(line)
	return b.String()
}

func (d *drawing) ownText(line func(string, ...any)) {
	status := []string{"column: " + word(d.own.status)}
	switch d.storage {
	case 1:
		status = append(status, "enum: "+word("kind_of_"+d.machine))
	case 2:
		status = append(status, "type: smallint")
	}
	line("  status: %s", mapping(status...))
	line("  version: %s", word(d.own.version))
	line("  deadline: %s", mapping("at: "+word(d.own.deadline), "runs: "+word(d.own.runs)))
}

func (c column) text() string {
	parts := []string{"type: " + word(c.typ)}
	if c.Optional {
		parts = append(parts, "optional: true")
	}
	if c.preset != "" {
		parts = append(parts, "default: "+word(c.preset))
	}
	if c.check != "" {
		parts = append(parts, "check: "+word(c.check))
	}
	return mapping(parts...)
}

func (s state) text(initial, coded bool) string {
	var parts []string
	if initial {
		parts = append(parts, "initial: true")
	}
	if s.final {
		parts = append(parts, "final: true")
	}
	if s.resting {
		parts = append(parts, "resting: true")
	}
	if coded {
		parts = append(parts, fmt.Sprintf("code: %d", s.code))
	}
	if s.deadline != "" {
		parts = append(parts, "deadline: "+mapping(s.deadline))
	}
	return mapping(parts...)
}

func (e event) text() string {
	var parts []string
	if e.callback {
		parts = append(parts, "source: callback")
	}
	if len(e.params) > 0 {
		var params []string
		for _, p := range e.params {
			params = append(params, word(p.Name)+": "+p.text())
		}
		parts = append(parts, "params: "+mapping(params...))
	}
	if len(e.identity) > 0 {
		parts = append(parts, "identity: "+words(e.identity))
	}
	if len(e.fingerprint) > 0 {
		parts = append(parts, "fingerprint: "+words(e.fingerprint))
	}
	if e.expect {
		parts = append(parts, "expect: version")
	}
	if len(e.otherwise) > 0 {
		parts = append(parts, "otherwise: "+mapping(e.otherwise...))
	}
	return mapping(parts...)
}

func (d *drawing) transitions(line func(string, ...any)) {
	head := "transitions:"
	for _, e := range d.ev {
		for _, m := range e.moves {
			if head != "" {
				line("%s", head)
				head = ""
			}
			var from []string
			for _, i := range m.from {
				from = append(from, d.all[i].name)
			}
			parts := []string{"event: " + word(e.name), "from: " + words(from), "to: " + word(d.all[m.to].name)}
			if m.guard != "" {
				parts = append(parts, "guard: "+mapping("sql: "+word(m.guard)))
			}
			if len(m.set) > 0 {
				var sets []string
				for _, s := range m.set {
					sets = append(sets, word(s[0])+": "+word(s[1]))
				}
				parts = append(parts, "set: "+mapping(sets...))
			}
			if len(m.emit) > 0 {
				parts = append(parts, "emit: "+words(m.emit))
			}
			line("  - %s", mapping(parts...))
		}
	}
}
