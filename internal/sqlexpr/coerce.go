package sqlexpr

import "slices"

// coercible reports whether PostgreSQL turns a value of one type into another
// in a context, as can_coerce_type of parse_coerce.c decides for types that are
// no pseudo-types.
func (c *catalog) coercible(from, to string, context int) bool {
	if from == to || from == unknownType || to == "any" {
		return true
	}
	if needed, ok := c.casts[[2]string{from, to}]; ok {
		return needed <= context
	}
	a, b := element(from), element(to)
	switch {
	case a != "" && b != "":
		return c.coercible(a, b, context)
	case context >= assigned && c.kind(to).category == "S":
		return true
	case context >= explicit && c.kind(from).category == "S":
		return true
	}
	return to == recordType && from == recordType
}

// generic are the types of arguments that stand for others. Those of one family
// stand for one type.
var generic = map[string]string{
	"anyelement": "any", "anynonarray": "any", "anyenum": "any", "anyarray": "any", "anyrange": "any", "anymultirange": "any",
	"anycompatible": "compatible", "anycompatiblenonarray": "compatible", "anycompatiblearray": "compatible",
	"anycompatiblerange": "compatible", "anycompatiblemultirange": "compatible",
}

// accepts reports whether a signature takes arguments of these types without a
// cast that has to be written.
func (c *catalog) accepts(declared, given []string) bool {
	for i, d := range declared {
		if generic[d] == "" && !c.coercible(given[i], d, implicit) {
			return false
		}
	}
	_, ok := c.binding(declared, given)
	return ok
}

// bound is what the generic types of a signature stand for; empty where only
// quoted literals were given.
type bound struct{ element, array, common string }

// binding finds what generic types stand for. ok is false when nothing fits.
// There are no values of ranges here, so that nothing fits a range but a quoted
// literal.
func (c *catalog) binding(declared, given []string) (b bound, ok bool) {
	var plain, enum bool
	var common []string
	for i, d := range declared {
		g := given[i]
		switch {
		case generic[d] == "":
			continue
		case g == unknownType:
		case d == "anyrange" || d == "anymultirange" || d == "anycompatiblerange" || d == "anycompatiblemultirange":
			return b, false
		case d == "anyarray":
			if b.array != "" && b.array != g || element(g) == "" {
				return b, false
			}
			b.array = g
		case d == "anycompatiblearray":
			if element(g) == "" {
				return b, false
			}
			common = append(common, element(g))
		case generic[d] == "compatible":
			common = append(common, g)
		default:
			if b.element != "" && b.element != g {
				return b, false
			}
			b.element = g
		}
		plain, enum = plain || d == "anynonarray", enum || d == "anyenum"
	}
	if b.array != "" {
		if b.element != "" && b.element != element(b.array) {
			return b, false
		}
		b.element = element(b.array)
	}
	if plain && element(b.element) != "" || enum && b.element != "" && !isEnum(b.element) {
		return b, false
	}
	if len(common) > 0 {
		if b.common, ok = c.common(common); !ok {
			return b, false
		}
	}
	return b, true
}

// stands returns the type that a declared one stands for; empty when it cannot
// be told.
func (b bound) stands(declared string) string {
	array := func(t string) string {
		if t == "" || element(t) != "" {
			return "" // there are no arrays of arrays
		}
		return "_" + t
	}
	switch declared {
	case "anyelement", "anynonarray", "anyenum":
		return b.element
	case "anyarray":
		return array(b.element)
	case "anycompatible", "anycompatiblenonarray":
		return b.compatible()
	case "anycompatiblearray":
		return array(b.compatible())
	}
	if generic[declared] != "" {
		return ""
	}
	return declared
}

// compatible is text where only quoted literals were given.
func (b bound) compatible() string {
	if b.common == "" {
		return "text"
	}
	return b.common
}

// common returns the type that PostgreSQL finds for values that must be of one,
// as in coalesce and CASE; ok is false when there is none. It follows
// select_common_type of parse_coerce.c.
func (c *catalog) common(types []string) (found string, ok bool) {
	same := slices.Compact(slices.Clone(types))
	if len(same) == 1 && same[0] != unknownType {
		return same[0], true
	}
	found = unknownType
	for _, t := range types {
		switch {
		case t == unknownType || t == found:
		case found == unknownType:
			found = t
		case c.kind(t).category != c.kind(found).category:
			return "", false
		case !c.kind(found).preferred && c.coercible(found, t, implicit) && !c.coercible(t, found, implicit):
			found = t
		}
	}
	if found == unknownType {
		return "text", true
	}
	for _, t := range types {
		if !c.coercible(t, found, implicit) {
			return "", false
		}
	}
	return found, true
}
