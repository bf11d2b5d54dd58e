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

// row is what a FROM clause calls a row; columns are nil for those of a table,
// which the text does not tell.
type row struct {
	alias   string
	columns []string
}

func (r row) has(column string) bool { return r.columns == nil || slices.Contains(r.columns, column) }

// sight returns the rows that a node can name, inner ones first.
func (p *place) sight(n *node) []row {
	var out []row
	for over := n.parent; over != nil; over = over.parent {
		switch over.kind {
		case "SelectStmt", "UpdateStmt", "DeleteStmt":
			for _, k := range slices.Concat(over.all("relation"), over.all("from_clause")) {
				out = append(out, p.rows(k)...)
			}
		case "CommonTableExpr":
			return out
		}
	}
	return out
}

// rows returns what an item of a FROM clause calls its rows.
func (p *place) rows(n *node) []row {
	if n.kind == "JoinExpr" {
		return slices.Concat(p.rows(n.one("larg")), p.rows(n.one("rarg")))
	}
	r := row{alias: n.str("relname")}
	if a := n.one("alias"); a != nil {
		r.alias = a.str("aliasname")
	}
	if part := p.cte(n.str("relname")); part != nil {
		r.columns = columns(part.one("ctequery"))
	} else if n.kind == "RangeSubselect" {
		r.columns = columns(n.one("subquery"))
	}
	return []row{r}
}

// columns returns the names of what a statement returns, none for nothing.
func columns(n *node) []string {
	role := "returning_list"
	if n.kind == "SelectStmt" {
		role = "target_list"
	}
	names := []string{}
	for _, item := range n.all(role) {
		name := item.str("name")
		if v := item.one("val"); name == "" && v != nil {
			_, name = v.column()
		}
		names = append(names, name)
	}
	return names
}

// otherRow leaves alone what is the same in every row in sight: the key, and the
// columns that the statement does not set.
func otherRow(p *place, n *node, add func(...edit)) {
	qualifier, name := n.column()
	if qualifier == "" || !p.moving(name) {
		return
	}
	for _, r := range p.sight(n) {
		if r.alias != qualifier && r.has(name) {
			add(edit{n.lo, n.hi, r.alias + "." + name})
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
		if p.value(list[i-1]) != p.value(list[i]) {
			add(p.swap(list[i-1], list[i])...)
		}
	}
}

// value is an item's text without its name.
func (p *place) value(n *node) string {
	if v := n.one("val"); v != nil && v.lo >= 0 {
		return p.of(v)
	}
	return p.of(n)
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
