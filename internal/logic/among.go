package logic

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// among tells the conditions which values variables have: a variable with one
// value is replaced by it, for others the values are an assumption.
func (a *analysis) among() {
	for place, s := range a.slots[:a.given] {
		switch len(s.Among) {
		case 0:
		case 1:
			if f := a.fixing(place, s.Among[0]); f != nil {
				a.assume, a.guards = f.conds(a.assume), f.conds(a.guards)
				a.slots[place].classes = finite
			}
		default:
			var ways []*cond
			for _, text := range s.Among {
				if value := a.fixedValue(place, text); value != nil {
					ways = append(ways, a.compare(equals, a.value(place), value))
				}
			}
			if len(ways) == len(s.Among) {
				a.assume = append(a.assume, anyOf(ways...))
			}
		}
	}
}

// fixedValue returns one of the values of Among, or nil for what is none.
func (a *analysis) fixedValue(place int, text string) *term {
	switch s := a.slots[place]; {
	case s.Kind == Text:
		return a.word(text)
	case s.Kind == Int && wholeText.MatchString(text) && len(text) <= maxDigits:
		value, _ := new(big.Rat).SetString(text)
		return &term{form: number, kind: Int, bits: width(s.Bits), constant: value}
	case s.Kind == Int || s.Kind == Bool || s.Kind == Other:
		return nil
	}
	return a.literal(a.slots[place].Kind, text)
}

// fixing puts a value in the place of a variable.
type fixing struct {
	*analysis
	place, length int
	value         *term
	truth         *cond // of a boolean variable
	done          map[*cond]*cond
	keys          map[*cond]string
}

func (a *analysis) fixing(place int, text string) *fixing {
	value := a.fixedValue(place, text)
	truth := map[string]*cond{"true": known(isTrue), "false": known(isFalse)}[text]
	if value == nil && (truth == nil || a.slots[place].Kind != Bool) {
		return nil
	}
	length, known := a.lengths[place]
	if !known {
		length = -1
	}
	return &fixing{analysis: a, place: place, length: length, value: value, truth: truth, done: map[*cond]*cond{}, keys: map[*cond]string{}}
}

func (f *fixing) conds(conds []*cond) []*cond {
	out := make([]*cond, 0, len(conds))
	for _, c := range conds {
		out = append(out, f.cond(c))
	}
	return out
}

// cond returns the condition with the value; the same one where nothing changes.
func (f *fixing) cond(c *cond) *cond {
	if made, ok := f.done[c]; ok {
		return made
	}
	made := f.made(c)
	f.done[c] = made
	return made
}

func (f *fixing) made(c *cond) *cond {
	switch c.shape {
	case fixed:
		return c
	case fact:
		if p, is := f.patterns[c.place]; is && p.variable == f.place {
			if matches, known := p.matches(f.value.text); known {
				return truthOf(matches)
			}
		}
		if c.place != f.place {
			return c
		}
		return f.truth
	case compare:
		l, r := f.term(c.left), f.term(c.right)
		if l == c.left && r == c.right {
			return c
		}
		if set, folded := foldedTruth(c.op, l, r); folded {
			return known(set)
		}
		return f.comparison(c.op, l, r)
	case nothing:
		l := f.term(c.left)
		switch {
		case l == c.left:
			return c
		case len(l.places(nil)) == 0:
			return known(isFalse)
		}
		return &cond{shape: nothing, left: l}
	}
	kids := f.conds(c.kids)
	if slices.Equal(kids, c.kids) {
		return c
	}
	return &cond{shape: c.shape, set: c.set, kids: kids}
}

func (f *fixing) term(t *term) *term {
	switch {
	case t == nil:
		return nil
	case t.form == variable && t.id == f.place:
		return f.value
	case t.form == variable && t.id == f.length:
		return f.measure(f.value)
	}
	left, right := f.term(t.left), f.term(t.right)
	if left == t.left && right == t.right {
		return t
	}
	out := *t
	out.left, out.right = left, right
	if folded := folded(&out); folded != nil {
		return folded
	}
	return &out
}

// folded computes a sum or a multiple of constants. It is nil for what is none
// and where it overflows.
func folded(t *term) *term {
	switch {
	case t.form == multiple && t.left.form == number:
		return inRange(t, new(big.Rat).Mul(t.left.constant, t.constant))
	case t.form == sum && t.left.form == number && t.right.form == number:
		return inRange(t, new(big.Rat).Add(t.left.constant, t.right.constant))
	}
	return nil
}

