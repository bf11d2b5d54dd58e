package compare

import (
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// machine compares in the order in which a definition is read.
func (d *differ) machine() {
	o, n := d.old, d.new
	d.former = d.formerStates()
	d.words(MachineDescribe, MachineOwner, MachineTags, "", "the machine", o.Pos, n.Pos, o.Describe, n.Describe, o.Owner, n.Owner, o.Tags, n.Tags)
	d.table()
	d.emits("create.emit", "the creation of a row", o.Pos, n.Pos, o.CreateEmit, n.CreateEmit)
	d.states()
	d.guards()
	d.events()
	d.maps()
}

func (d *differ) machineRemoved(new []*model.Machine) {
	reasons := []Reason{
		programs("they run on until they are stopped"),
		breaks(callers("package " + d.old.Package + " is gone")),
	}
	if t := d.old.Table; t != nil {
		text := "those of " + t.Name + " stay where they stand: no new program moves them"
		for _, n := range new {
			if n.Table != nil && n.Table.Name == t.Name {
				text = "machine " + n.Name + " has the table " + t.Name + " now, but history and facts are kept by the machine's name and do not follow; " + byHand
			}
		}
		reasons = append(reasons, breaks(rows(text)))
	}
	if d.old.Emits() {
		reasons = append(reasons, breaks(consumers("nothing of this machine comes any more: "+list(topicsOf(d.old)))))
	}
	d.add(MachineRemoved, "", d.old.Pos, diag.Position{}, Major, "the machine is removed", reasons...)
}

// topicsOf returns what the machine emits, each topic once, in order.
func topicsOf(m *model.Machine) []string {
	topics := slices.Clone(m.CreateEmit)
	for _, t := range m.Transitions {
		topics = append(topics, t.Emit...)
	}
	for _, e := range m.Events {
		for _, c := range e.Cells {
			topics = append(topics, c.Emit...)
		}
	}
	return unique(topics)
}

func unique(texts []string) []string {
	var once []string
	for _, t := range texts {
		if !slices.Contains(once, t) {
			once = append(once, t)
		}
	}
	return once
}

// without returns what is in a and not in b, each once, in order.
func without(a, b []string) []string {
	var rest []string
	for _, t := range unique(a) {
		if !slices.Contains(b, t) {
			rest = append(rest, t)
		}
	}
	return rest
}

// calls reports whether both machines have SQL, and so calls.
func (d *differ) calls() bool { return d.old.Table != nil && d.new.Table != nil }

// words compares what is for people alone.
func (d *differ) words(describe, owner, tags Kind, path, what string, op, np diag.Position, od, nd, oo, no string, ot, nt []string) {
	at := func(key string) string {
		if path == "" {
			return key
		}
		return path + "." + key
	}
	if od != nd {
		d.add(describe, at("describe"), op, np, Patch, what+" is described anew")
	}
	if oo != no {
		d.add(owner, at("owner"), op, np, Patch, what+" has another owner: was "+none(oo)+", is "+none(no))
	}
	if len(without(ot, nt))+len(without(nt, ot)) > 0 {
		d.add(tags, at("tags"), op, np, Patch, what+" has other tags: were "+none(list(ot))+", are "+none(list(nt)))
	}
}

func (d *differ) labels(kind Kind, path, what string, op, np diag.Position, ol, nl []model.Label) {
	sorted := func(labels []model.Label) []model.Label {
		s := slices.Clone(labels)
		if len(s) > 1 { // the first one speaks for languages without a label
			slices.SortFunc(s[1:], func(a, b model.Label) int { return strings.Compare(a.Lang, b.Lang) })
		}
		return s
	}
	if !slices.Equal(sorted(ol), sorted(nl)) {
		d.add(kind, path+".label", op, np, Patch, what+" has other labels")
	}
}

func none(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func list(texts []string) string { return strings.Join(texts, ", ") }

// and joins texts as people do.
func and(texts []string) string {
	if len(texts) < 2 {
		return list(texts)
	}
	return list(texts[:len(texts)-1]) + " and " + texts[len(texts)-1]
}
