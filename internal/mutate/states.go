package mutate

import "slices"

// stateOperators break which states a condition names and which state is gone to.
var stateOperators = []Operator{
	{Name: "state-drop", Describe: "leaves a state out of a condition", sites: dropState},
	{Name: "state-add", Describe: "lets a condition name one more state", sites: addState},
	{Name: "state-other", Describe: "puts another state in a state's place", sites: otherState},
	{Name: "cell-other", Describe: "decides one state's cell as another one, wherever the statement judges it", sites: otherCell},
}

// named returns the states that a comparison names, as nodes, or nil: status = 'PAID', status IN ('PAID').
func (p *place) named(n *node) []*node {
	if n.kind != "A_Expr" || n.str("kind") != "AEXPR_IN" && n.operator() != "=" {
		return nil
	}
	list := n.all("rexpr")
	for _, k := range list {
		if s, ok := k.constant(); !ok || !slices.Contains(p.words.states, s) {
			return nil
		}
	}
	return list
}

func dropState(p *place, n *node, add func(...edit)) {
	list := p.named(n)
	if len(list) == 1 {
		add(edit{n.lo, n.hi, "false"})
		return
	}
	for i := range list {
		add(without(list, i))
	}
}

func addState(p *place, n *node, add func(...edit)) {
	list := p.named(n)
	if len(list) == 0 {
		return
	}
	taken := p.earlier(n)
	for _, s := range p.words.states {
		if !slices.Contains(taken, s) && !slices.ContainsFunc(list, func(k *node) bool { c, _ := k.constant(); return c == s }) {
			add(p.more(n, list, s))
		}
	}
}

// earlier returns the states that earlier branches of a CASE have taken for
// good before a condition is asked, so that to name one more of them says nothing.
func (p *place) earlier(n *node) []string {
	when := n.above("CaseWhen")
	if when == nil {
		return nil
	}
	var taken []string
	for _, w := range when.parent.all("args") {
		if w == when {
			break
		}
		for _, k := range p.named(w.one("expr")) {
			s, _ := k.constant()
			taken = append(taken, s)
		}
	}
	return taken
}

// otherState takes each other state where the row's new one is set, and the next one elsewhere.
func otherState(p *place, n *node, add func(...edit)) {
	s, ok := n.constant()
	at := slices.Index(p.words.states, s)
	if !ok || at < 0 || len(p.words.states) < 2 {
		return
	}
	others := p.words.states[(at+1)%len(p.words.states):][:1]
	if p.target(n) {
		others = p.words.states
	}
	for _, o := range others {
		if o != s {
			add(edit{n.lo, n.hi, quote(o)})
		}
	}
}

// target reports whether a constant is a value of UPDATE's SET status.
func (p *place) target(n *node) bool {
	item := n.above("ResTarget")
	return item != nil && item.parent.kind == "UpdateStmt" && item.role == "target_list" && item.str("name") == "status"
}

// branch is one branch of the CASE that numbers a statement's cells.
type branch struct {
	cell string
	// condition names the states.
	condition *node
	states    []*node
}

// judges returns the branches of each CASE that numbers cells, with states.
func (p *place) judges() [][]branch {
	var out [][]branch
	for _, r := range p.roots {
		r.walk(func(n *node) {
			if item := n.above("ResTarget"); n.kind != "CaseExpr" || item == nil || item.str("name") != "fsm_cell" {
				return
			}
			var list []branch
			for _, w := range n.all("args") {
				c := w.one("expr")
				if c.kind == "BoolExpr" {
					c = c.one("args")
				}
				if states := p.named(c); states != nil {
					list = append(list, branch{p.of(w.one("result")), c, states})
				}
			}
			out = append(out, list)
		})
	}
	return out
}

// otherCell moves each state of a cell to each other cell, in every CASE alike:
// what a renderer does that has read the table wrong.
func otherCell(p *place, n *node, add func(...edit)) {
	if n.parent != nil || n.kind != "SelectStmt" {
		return
	}
	judges := p.judges()
	if len(judges) == 0 {
		return
	}
	all := judges[len(judges)-1] // the answer's, which knows all cells
	for _, from := range all {
		for _, s := range from.states {
			state, _ := s.constant()
			for _, to := range all {
				if to.cell != from.cell {
					add(p.move(judges, state, from.cell, to.cell)...)
				}
			}
		}
	}
}

// move are the edits that move a state from a cell to another.
func (p *place) move(judges [][]branch, state, from, to string) []edit {
	var edits []edit
	for _, judge := range judges {
		for _, b := range judge {
			at := slices.IndexFunc(b.states, func(k *node) bool { c, _ := k.constant(); return c == state })
			switch {
			case b.cell == from && len(b.states) == 1 && at == 0:
				edits = append(edits, edit{b.condition.lo, b.condition.hi, "false"})
			case b.cell == from && at >= 0:
				edits = append(edits, without(b.states, at))
			case b.cell == to && at < 0:
				edits = append(edits, p.more(b.condition, b.states, state))
			}
		}
	}
	return edits
}

// more is the edit that lets a condition name one more state.
func (p *place) more(condition *node, list []*node, state string) edit {
	if condition.operator() == "=" {
		return edit{condition.one("lexpr").hi, condition.hi, " IN (" + p.of(list[0]) + ", " + quote(state) + ")"}
	}
	last := list[len(list)-1]
	return edit{last.hi, last.hi, ", " + quote(state)}
}

// without is the edit that leaves item i out of a list of several.
func without(list []*node, i int) edit {
	if i == 0 {
		return edit{list[0].lo, list[1].lo, ""}
	}
	return edit{list[i-1].hi, list[i].hi, ""}
}

func quote(s string) string { return "'" + s + "'" }