// foldedTruth compares two constants. The order of texts is the collation's.
func foldedTruth(op operator, l, r *term) (set truth, ok bool) {
	sign := 0
	switch {
	case l.form == word && r.form == word && op == equals:
		sign = strings.Compare(l.text, r.text)
	case l.form == number && r.form == number:
		sign = l.constant.Cmp(r.constant)
	default:
		return 0, false
	}
	if op == equals && sign == 0 || op == less && sign < 0 || op == atMost && sign <= 0 {
		return isTrue, true
	}
	return isFalse, true
}

// Alike tells which of the values of a variable the conditions do not tell
// apart: for values with equal numbers, as the variable's Among, Analyse gives
// the same answers. The numbers count from 0 in the order of values; each value
// is a list of those that it may stand for. A name that vars lacks, or that no
// condition has, makes all values alike.
func (r *Reader) Alike(vars []Var, assume []string, guards []Guard, name string, values [][]string) []int {
	a := r.analysis(vars, assume, guards)
	place, ok := a.byName[name]
	numbers := make([]int, len(values))
	if !ok {
		return numbers
	}
	all := slices.Concat(a.assume, a.guards)
	own := map[*cond]bool{}
	known := map[string]int{}
	ids := map[*cond]int{}
	for i, texts := range values {
		var key strings.Builder
		for _, text := range texts {
			f := a.fixing(place, text)
			for _, c := range all {
				if f == nil {
					key.WriteString(quote(text)) // no value of the variable's kind
					break
				}
				key.WriteString(f.key(c, own, ids))
				key.WriteByte(';')
			}
			key.WriteByte('|')
		}
		n, seen := known[key.String()]
		if !seen {
			n = len(known)
			known[key.String()] = n
		}
		numbers[i] = n
	}
	return numbers
}

// key is equal for what is left of a condition when values are put in that it
// does not tell apart.
func (f *fixing) key(c *cond, own map[*cond]bool, ids map[*cond]int) string {
	if !f.speaks(c, own) {
		id, seen := ids[c]
		if !seen {
			id = len(ids)
			ids[c] = id
		}
		return "#" + strconv.Itoa(id)
	}
	if key, ok := f.keys[c]; ok {
		return key
	}
	key := f.keyOf(c, own, ids)
	f.keys[c] = key
	return key
}

func (f *fixing) keyOf(c *cond, own map[*cond]bool, ids map[*cond]int) string {
	switch c.shape {
	case compare, nothing:
		left := f.cond(c)
		switch left.shape {
		case fixed:
			return "=" + strconv.Itoa(int(left.set))
		case nothing:
			return "(nothing " + f.show(left.left) + ")"
		}
		return "(" + strconv.Itoa(int(left.op)) + " " + f.show(left.left) + " " + f.show(left.right) + ")"
	case conj, disj:
		stops, passes := "="+strconv.Itoa(int(isFalse)), "="+strconv.Itoa(int(isTrue))
		if c.shape == disj {
			stops, passes = passes, stops
		}
		kids := make([]string, 0, len(c.kids))
		for _, k := range c.kids {
			switch key := f.key(k, own, ids); key {
			case stops:
				return stops
			case passes:
			default:
				kids = append(kids, key)
			}
		}
		if len(kids) == 0 {
			return passes
		}
		return "(" + strconv.Itoa(int(c.shape)) + " " + strings.Join(kids, " ") + ")"
	}
	text := "(" + strconv.Itoa(int(c.shape)) + "/" + strconv.Itoa(int(c.set))
	for _, k := range c.kids {
		text += " " + f.key(k, own, ids)
	}
	return text + ")"
}

// speaks reports whether a condition speaks of the variable, opaque parts apart.
func (f *fixing) speaks(c *cond, own map[*cond]bool) bool {
	if had, ok := own[c]; ok {
		return had
	}
	places := c.right.places(c.left.places(nil))
	out := slices.Contains(places, f.place) || slices.Contains(places, f.length) ||
		slices.ContainsFunc(c.kids, func(k *cond) bool { return f.speaks(k, own) })
	own[c] = out
	return out
}
