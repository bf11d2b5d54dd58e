package logic

// truth is a set of truth values.
type truth uint8

const (
	isTrue truth = 1 << iota
	isFalse
	isUnknown
	anything = isTrue | isFalse | isUnknown
)

// shape tells the forms of conditions apart.
type shape int

const (
	fixed    shape = iota // the truth value of set
	fact                  // a boolean variable, or an opaque condition
	compare               // left op right
	conj                  // all of kids
	disj                  // any of kids
	negation              // NOT of the only kid
	same                  // kids[0] = kids[1], both conditions
	member                // true where the kid is one of set, else false: IS TRUE
	nothing               // left IS NULL
	either                // kids[1] where kids[0] is true, else kids[2]
)

// operator is a comparison; the others are made of these by turning and NOT.
type operator int

const (
	equals operator = iota
	less
	atMost
)

// cond is a condition: an expression with one of three truth values.
type cond struct {
	shape       shape
	set         truth
	place       int // of fact
	op          operator
	left, right *term
	kids        []*cond
}

var always = &cond{shape: fixed, set: isTrue}

// walk calls f once for every condition in c, c included.
func (c *cond) walk(seen map[*cond]bool, f func(*cond)) {
	if seen[c] {
		return
	}
	seen[c] = true
	f(c)
	for _, k := range c.kids {
		k.walk(seen, f)
	}
}

// places returns the variables of a condition, each once.
func (c *cond) places() []int {
	var out []int
	c.walk(map[*cond]bool{}, func(k *cond) {
		if k.shape == fact {
			out = (&term{form: variable, id: k.place}).places(out)
		}
		out = k.right.places(k.left.places(out))
	})
	return out
}

// not turns a set of truth values as NOT does.
func (t truth) not() truth {
	out := t & isUnknown
	if t&isTrue != 0 {
		out |= isFalse
	}
	if t&isFalse != 0 {
		out |= isTrue
	}
	return out
}
