package logic

// formula says in two-valued logic that conditions have certain truth values. It
// is a positive combination of literals; negation is worked out beforehand.
type formula struct {
	join join
	kids []*formula
	lit  literal
}

type join int

const (
	atom join = iota
	all
	some
)

var (
	yes = &formula{join: all}
	no  = &formula{join: some}
	// never is a literal that nothing meets.
	never = &formula{lit: literal{sort: ofNothing}}
)

// literal is one statement about variables.
type literal struct {
	sort  litSort
	place int
	class class // the variable's value is of one of these
	value bool  // the boolean variable has this value
	// relation is a comparison of values that are not NULL, or its opposite.
	relation *cond
	negative bool
}

type litSort int

const (
	ofClass litSort = iota
	ofFact
	ofRelation
	ofNothing
)

// allOf joins formulas, leaving out what says nothing.
func allOf(kids ...*formula) *formula { return joined(all, some, kids) }

// oneOf is the alternative of formulas.
func oneOf(kids ...*formula) *formula { return joined(some, all, kids) }

func joined(as, opposite join, kids []*formula) *formula {
	if len(kids) == 1 {
		return kids[0]
	}
	out := make([]*formula, 0, len(kids))
	for _, k := range kids {
		switch {
		case k.join == as:
			out = append(out, k.kids...)
		case k.join == opposite && len(k.kids) == 0:
			return k
		default:
			out = append(out, k)
		}
	}
	if len(out) == 1 {
		return out[0]
	}
	return &formula{join: as, kids: out}
}

// want asks for a condition to have one of a set of truth values.
type want struct {
	cond *cond
	set  truth
}

// formulas makes the formulas of an analysis. The exact ones hold only where
// they hold for all values of opaque parts; the loose ones where they hold for
// some. So what satisfies an exact formula exists, and what contradicts a loose
// one does not.
type formulas struct {
	*analysis
	exact bool
	made  map[want]*formula
}

// is says that the condition has one of the truth values.
func (f *formulas) is(c *cond, set truth) *formula {
	switch set {
	case 0:
		return no
	case anything:
		return yes
	}
	w := want{c, set}
	if made, ok := f.made[w]; ok {
		return made
	}
	made := f.make(c, set)
	f.made[w] = made
	return made
}

func (f *formulas) make(c *cond, set truth) *formula {
	switch c.shape {
	case fixed:
		if c.set&set != 0 {
			return yes
		}
		return no
	case fact:
		return f.leaf([]int{c.place}, set, func(value bool) *formula {
			return &formula{lit: literal{sort: ofFact, place: c.place, value: value}}
		})
	case compare:
		return f.leaf(c.right.places(c.left.places(nil)), set, func(value bool) *formula {
			return &formula{lit: literal{sort: ofRelation, relation: c, negative: !value}}
		})
	case nothing:
		return f.isNothing(c, set)
	case negation:
		return f.is(c.kids[0], set.not())
	case conj:
		return f.lattice(c.kids, set, isTrue, isFalse)
	case disj:
		return f.lattice(c.kids, set, isFalse, isTrue)
	case same:
		return f.sameTruth(c.kids[0], c.kids[1], set)
	case member:
		var ways []*formula
		if set&isTrue != 0 {
			ways = append(ways, f.is(c.kids[0], c.set))
		}
		if set&isFalse != 0 {
			ways = append(ways, f.is(c.kids[0], anything&^c.set))
		}
		return oneOf(ways...)
	}
	return oneOf(
		allOf(f.is(c.kids[0], isTrue), f.is(c.kids[1], set)),
		allOf(f.is(c.kids[0], isFalse|isUnknown), f.is(c.kids[2], set)))
}

// leaf is a condition that is NULL where one of its variables is, and otherwise
// true or false as lit says.
func (f *formulas) leaf(places []int, set truth, lit func(bool) *formula) *formula {
	var ways []*formula
	if set&isUnknown != 0 {
		ways = append(ways, f.someNull(places))
	}
	switch set &^ isUnknown {
	case isTrue | isFalse:
		ways = append(ways, f.noneNull(places))
	case isTrue:
		ways = append(ways, allOf(f.noneNull(places), lit(true)))
	case isFalse:
		ways = append(ways, allOf(f.noneNull(places), lit(false)))
	}
	return oneOf(ways...)
}

