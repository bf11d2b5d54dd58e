package mutate

import "slices"

// rowOperators break which row a value is taken from and which column it goes to.
var rowOperators = []Operator{
	{Name: "row-other", Describe: "takes a column from another row that is in sight", sites: otherRow},
	{Name: "column-other", Describe: "takes a column's twin: to_status for from_status", sites: twinColumn},
	{Name: "value-swap", Describe: "swaps two values of an answer or of a row that is inserted", sites: swapValues},
	{Name: "value-drop", Describe: "leaves a column out of a row that is inserted", sites: dropValue},
	{Name: "set-drop", Describe: "leaves a column out of SET", sites: dropSet},
	{Name: "set-null", Describe: "sets a column to NULL", sites: nullSet},
}

// sight returns the rows that a node can name, by alias, inner ones first.
func sight(n *node) []string {
	var out []string
	for p := n.parent; p != nil; p = p.parent {
		switch p.kind {
		case "SelectStmt", "UpdateStmt", "DeleteStmt":
			for _, k := range slices.Concat(p.all("relation"), p.all("from_clause")) {
				out = append(out, aliases(k)...)
			}
		case "CommonTableExpr":
			return out
		}
	}
	return out
}

// aliases returns what the items of a FROM clause are called.
func aliases(n *node) []string {
	if n.kind == "JoinExpr" {
		return slices.Concat(aliases(n.one("larg")), aliases(n.one("rarg")))
	}
	if a := n.one("alias"); a != nil {
		return []string{a.str("aliasname")}
	}
	if name := n.str("relname"); name != "" {
		return []string{name}
	}
	return nil
}

// otherRow leaves alone what is the same in every row in sight: the key, and the
// columns that the statement does not set.
func otherRow(p *place, n *node, add func(...edit)) {
	qualifier, name := n.column()
	if qualifier == "" || !p.moving(name) {
		return
	}
	for _, a := range sight(n) { // where there is no such column, it is no statement
		if a != qualifier {
			add(edit{n.lo, n.hi, a + "." + name})
		}
	}
}

// moving reports whether a column differs between the rows of a statement.
func (p *place) moving(column string) bool {
	for _, r := range p.roots {
		found := false
		r.walk(func(n *node) {
			found = found || n.kind == "UpdateStmt" && slices.ContainsFunc(n.all("target_list"), func(k *node) bool { return k.str("name") == column })
		})
		if found {
			return true
		}
	}
	return slices.Contains([]string{"event", "from_status", "to_status", "outcome", "fingerprint"}, column)
}

var twins = map[string]string{
	"from_status": "to_status", "to_status": "from_status",
	"fingerprint": "identity", "identity": "fingerprint",
	"deadline_at": "at", "actor": "reason", "reason": "request_id", "request_id": "actor",
}

func twinColumn(p *place, n *node, add func(...edit)) {
	qualifier, name := n.column()
	if twin, ok := twins[name]; ok && qualifier != "" && !renamed(n) {
		add(edit{n.lo, n.hi, qualifier + "." + twin})
	}
}

// renamed reports whether a column is read by its name from outside, so that
// another one in its place is no statement.
func renamed(n *node) bool {
	item := n.parent
	if item == nil || item.kind != "ResTarget" || item.str("name") != "" {
		return false
	}
	return item.role == "returning_list" || item.above("RangeSubselect") != nil || positional(item.parent) == nil
}

// positional returns the values of a select whose order says what they are: an
// answer's, which the caller scans, and those of INSERT. Else it returns nil.
func positional(n *node) []*node {
	if n.kind != "SelectStmt" {
		return nil
	}
	if n.role == "select_stmt" {
		return slices.Concat(n.all("target_list"), n.all("values_lists"))
	}
	for top := n; ; top = top.parent {
		if top.parent == nil {
			return n.all("target_list")
		}
		if top.role != "larg" && top.role != "rarg" {
			return nil
		}
	}
}

func swapValues(p *place, n *node, add func(...edit)) {
	list := positional(n)
	for i := 1; i < len(list); i++ {
		add(p.swap(list[i-1], list[i])...)
	}
}

func dropValue(p *place, n *node, add func(...edit)) {
	if n.kind != "InsertStmt" || n.one("select_stmt") == nil {
		return
	}
	columns, values := n.all("cols"), positional(n.one("select_stmt"))
	if len(columns) != len(values) || len(values) < 2 {
		return
	}
	for i := range columns {
		add(without(columns, i), without(values, i))
	}
}

func dropSet(_ *place, n *node, add func(...edit)) {
	if n.kind != "UpdateStmt" {
		return
	}
	if list := n.all("target_list"); len(list) > 1 {
		for i := range list {
			add(without(list, i))
		}
	}
}

func nullSet(p *place, n *node, add func(...edit)) {
	if n.kind != "UpdateStmt" {
		return
	}
	for _, item := range n.all("target_list") {
		if v := item.one("val"); v != nil && v.lo >= 0 {
			lo, hi := p.grouped(v)
			add(edit{lo, hi, "NULL"})
		}
	}
}
