package check

import (
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlexpr"
	"github.com/pawl-go/pawl/internal/syntax"
)

// role is what a fragment is for; it decides how an unknown name is explained.
type role int

const (
	roleGuard role = iota
	roleSet
	roleDefault
	roleCheck
	roleParamCheck
)

// use says what one fragment is for and what it may name.
type use struct {
	what  string
	role  role
	event *model.Event
	// columns says that the guarded row may be read.
	columns bool
	clock   bool
	// anyParam says that the parameters are not known.
	anyParam bool
	want     sqlexpr.Want
}

// sql reads a fragment, reports what is wrong with it at the very character,
// and returns it resolved, or nil.
func (c *checker) sql(n *syntax.Node, u use) *model.Expr {
	s := n.AsScalar()
	if s == nil || n.IsNull() {
		c.wrongKind(n, u.what, "an SQL expression")
		return nil
	}
	scope := sqlexpr.Scope{Clock: u.clock, Want: u.want}
	if u.columns {
		scope.Columns = c.columnFields()
	}
	if u.event != nil {
		for _, p := range u.event.Params {
			scope.Params = append(scope.Params, sqlexpr.Field{Name: p.Name, Type: p.Type.SQL, Category: category(p.Type)})
		}
	}
	parts, issues := c.parse(s.Text, u, scope)
	for _, issue := range issues {
		if issue.Kind == sqlexpr.UnknownParam && u.anyParam || issue.Kind == sqlexpr.UnknownParam && u.event == nil && u.role < roleDefault {
			continue // the event is unknown, which is reported elsewhere
		}
		c.gaps = true
		c.errorf(s.PosAt(issue.Offset), codeOf(issue.Kind), "%s", c.explain(issue, u, scope))
	}
	if len(issues) > 0 {
		return nil
	}
	return c.resolve(s, parts, u)
}

// fragment is SQL and what it is for, which together decide how it is read.
type fragment struct {
	sql string
	use use
}

type reading struct {
	parts  []sqlexpr.Part
	issues []sqlexpr.Issue
}

// parse reads SQL once for each use: a large machine writes the same fragments
// in thousands of transitions.
func (c *checker) parse(sql string, u use, scope sqlexpr.Scope) ([]sqlexpr.Part, []sqlexpr.Issue) {
	f := fragment{sql, u}
	read, ok := c.read[f]
	if !ok {
		read.parts, read.issues = sqlexpr.Parse(sql, scope)
		c.read[f] = read
	}
	return read.parts, read.issues
}

func (c *checker) resolve(s *syntax.Scalar, parts []sqlexpr.Part, u use) *model.Expr {
	expr := &model.Expr{Source: s.Text, Pos: s.Pos}
	for _, p := range parts {
		part := model.Part{Text: p.Text}
		switch p.Kind {
		case sqlexpr.Column:
			part.Kind, part.Text = model.ColumnRef, p.Name
		case sqlexpr.Param:
			part.Kind, part.Text, part.Param = model.ParamRef, p.Name, param(u.event, p.Name)
			if u.role != roleParamCheck {
				c.useParam(u.event, part.Param)
			}
		case sqlexpr.Now:
			part.Kind, part.Text = model.Now, "now"
		}
		expr.Parts = append(expr.Parts, part)
	}
	return expr
}

func (c *checker) useParam(e *model.Event, p *model.Param) {
	if e != nil {
		c.eventDecls[e.Index].used[p] = true
	}
}

// columnFields are the columns that SQL may read: the key, the declared ones,
// and what the machine keeps of state and version.
func (c *checker) columnFields() []sqlexpr.Field {
	t := c.machine.Table
	if t == nil {
		return nil
	}
	fields := []sqlexpr.Field{{Name: t.Version, Type: t.VersionType, Category: sqlexpr.Number}}
	switch t.Status.Storage {
	case model.StoredCode:
		fields = append(fields, sqlexpr.Field{Name: t.Status.Column, Type: t.Status.Type, Category: sqlexpr.Number, States: c.held})
	case model.StoredEnum:
		fields = append(fields, sqlexpr.Field{Name: t.Status.Column, Type: t.Status.Type, Enum: true, States: c.held})
	default:
		fields = append(fields, sqlexpr.Field{Name: t.Status.Column, Type: "text", Category: sqlexpr.String, States: c.held})
	}
	for _, key := range t.Keys {
		fields = append(fields, sqlexpr.Field{Name: key.Name, Type: key.Type.SQL, Category: category(key.Type)})
	}
	for _, column := range t.Columns {
		fields = append(fields, sqlexpr.Field{Name: column.Name, Type: column.Type.SQL, Category: category(column.Type)})
	}
	return fields
}

