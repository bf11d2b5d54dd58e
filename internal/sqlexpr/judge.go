package sqlexpr

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

func operatorName(e *pg.A_Expr) string {
	if len(e.GetName()) != 1 {
		return ""
	}
	return e.GetName()[0].GetString_().GetSval()
}

// operator checks an operator and what it compares.
func (w *walker) operator(e *pg.A_Expr) {
	at := w.offset(e.GetLocation())
	w.walk(e.GetLexpr())
	w.walk(e.GetRexpr())
	if len(e.GetName()) > 1 {
		w.add(at, Qualified, "", "an operator of a schema cannot be used here; write the plain operator")
		return
	}
	name := operatorName(e)
	switch e.GetKind() {
	case pg.A_Expr_Kind_AEXPR_OP:
		class := operators[name]
		if class == unlisted {
			w.add(at, Unsupported, name, "operator %s is not supported here", name)
		}
		switch {
		case class == comparison:
			w.compare(at, e.GetLexpr(), e.GetRexpr())
		case e.GetLexpr() != nil && (class == arithmetic || name == "||"):
			if a, b := w.operand(e.GetLexpr()), w.operand(e.GetRexpr()); cannot(name, a, b) {
				hint := "cast one of them"
				if a.instant || b.instant {
					hint = "a time takes an interval, as in now() + interval '30 minutes'"
				}
				w.add(at, Mismatch, "", "operator %s cannot join %s and %s; %s", name, a.words, b.words, hint)
			}
		}
	case pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		w.compare(at, e.GetLexpr(), e.GetRexpr())
	case pg.A_Expr_Kind_AEXPR_IN, pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN,
		pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		for _, item := range e.GetRexpr().GetList().GetItems() {
			w.compare(at, e.GetLexpr(), item)
		}
	}
}

// compare reports two sides that evidently cannot be compared.
func (w *walker) compare(at int, left, right *pg.Node) {
	a, b := w.operand(left), w.operand(right)
	w.hiddenClock(at, a, b)
	if fits(a, b) {
		return
	}
	if a.quoted != nil {
		a, b = b, a
	}
	if b.quoted != nil {
		at = b.at
	}
	w.add(at, Mismatch, "", "compares %s with %s; cast one of them, or compare values of one type", a.words, b.words)
}

func (w *walker) hiddenClock(at int, a, b operand) {
	if a.quoted == nil {
		a, b = b, a
	}
	if a.quoted != nil && b.category == Time && clockWord(*a.quoted) {
		w.add(at, Volatile, *a.quoted, "'%s' is the server's clock; write now(), which is the clock that the caller injects", *a.quoted)
	}
}

// condition reports a value where a condition must stand.
func (w *walker) condition(n *pg.Node, location int32, where string) {
	o := w.operand(n)
	if !fits(operand{category: Boolean}, o) {
		w.add(w.offset(location), NotBoolean, "", "%s need conditions, but %s is none; compare it with something", where, o.words)
	}
}

// want reports a value that does not fit what the fragment is used as.
func (w *walker) want(top *pg.Node) {
	want := operand{category: w.scope.Want.Category}
	o := w.operand(top)
	start := 0
	if len(w.tokens) > 0 {
		start = w.tokens[0].start
	}
	w.hiddenClock(start, o, want)
	switch {
	case fits(want, o):
	case want.category == Boolean:
		w.add(start, NotBoolean, "", "%s must be a condition, but %s is none; compare it with something", w.scope.Want.As, o.words)
	default:
		w.add(start, Mismatch, "", "%s cannot take %s; cast it, or give a value of the type", w.scope.Want.As, o.words)
	}
}

// typeName returns the name of a type that may be cast to, and whether it may.
func typeName(t *pg.TypeName) (string, bool) {
	names := t.GetNames()
	if len(names) == 2 && names[0].GetString_().GetSval() == "pg_catalog" {
		names = names[1:]
	}
	if len(names) != 1 || t.GetSetof() || t.GetPctType() {
		return "", false
	}
	name := names[0].GetString_().GetSval()
	_, ok := casts[name]
	return name, ok
}

func (w *walker) cast(c *pg.TypeCast) {
	w.walk(c.GetArg())
	at := w.offset(c.GetTypeName().GetLocation())
	name, ok := typeName(c.GetTypeName())
	if !ok {
		if name == "" {
			name = "this type"
		}
		w.add(at, Unsupported, name, "a cast to %s is not supported here", name)
		return
	}
	w.hiddenClock(at, w.operand(c.GetArg()), operand{category: casts[name]})
}

// functionName returns the name of a call; the grammar itself puts pg_catalog
// before those that have a syntax of their own, such as extract.
func functionName(f *pg.FuncCall) string {
	names := f.GetFuncname()
	if len(names) == 2 && (f.GetFuncformat() == pg.CoercionForm_COERCE_SQL_SYNTAX || escapes[names[1].GetString_().GetSval()]) {
		names = names[1:]
	}
	parts := make([]string, 0, len(names))
	for _, n := range names {
		parts = append(parts, n.GetString_().GetSval())
	}
	return strings.Join(parts, ".")
}

// escapes are what the grammar makes of SIMILAR TO and of LIKE with ESCAPE.
var escapes = map[string]bool{"similar_to_escape": true, "like_escape": true}

func (w *walker) function(f *pg.FuncCall) {
	at, name := w.offset(f.GetLocation()), functionName(f)
	if i := w.tokenAt(at); i < 0 {
		at = 0
	}
	many := f.GetAggStar() || f.GetAggDistinct() || f.GetAggFilter() != nil || f.GetAggWithinGroup() || len(f.GetAggOrder()) > 0 || f.GetOver() != nil
	switch _, known := functions[name]; {
	case strings.HasPrefix(name, "sqlc."):
		w.add(at, ParamSpelling, name, "write a parameter by its name, as @name, not with %s", name)
		return // its argument is the parameter's name, not a column
	case strings.Contains(name, "."):
		w.add(at, Qualified, name, "function %s is written with a schema; only plain functions of PostgreSQL can be called, without one", name)
	case aggregates[name] || many:
		w.add(at, Aggregate, name, "%s works on many rows, and an expression sees one row only; keep the total as a column of the guarded row", name)
	case setReturning[name]:
		w.add(at, SetReturning, name, "%s gives rows instead of one value", name)
	case name == "now":
		w.now(f, at)
	case isVolatile(name):
		w.add(at, Volatile, name, "%s depends on more than the row and the parameters, or has an effect; pass its value as a parameter, and write now() for the time", name)
	case !known:
		w.add(at, UnknownFunction, name, "function %q cannot be called here", name)
	}
	w.all(f.GetArgs())
}

// now marks a call of now() as the injected clock.
func (w *walker) now(f *pg.FuncCall, at int) {
	i := w.tokenAt(at)
	switch {
	case len(f.GetArgs()) > 0 || i < 0 || i+2 >= len(w.tokens):
		w.add(at, Syntax, "now", "now() takes no argument")
	case !w.scope.Clock:
		w.add(at, Clock, "now", "now() cannot stand here, since what is checked once must stay true; compare with a column or parameter")
	default:
		w.marks = append(w.marks, mark{at, w.tokens[i+2].end, Now, ""})
	}
}
