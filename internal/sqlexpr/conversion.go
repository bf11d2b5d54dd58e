package sqlexpr

import (
	"math"
	"regexp"
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// castValue judges a cast.
func (t *typer) castValue(c *pg.TypeCast) typed {
	at := t.offset(c.GetTypeName().GetLocation())
	name, _ := typeName(c.GetTypeName())
	if _, known := t.catalog.types[name]; !known {
		t.add(at, Unsupported, name, "a cast to %s is not supported here", name)
		return typed{}
	}
	t.modifier(c.GetTypeName(), name, at)
	to := name
	if len(c.GetTypeName().GetArrayBounds()) > 0 {
		to = "_" + name
	}
	if a := c.GetArg().GetAArrayExpr(); a != nil && element(to) != "" {
		return t.array(a, to)
	}
	v := t.value(c.GetArg())
	out := typed{typ: to, at: at, words: "a value cast to " + spoken(to), collation: v.collation}
	t.convert(v, to)
	switch kind := t.catalog.kind(to).category; {
	case kind == "N":
		out.number = v.number
	case kind == "S" && len(c.GetTypeName().GetTypmods()) == 0:
		out.states = v.states
	}
	return out
}

// convert judges a value that a cast turns into a type.
func (t *typer) convert(v typed, to string) {
	if !v.known() || !t.literal(v, to) {
		return
	}
	if !t.catalog.coercible(v.typ, to, explicit) {
		t.add(v.at, Mismatch, "", "%s cannot be cast to %s", v.words, spoken(to))
		return
	}
	if v.number != "" {
		if says := unreadable(v.number, to); says != "" && whole[to] != 0 && isWhole(v.number) {
			t.add(v.at, Unreadable, v.number, "%s does not fit %s, which takes %s", v.words, spoken(to), says)
		}
	}
}

// modifiers are the types that take a length or precision, each with the bounds of
// its modifiers in order.
var modifiers = map[string][][2]int{
	"numeric": {{1, 1000}, {-1000, 1000}}, "varchar": {{1, 10_485_760}}, "bpchar": {{1, 10_485_760}}, "bit": {{1, 83_886_080}}, "varbit": {{1, 83_886_080}},
	"time": {{0, math.MaxInt32}}, "timetz": {{0, math.MaxInt32}}, "timestamp": {{0, math.MaxInt32}}, "timestamptz": {{0, math.MaxInt32}},
	"interval": {{0, math.MaxInt32}, {0, math.MaxInt32}},
}

// modifier judges the length or precision of a type. The grammar takes any
// expressions there, PostgreSQL constants alone.
func (t *typer) modifier(n *pg.TypeName, name string, at int) {
	mods, bounds := n.GetTypmods(), modifiers[name]
	if len(mods) == 0 {
		return
	}
	if bounds == nil {
		t.add(at, Unsupported, name, "type %s takes no length", spoken(name))
		return
	}
	fits := len(mods) <= len(bounds)
	for i := 0; fits && i < len(mods); i++ {
		c := mods[i].GetAConst()
		length := int(c.GetIval().GetIval())
		fits = c.GetIval() != nil && length >= bounds[i][0] && length <= bounds[i][1]
	}
	if !fits {
		t.add(at, Unsupported, name, "type %s cannot have this length or precision", spoken(name))
	}
}

var sized = regexp.MustCompile(`^(character varying|numeric)\(([0-9]+)(?:,([0-9]+))?\)$`)

// assign judges a value that a column takes.
func (t *typer) assign(v typed, want Want) {
	to := typeNamed(want.Type)
	if !v.known() || to == uncertain || !t.literal(v, to) {
		return
	}
	if !t.catalog.coercible(v.typ, to, assigned) {
		t.add(v.at, Mismatch, "", "%s cannot take %s; cast it, or give a value of the type", want.As, v.words)
		return
	}
	if v.number != "" && whole[to] != 0 && isWhole(v.number) {
		if says := unreadable(v.number, to); says != "" {
			t.add(v.at, Unreadable, v.number, "%s cannot take %s; it takes %s", want.As, v.words, says)
			return
		}
	}
	m := sized.FindStringSubmatch(want.Type)
	if m == nil {
		return
	}
	size, _ := strconv.Atoi(m[2])
	scale, _ := strconv.Atoi(m[3])
	switch {
	case m[1] == "numeric":
		text := v.number
		if v.text != nil {
			text = *v.text
		}
		if overflows(text, size, scale) {
			t.add(v.at, Unreadable, text, "%s cannot take %s; it has room for %d digits before the point", want.As, v.words, size-scale)
		}
	case v.text != nil && tooLong(*v.text, size):
		t.add(v.at, Unreadable, *v.text, "%s cannot take %s; it has room for %d characters", want.As, v.words, size)
	}
}

// collate judges a COLLATE clause. Names that come from the operating system
// differ from server to server.
func (t *typer) collate(c *pg.CollateClause) typed {
	v, at := t.value(c.GetArg()), t.offset(c.GetLocation())
	names := c.GetCollname()
	name := names[len(names)-1].GetString_().GetSval()
	switch {
	case len(names) > 1:
		t.add(at, Qualified, name, "collation %s is written with a schema; write its bare name", name)
	case !collations[name] && !icuCollation.MatchString(name):
		t.add(at, Unsupported, name, "collation %q is not one that every PostgreSQL has; use \"C\", \"POSIX\", \"ucs_basic\", \"default\", or one of ICU's such as \"de-x-icu\"", name)
	case v.known() && v.typ != unknownType && !t.catalog.kind(v.typ).collatable:
		t.add(at, Mismatch, name, "%s has no collation; only texts have one", v.words)
	default:
		if v.typ == unknownType {
			v.typ = "text"
		}
		v.collation, v.text = name, nil
		return v
	}
	return typed{}
}

var collations = map[string]bool{"C": true, "POSIX": true, "default": true, "ucs_basic": true}

// icuCollation is the shape of the names that initdb gives to ICU's collations.
var icuCollation = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]+)*-x-icu$`)

// oneCollation returns the collation that values are given, and reports two that
// differ.
func (t *typer) oneCollation(values []typed) string {
	found := ""
	for _, v := range values {
		switch {
		case v.collation == "" || v.collation == found:
		case found != "":
			t.add(v.at, Mismatch, v.collation, "values of collations %q and %q are joined; give both the same", found, v.collation)
			return ""
		default:
			found = v.collation
		}
	}
	return found
}