// holdings notes what the status column may hold, once all states are known.
func (c *checker) holdings() {
	if !c.hasTable || !c.statesKnown {
		return
	}
	for _, s := range c.machine.States {
		c.held = append(c.held, c.machine.Table.Status.Text(s.Name, s.Code))
	}
}

// explain words an issue for the place that it was found in.
func (c *checker) explain(issue sqlexpr.Issue, u use, scope sqlexpr.Scope) string {
	name := quote(issue.Name)
	switch issue.Kind {
	case sqlexpr.UnknownColumn:
		switch {
		case u.role == roleDefault:
			return u.what + " reads " + name + ", but a default can read no column; write a literal (text in single quotes) or now()"
		case named(scope.Params, issue.Name):
			return "column " + name + " is not declared; write @" + issue.Name + " for the parameter"
		case u.role == roleParamCheck:
			return u.what + " reads column " + name + ", but a check of a parameter can read parameters only; put the condition into a guard"
		}
		return "column " + name + " is not declared" + meant(issue.Name, fieldNames(scope.Columns))
	case sqlexpr.UnknownParam:
		if u.event == nil {
			return u.what + " uses parameter " + name + ", but no event comes with it; write a literal, or a column where the row can be read"
		}
		return u.what + " uses parameter " + name + ", which event " + quote(u.event.Name) + " does not declare" + meant(issue.Name, fieldNames(scope.Params))
	case sqlexpr.UnknownFunction:
		return issue.Message + suggestion(issue.Name)
	case sqlexpr.UnknownState:
		if c.machine.Table.Status.Storage == model.StoredCode {
			return "no state has code " + issue.Name + "; the codes are " + some(c.held)
		}
		return "state " + name + " is not declared" + c.hint("state", issue.Name, c.held)
	}
	return issue.Message
}

func suggestion(name string) string {
	if hint := meant(name, sqlexpr.Functions()); hint != "" {
		return hint
	}
	return "; only functions of PostgreSQL that compute from their arguments are allowed"
}

func named(fields []sqlexpr.Field, name string) bool {
	for _, f := range fields {
		if f.Name == name {
			return true
		}
	}
	return false
}

func fieldNames(fields []sqlexpr.Field) []string {
	names := make([]string, 0, len(fields))
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names
}

func codeOf(kind sqlexpr.Kind) diag.Code {
	switch kind {
	case sqlexpr.UnknownColumn, sqlexpr.UnknownParam, sqlexpr.UnknownState:
		return CodeUnknownName
	case sqlexpr.Subquery, sqlexpr.Aggregate, sqlexpr.SetReturning:
		return CodeSQLRows
	case sqlexpr.Volatile, sqlexpr.Clock:
		return CodeSQLVolatile
	case sqlexpr.UnknownFunction, sqlexpr.Unsupported:
		return CodeSQLUnsupported
	case sqlexpr.Qualified, sqlexpr.ParamSpelling:
		return CodeSQLSpelling
	case sqlexpr.Mismatch, sqlexpr.NotBoolean, sqlexpr.Unreadable:
		return CodeSQLType
	}
	return CodeSQLSyntax
}

// category groups a type for comparisons; that of a type which was not read is
// unknown and fits everything.
func category(t model.Type) sqlexpr.Category {
	if t.SQL == "" {
		return sqlexpr.Unknown
	}
	switch t.Kind {
	case model.KindText:
		return sqlexpr.String
	case model.KindUUID:
		return sqlexpr.UUID
	case model.KindInt16, model.KindInt32, model.KindInt64, model.KindNumeric, model.KindFloat64:
		return sqlexpr.Number
	case model.KindBool:
		return sqlexpr.Boolean
	case model.KindTime, model.KindDate:
		return sqlexpr.Time
	case model.KindJSON:
		return sqlexpr.JSON
	case model.KindBytes:
		return sqlexpr.Bytes
	}
	return sqlexpr.Unknown
}
