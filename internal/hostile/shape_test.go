package hostile

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pawl-go/pawl/internal/pgparse"
)

// statement is one statement as PostgreSQL reads it.
type statement struct {
	kind string // of its node, as in SelectStmt
	// shape is the tree without places, whole is with its constants too. A function's
	// body is part of both.
	shape, whole string
	// inner are the statements in it and in the body that it has, itself the first.
	inner []string
	// writes are the tables that a part of it writes to, each with how.
	writes []string
	// relations and functions are the names of what is read and called.
	relations, functions map[string]bool
	tree                 *pg.Node
}

// statements reads a text.
func statements(t testing.TB, sql string) []statement {
	t.Helper()
	tree, err := pgparse.Parse(sql)
	require.NoError(t, err, "%s", sql)
	var all []statement
	for _, raw := range tree.GetStmts() {
		s := statement{relations: map[string]bool{}, functions: map[string]bool{}, tree: raw.GetStmt()}
		w := &walker{t: t, statement: &s}
		w.node(raw.GetStmt().ProtoReflect())
		s.kind = s.inner[0]
		from := int(raw.GetStmtLocation())
		to := len(sql)
		if n := int(raw.GetStmtLen()); n > 0 {
			to = from + n
		}
		w.body(raw.GetStmt(), sql[from:to])
		s.shape, s.whole = w.shape.String(), w.whole.String()
		all = append(all, s)
	}
	return all
}

// walker writes down a tree.
type walker struct {
	t            testing.TB
	shape, whole strings.Builder
	*statement
}

// both writes to shape and whole.
func (w *walker) both(text string) {
	w.shape.WriteString(text)
	w.whole.WriteString(text)
}

// constants are the fields whose texts are values, apart from A_Const.
var constants = map[protoreflect.FullName]bool{
	"pg_query.CreateTrigStmt.args": true, "pg_query.CreateEnumStmt.vals": true, "pg_query.AlterEnumStmt.new_val": true, "pg_query.AlterEnumStmt.old_val": true,
}

func (w *walker) node(m protoreflect.Message) {
	name := string(m.Descriptor().Name())
	w.both(name + "(")
	if name == "LockingClause" { // its names are those of aliases
		defer func(known map[string]bool) { w.relations = known }(maps.Clone(w.relations))
	}
	w.note(m)
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if !m.Has(f) || placed(f) {
			continue
		}
		if name == "A_Const" || constants[f.FullName()] || f.Name() == "arg" && name == "DefElem" && bodied(m) {
			var hidden walker
			hidden.t, hidden.statement = w.t, &statement{relations: map[string]bool{}, functions: map[string]bool{}}
			hidden.value(f, m.Get(f))
			w.whole.WriteString(hidden.whole.String())
			w.shape.WriteString("?")
			continue
		}
		w.value(f, m.Get(f))
	}
	w.both(")")
}

// placed reports whether a field says where something stands.
func placed(f protoreflect.FieldDescriptor) bool {
	name := string(f.Name())
	return strings.HasSuffix(name, "location") || name == "stmt_len" || strings.HasSuffix(name, "list_start") || strings.HasSuffix(name, "list_end")
}

// bodied reports whether a node is the text of a function.
func bodied(m protoreflect.Message) bool {
	e, ok := m.Interface().(*pg.DefElem)
	return ok && e.GetDefname() == "as"
}

func (w *walker) value(f protoreflect.FieldDescriptor, v protoreflect.Value) {
	w.both(string(f.Name()) + ":")
	switch {
	case f.IsList():
		for i := range v.List().Len() {
			w.single(f, v.List().Get(i))
		}
	default:
		w.single(f, v)
	}
}

func (w *walker) single(f protoreflect.FieldDescriptor, v protoreflect.Value) {
	switch f.Kind() {
	case protoreflect.MessageKind:
		w.node(v.Message())
	case protoreflect.StringKind:
		w.both(strconv.Quote(v.String()))
	default:
		w.both(fmt.Sprint(v.Interface()) + " ")
	}
}

// note collects what a node is.
func (w *walker) note(m protoreflect.Message) {
	if name := string(m.Descriptor().Name()); strings.HasSuffix(name, "Stmt") {
		w.inner = append(w.inner, name)
	}
	var target *pg.RangeVar
	how := ""
	switch n := m.Interface().(type) {
	case *pg.RangeVar:
		require.Empty(w.t, n.GetSchemaname()+n.GetCatalogname())
		w.relations[n.GetRelname()] = true
	case *pg.FuncCall:
		var names []string
		for _, part := range n.GetFuncname() {
			names = append(names, part.GetString_().GetSval())
		}
		w.functions[strings.Join(names, ".")] = true
	case *pg.InsertStmt:
		target, how = n.GetRelation(), "insert "
	case *pg.UpdateStmt:
		target, how = n.GetRelation(), "update "
	case *pg.DeleteStmt:
		target, how = n.GetRelation(), "delete "
	}
	if target != nil {
		w.writes = append(w.writes, how+target.GetRelname())
	}
}

// body reads what a function, a procedure or a block is made of.
func (w *walker) body(n *pg.Node, source string) {
	options := n.GetCreateFunctionStmt().GetOptions()
	if n.GetDoStmt() != nil {
		options = n.GetDoStmt().GetArgs()
	}
	for _, o := range options {
		e := o.GetDefElem()
		if e.GetDefname() != "as" {
			continue
		}
		text := e.GetArg().GetString_().GetSval()
		if items := e.GetArg().GetList().GetItems(); len(items) > 0 {
			text = items[0].GetString_().GetSval()
		}
		tree, err := pgparse.PLpgSQL(source, text)
		require.NoError(w.t, err, "%s", source)
		var read any
		require.NoError(w.t, json.Unmarshal([]byte(tree), &read))
		w.program(read)
	}
}

// program writes down a body in PL/pgSQL, with the statements in it.
func (w *walker) program(tree any) {
	switch tree := tree.(type) {
	case []any:
		for _, item := range tree {
			w.program(item)
		}
	case map[string]any:
		if query, ok := tree["query"].(string); ok {
			mode, _ := tree["parseMode"].(float64)
			w.query(query, int(mode))
			return
		}
		for _, key := range slices.Sorted(maps.Keys(tree)) {
			if message, ok := tree[key].(string); ok && key == "message" {
				w.both(strconv.Quote(message))
			}
			w.both(key + " ")
			w.program(tree[key])
		}
	}
}

func (w *walker) query(sql string, mode int) {
	switch {
	case mode == 2:
		sql = "SELECT " + sql
	case mode > 2:
		_, value, ok := strings.Cut(sql, ":=")
		require.True(w.t, ok, sql)
		sql = "SELECT " + value
	}
	read := statements(w.t, sql)
	require.Len(w.t, read, 1, sql)
	w.shape.WriteString(read[0].shape)
	w.whole.WriteString(read[0].whole)
	w.inner = append(w.inner, read[0].inner...)
	w.writes = append(w.writes, read[0].writes...)
	maps.Copy(w.relations, read[0].relations)
	maps.Copy(w.functions, read[0].functions)
}

// shapes are those of all statements, with their constants where whole is set.
func shapes(all []statement, whole bool) []string {
	var out []string
	for _, s := range all {
		if whole {
			out = append(out, s.whole)
		} else {
			out = append(out, s.shape)
		}
	}
	return out
}
