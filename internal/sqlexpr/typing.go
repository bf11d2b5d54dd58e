package sqlexpr

import (
	"slices"
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// typed is a value as PostgreSQL's analysis sees it.
type typed struct {
	typ string
	// at is where it stands, and words what a message calls it.
	at    int
	words string
	// text is that of a quoted literal, and number that of a numeric constant.
	text   *string
	number string
	// states are the only texts, or numbers, that the value ever is; nil when
	// they are not known.
	states []string
	// collation is one that is written, or empty.
	collation string
}

func (v typed) known() bool { return v.typ != uncertain }

// typer finds the types of a fragment as PostgreSQL does, and reports what it
// would refuse on every call. A value that was reported is uncertain from there
// on, so that one mistake is told once.
type typer struct {
	*walker
	catalog *catalog
}

// types judges the whole fragment, which was found to be of the forms that are
// supported.
func (w *walker) types(top *pg.Node) {
	t := &typer{w, readCatalog()}
	v := t.value(top)
	want := w.scope.Want
	switch {
	case want.Type != "":
		t.assign(v, want)
	case want.Category == Boolean:
		t.boolean(v)
	}
}

// value returns the type of a node, after judging it and those below.
func (t *typer) value(n *pg.Node) typed {
	v := t.node(n)
	if v.words == "" && v.known() {
		v.words = "a value of type " + spoken(v.typ)
	}
	return v
}

func (t *typer) node(n *pg.Node) typed {
	switch {
	case n == nil || n.GetNode() == nil:
	case n.GetColumnRef() != nil:
		return t.fieldValue(t.field(t.scope.Columns, t.columnName(n.GetColumnRef())), "", n.GetColumnRef().GetLocation())
	case n.GetParamRef() != nil:
		at := n.GetParamRef().GetLocation()
		return t.fieldValue(t.field(t.scope.Params, t.params[t.offset(at)]), "@", at)
	case n.GetAConst() != nil:
		return t.constant(n.GetAConst())
	case n.GetTypeCast() != nil:
		return t.castValue(n.GetTypeCast())
	case n.GetAExpr() != nil:
		return t.operation(n.GetAExpr())
	case n.GetBoolExpr() != nil:
		for _, arg := range n.GetBoolExpr().GetArgs() {
			t.boolean(t.value(arg))
		}
		return typed{typ: "bool", words: "a condition"}
	case n.GetNullTest() != nil:
		t.value(n.GetNullTest().GetArg())
		return typed{typ: "bool", words: "a condition"}
	case n.GetBooleanTest() != nil:
		t.boolean(t.value(n.GetBooleanTest().GetArg()))
		return typed{typ: "bool", words: "a condition"}
	case n.GetCaseExpr() != nil:
		return t.choice(n.GetCaseExpr())
	case n.GetCoalesceExpr() != nil:
		return t.unite(t.values(n.GetCoalesceExpr().GetArgs()), t.offset(n.GetCoalesceExpr().GetLocation()), "coalesce")
	case n.GetMinMaxExpr() != nil:
		return t.extreme(n.GetMinMaxExpr())
	case n.GetFuncCall() != nil:
		return t.call(n.GetFuncCall())
	case n.GetNamedArgExpr() != nil:
		return t.value(n.GetNamedArgExpr().GetArg())
	case n.GetAArrayExpr() != nil:
		return t.array(n.GetAArrayExpr(), "")
	case n.GetRowExpr() != nil:
		t.values(n.GetRowExpr().GetArgs())
		return typed{typ: recordType, at: t.offset(n.GetRowExpr().GetLocation())}
	case n.GetCollateClause() != nil:
		return t.collate(n.GetCollateClause())
	case n.GetAIndirection() != nil:
		return t.subscript(n.GetAIndirection())
	}
	return typed{}
}

func (t *typer) values(nodes []*pg.Node) []typed {
	values := make([]typed, len(nodes))
	for i, n := range nodes {
		values[i] = t.value(n)
	}
	return values
}

func (t *typer) fieldValue(f *Field, prefix string, location int32) typed {
	if f == nil {
		return typed{}
	}
	v := typed{typ: typeNamed(f.Type), at: t.offset(location), words: f.Type + " " + prefix + f.Name, states: f.States}
	if f.Enum {
		v.typ = enumPrefix + f.Type
	}
	return v
}

func (t *typer) constant(c *pg.A_Const) typed {
	v := typed{typ: unknownType, at: t.offset(c.GetLocation())}
	switch {
	case c.GetIsnull():
		v.words = "NULL"
	case c.GetSval() != nil:
		text := c.GetSval().GetSval()
		v.text, v.words = &text, "the text '"+text+"'"
	case c.GetBoolval() != nil:
		v.typ, v.words = "bool", "a boolean"
	case c.GetBsval() != nil:
		v.typ, v.words = "bit", "a bit string"
	case c.GetFval() != nil:
		v.typ, v.number = "numeric", c.GetFval().GetFval()
		if n, err := strconv.ParseInt(v.number, 10, 64); err == nil {
			v.typ = "int8"
			if n == int64(int32(n)) {
				v.typ = "int4"
			}
		}
		v.words = "the number " + v.number
	default:
		v.typ, v.number = "int4", strconv.Itoa(int(c.GetIval().GetIval()))
		v.words = "the number " + v.number
	}
	return v
}

// boolean judges a value that must be a condition.
func (t *typer) boolean(v typed) {
	if t.literal(v, "bool"); v.known() && v.typ != unknownType && v.typ != "bool" {
		t.add(v.at, NotBoolean, "", "a condition is needed here, but %s is none; compare it with something", v.words)
	}
}

// choice judges CASE.
func (t *typer) choice(c *pg.CaseExpr) typed {
	var arg typed
	if c.GetArg() != nil {
		if arg = t.value(c.GetArg()); arg.typ == unknownType {
			arg.typ, arg.text = "text", nil
		}
	}
	results := []typed{{typ: unknownType}}
	if c.GetDefresult() != nil {
		results[0] = t.value(c.GetDefresult())
	}
	for _, n := range c.GetArgs() {
		when := n.GetCaseWhen()
		v := t.value(when.GetExpr())
		if c.GetArg() == nil {
			t.boolean(v)
		} else {
			t.apply("=", t.offset(when.GetLocation()), arg, v)
		}
		results = append(results, t.value(when.GetResult()))
	}
	return t.unite(results, t.offset(c.GetLocation()), "CASE")
}

// unite returns the one type that values of coalesce, CASE and the like get.
func (t *typer) unite(values []typed, at int, what string) typed {
	types := make([]string, len(values))
	for i, v := range values {
		if !v.known() {
			return typed{at: at}
		}
		types[i] = v.typ
	}
	found, ok := t.catalog.common(types)
	if !ok {
		i := slices.IndexFunc(values, func(v typed) bool { return v.typ != unknownType })
		other := slices.IndexFunc(values, func(v typed) bool { return v.typ != unknownType && v.typ != values[i].typ })
		t.add(at, Mismatch, "", "%s gives one type, and %s and %s have none in common; cast one of them", what, values[i].words, values[other].words)
		return typed{at: at}
	}
	for _, v := range values {
		t.literal(v, found)
		for _, other := range values {
			if isEnum(found) {
				t.state(other, v)
			}
		}
	}
	return typed{typ: found, at: at, words: "the value of " + what, collation: t.oneCollation(values)}
}

func (t *typer) extreme(e *pg.MinMaxExpr) typed {
	at := t.offset(e.GetLocation())
	v := t.unite(t.values(e.GetArgs()), at, "greatest or least")
	if v.known() && !t.ordered(v.typ) {
		t.add(at, Mismatch, "", "values of type %s have no order, so none is the greatest or least", spoken(v.typ))
		return typed{at: at}
	}
	return v
}

// ordered reports whether values of the type are greater and less.
func (t *typer) ordered(typ string) bool {
	if e := element(typ); e != "" {
		return t.ordered(e)
	}
	return typ == recordType || t.catalog.binary("<", typ, typ) != nil
}

// array judges ARRAY[…]; want is the type that it is cast to, or empty.
func (t *typer) array(a *pg.A_ArrayExpr, want string) typed {
	at := t.offset(a.GetLocation())
	var values []typed
	for _, n := range a.GetElements() {
		if n.GetAArrayExpr() != nil {
			values = append(values, t.array(n.GetAArrayExpr(), want))
		} else {
			values = append(values, t.value(n))
		}
	}
	if want != "" {
		for _, v := range values {
			to := element(want)
			if element(v.typ) != "" {
				to = want
			}
			t.convert(v, to)
		}
		return typed{typ: want, at: at}
	}
	if len(values) == 0 {
		t.add(at, Mismatch, "", "an empty ARRAY[] has no type; cast it, as in ARRAY[]::text[]")
		return typed{at: at}
	}
	v := t.unite(values, at, "ARRAY")
	if v.known() && element(v.typ) == "" {
		v.typ = "_" + v.typ
	}
	v.words = ""
	return v
}

// subscript judges value[…], of jsonb and of arrays.
func (t *typer) subscript(x *pg.A_Indirection) typed {
	v := t.value(x.GetArg())
	for _, step := range x.GetIndirection() {
		index := step.GetAIndices()
		for _, n := range []*pg.Node{index.GetLidx(), index.GetUidx()} {
			if n == nil {
				continue
			}
			i := t.value(n)
			switch {
			case !v.known() || !i.known():
			case v.typ == "jsonb" && (index.GetIsSlice() || !t.catalog.coercible(i.typ, "text", implicit) && !t.catalog.coercible(i.typ, "int4", implicit)):
				t.add(i.at, Mismatch, "", "a jsonb value is subscripted by one text or integer, not by %s", i.words)
			case element(v.typ) != "":
				if t.literal(i, "int4"); !t.catalog.coercible(i.typ, "int4", assigned) {
					t.add(i.at, Mismatch, "", "an array is subscripted by an integer, not by %s", i.words)
				}
			}
		}
		switch {
		case !v.known() || v.typ == "jsonb":
		case element(v.typ) == "":
			t.add(v.at, Mismatch, "", "%s has no parts to be subscripted; only jsonb values and arrays have", v.words)
			return typed{}
		case !index.GetIsSlice():
			v.typ = element(v.typ)
		}
		v = typed{typ: v.typ, at: v.at}
	}
	return v
}