// someNull says that a value made of these variables is NULL. An opaque value
// may be so by itself.
func (f *formulas) someNull(places []int) *formula {
	var ways []*formula
	for _, p := range places {
		s := f.slots[p]
		if (!s.opaque || !f.exact) && s.classes&isNull != 0 {
			ways = append(ways, ofClasses(p, isNull))
		}
		ways = append(ways, f.someNull(s.strict))
	}
	return oneOf(ways...)
}

func (f *formulas) noneNull(places []int) *formula {
	var parts []*formula
	for _, p := range places {
		s := f.slots[p]
		if s.opaque && f.exact {
			return no
		}
		if s.classes&isNull != 0 {
			parts = append(parts, ofClasses(p, finite|special))
		}
		parts = append(parts, f.noneNull(s.strict))
	}
	return allOf(parts...)
}

func ofClasses(place int, classes class) *formula {
	return &formula{lit: literal{sort: ofClass, place: place, class: classes}}
}

func (f *formulas) isNothing(c *cond, set truth) *formula {
	var ways []*formula
	if set&isTrue != 0 {
		ways = append(ways, f.someNull(c.left.places(nil)))
	}
	if set&isFalse != 0 {
		ways = append(ways, f.noneNull(c.left.places(nil)))
	}
	return oneOf(ways...)
}

// lattice is AND, with top as true and bottom as false; OR is the same with the
// two exchanged.
func (f *formulas) lattice(kids []*cond, set, top, bottom truth) *formula {
	every := func(set truth) *formula {
		parts := make([]*formula, 0, len(kids))
		for _, k := range kids {
			parts = append(parts, f.is(k, set))
		}
		return allOf(parts...)
	}
	any := func(set truth) *formula {
		ways := make([]*formula, 0, len(kids))
		for _, k := range kids {
			ways = append(ways, f.is(k, set))
		}
		return oneOf(ways...)
	}
	switch set {
	case top:
		return every(top)
	case top | isUnknown:
		return every(top | isUnknown)
	case bottom:
		return any(bottom)
	case bottom | isUnknown:
		return any(bottom | isUnknown)
	case isUnknown:
		return allOf(every(top|isUnknown), any(isUnknown))
	}
	return oneOf(every(top), any(bottom))
}

// sameTruth is a = b of conditions.
func (f *formulas) sameTruth(a, b *cond, set truth) *formula {
	pair := func(x, y truth) *formula { return allOf(f.is(a, x), f.is(b, y)) }
	var ways []*formula
	if set&isUnknown != 0 {
		ways = append(ways, f.is(a, isUnknown), f.is(b, isUnknown))
	}
	if set&isTrue != 0 {
		ways = append(ways, pair(isTrue, isTrue), pair(isFalse, isFalse))
	}
	if set&isFalse != 0 {
		ways = append(ways, pair(isTrue, isFalse), pair(isFalse, isTrue))
	}
	return oneOf(ways...)
}

// computable says that no integer arithmetic within the condition overflows,
// whether or not PostgreSQL would come to evaluate it.
func (f *formulas) computable(c *cond) *formula {
	var parts []*formula
	c.walk(map[*cond]bool{}, func(k *cond) {
		for _, t := range []*term{k.left, k.right} {
			parts = append(parts, f.fits(t)...)
		}
	})
	return allOf(parts...)
}

func (f *formulas) fits(t *term) []*formula {
	if t == nil {
		return nil
	}
	parts := append(f.fits(t.left), f.fits(t.right)...)
	if t.kind != Int || t.form != sum && t.form != multiple {
		return parts
	}
	low, high := intRange(t.bits)
	inside := both(
		&cond{shape: compare, op: atMost, left: bound(low), right: t},
		&cond{shape: compare, op: atMost, left: t, right: bound(high)})
	return append(parts, f.is(inside, isTrue|isUnknown))
}
