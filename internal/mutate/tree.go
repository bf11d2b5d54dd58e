package mutate

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pawl-go/pawl/internal/pgparse"
)

// node is one node of a statement's tree with its place in the text. The
// parser's own wrappers (Node, List) are left out.
type node struct {
	// kind is the parser's name: SelectStmt, A_Expr.
	kind string
	// role is the field of the parent that holds the node: whereClause, args.
	role   string
	msg    protoreflect.Message
	parent *node
	kids   []*node
	// lo and hi are the node's bytes in the text; lo is -1 for a node that has none.
	lo, hi int
}

// text is the text of one statement, its tokens and its tree.
type text struct {
	sql    string
	tokens []token
	roots  []*node
}

type token struct {
	kind   pg.Token
	lo, hi int
}

// read parses a text. The error is the parser's.
func read(sql string) (*text, error) {
	tree, err := pgparse.Parse(sql)
	if err != nil {
		return nil, err
	}
	scanned, err := pgparse.Scan(sql)
	if err != nil {
		return nil, err
	}
	t := &text{sql: sql}
	for _, k := range scanned.GetTokens() {
		if k.GetToken() == pg.Token_SQL_COMMENT || k.GetToken() == pg.Token_C_COMMENT {
			continue
		}
		t.tokens = append(t.tokens, token{k.GetToken(), int(k.GetStart()), int(k.GetEnd())})
	}
	for _, s := range tree.GetStmts() {
		roots := t.grow(s.GetStmt().ProtoReflect(), "", nil)
		for _, r := range roots {
			t.whole(r, int(s.GetStmtLocation()), int(s.GetStmtLen()))
		}
		t.roots = append(t.roots, roots...)
	}
	return t, nil
}

// grow makes the nodes of a message: one, or those below a wrapper.
func (t *text) grow(m protoreflect.Message, role string, parent *node) []*node {
	kind := string(m.Descriptor().Name())
	wrapper := kind == "Node" || kind == "List"
	n := &node{kind: kind, role: role, msg: m, parent: parent, lo: -1}
	under := n
	if wrapper {
		under = parent
	}
	var kids []*node
	fields := m.Descriptor().Fields() // in the order of the parser's declaration
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.Kind() != protoreflect.MessageKind || !m.Has(f) {
			continue
		}
		name := string(f.Name())
		if wrapper {
			name = role
		}
		if f.IsList() {
			list := m.Get(f).List()
			for j := range list.Len() {
				kids = append(kids, t.grow(list.Get(j).Message(), name, under)...)
			}
			continue
		}
		kids = append(kids, t.grow(m.Get(f).Message(), name, under)...)
	}
	if wrapper {
		return kids
	}
	n.kids = kids
	t.place(n)
	return []*node{n}
}

// walk calls visit for the node and all below it, parents first.
func (n *node) walk(visit func(*node)) {
	visit(n)
	for _, k := range n.kids {
		k.walk(visit)
	}
}

// all returns the node's kids of a role, in order.
func (n *node) all(role string) []*node {
	var out []*node
	for _, k := range n.kids {
		if k.role == role {
			out = append(out, k)
		}
	}
	return out
}

// one returns the node's first kid of a role, or nil.
func (n *node) one(role string) *node {
	for _, k := range n.kids {
		if k.role == role {
			return k
		}
	}
	return nil
}

// above returns the nearest node over n that is of the kind, or nil.
func (n *node) above(kind string) *node {
	for p := n.parent; p != nil; p = p.parent {
		if p.kind == kind {
			return p
		}
	}
	return nil
}

// str returns a field of the message as text: a string, or an enum's name;
// empty when there is no such field.
func (n *node) str(field string) string {
	f := n.msg.Descriptor().Fields().ByName(protoreflect.Name(field))
	switch {
	case f == nil || f.IsList():
		return ""
	case f.Kind() == protoreflect.StringKind:
		return n.msg.Get(f).String()
	case f.Kind() == protoreflect.EnumKind:
		if v := f.Enum().Values().ByNumber(n.msg.Get(f).Enum()); v != nil {
			return string(v.Name())
		}
	}
	return ""
}

// names returns the strings of a list of names: a column's, an operator's.
func (n *node) names(role string) []string {
	var out []string
	for _, k := range n.all(role) {
		out = append(out, k.str("sval"))
	}
	return out
}

// constant returns the text of a string constant.
func (n *node) constant() (string, bool) {
	if n.kind != "A_Const" {
		return "", false
	}
	s := n.one("sval")
	if s == nil {
		return "", false
	}
	return s.str("sval"), true
}

// column returns the qualifier and the name of a column: o, status.
func (n *node) column() (qualifier, name string) {
	if n.kind != "ColumnRef" {
		return "", ""
	}
	switch f := n.names("fields"); len(f) {
	case 2:
		return f[0], f[1]
	case 1:
		return "", f[0]
	}
	return "", ""
}

// operator returns the operator of an expression, empty for another node.
func (n *node) operator() string {
	if n.kind != "A_Expr" || n.str("kind") != "AEXPR_OP" {
		return ""
	}
	if names := n.names("name"); len(names) == 1 {
		return names[0]
	}
	return ""
}

// param reports whether the node is a parameter of sqlc, its cast included:
// @name::type or sqlc.narg('name')::type.
func (n *node) param() bool {
	switch n.kind {
	case "A_Expr":
		return n.operator() == "@"
	case "TypeCast":
		arg := n.one("arg")
		return arg != nil && arg.sqlc()
	}
	return n.sqlc()
}

// sqlc reports whether the node is a call of sqlc's own.
func (n *node) sqlc() bool {
	f := n.names("funcname")
	return n.kind == "FuncCall" && len(f) == 2 && f[0] == "sqlc"
}
