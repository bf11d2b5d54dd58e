package sqlexpr

import "slices"

// binary returns the operator that PostgreSQL takes for two types, or nil: the
// exact one, also with a quoted literal read as the other side's type, or the
// one that oper_select_candidate of parse_oper.c chooses.
func (c *catalog) binary(name, left, right string) *signature {
	a, b := left, right
	if a == unknownType {
		a = b
	} else if b == unknownType {
		b = a
	}
	all := matching(c.operators[name], 2)
	if i := slices.IndexFunc(all, func(s signature) bool { return s.args[0] == a && s.args[1] == b }); i >= 0 && a != unknownType {
		return &all[i]
	}
	return c.choose(all, []string{left, right})
}

func (c *catalog) unary(name, right string) *signature {
	all := matching(c.operators[name], 1)
	if i := slices.IndexFunc(all, func(s signature) bool { return s.args[0] == right }); i >= 0 {
		return &all[i]
	}
	return c.choose(all, []string{right})
}

func matching(all []signature, n int) []signature {
	var out []signature
	for _, s := range all {
		if len(s.args) == n {
			out = append(out, s)
		}
	}
	return out
}

// function returns the function that PostgreSQL takes for a call, its args one
// for each argument in the order given, or nil. names has the name of each
// argument that is written with one; expanded says that the arguments of a
// variadic function are not given as one array.
func (c *catalog) function(name string, given, names []string, expanded bool) *signature {
	var all []signature
	for _, s := range c.functions[name] {
		if args, ok := s.called(len(given), names, expanded); ok {
			all = append(all, signature{args: args, result: s.result})
		}
	}
	if i := slices.IndexFunc(all, func(s signature) bool { return slices.Equal(s.args, given) }); i >= 0 {
		return &all[i]
	}
	return c.choose(all, given)
}

// called returns the declared types of a call's n arguments, in their order.
func (s signature) called(n int, names []string, expanded bool) (args []string, ok bool) {
	if s.variadic != "" && expanded {
		if n < len(s.args) || slices.ContainsFunc(names, func(name string) bool { return name != "" }) {
			return nil, false
		}
		args = slices.Clone(s.args[:len(s.args)-1])
		for len(args) < n {
			args = append(args, s.variadic)
		}
		return args, true
	}
	if n > len(s.args) || n < len(s.args)-s.defaults || !expanded && s.variadic == "" {
		return nil, false
	}
	taken := map[int]bool{}
	for i := range n {
		at := i
		if names[i] != "" {
			at = slices.Index(s.names, names[i])
		}
		if at < 0 || taken[at] {
			return nil, false
		}
		taken[at] = true
		args = append(args, s.args[at])
	}
	for i := range len(s.args) - s.defaults {
		if !taken[i] {
			return nil, false
		}
	}
	return args, true
}

// choose returns the signature that fits best, or nil when none fits, or several
// do equally well. It follows func_match_argtypes and func_select_candidate of
// parse_func.c, whose rules the manual tells in its chapter "Type Conversion".
func (c *catalog) choose(all []signature, given []string) *signature {
	var left []signature
	for _, s := range all {
		if c.accepts(s.args, given) {
			left = append(left, s)
		}
	}
	left = most(left, func(s signature) (n int) {
		for i, g := range given {
			if g != unknownType && s.args[i] == g {
				n++
			}
		}
		return n
	})
	left = most(left, func(s signature) (n int) {
		for i, g := range given {
			k := c.kind(s.args[i])
			if g != unknownType && (s.args[i] == g || k.preferred && k.category == c.kind(g).category) {
				n++
			}
		}
		return n
	})
	if len(left) > 1 && slices.Contains(given, unknownType) {
		left = c.byCategory(left, given)
	}
	if len(left) > 1 {
		left = c.bySameType(left, given)
	}
	if len(left) != 1 {
		return nil
	}
	return &left[0]
}

// most keeps the signatures with the highest score.
func most(all []signature, score func(signature) int) []signature {
	best, out := 0, []signature(nil)
	for _, s := range all {
		switch n := score(s); {
		case n > best || out == nil:
			best, out = n, []signature{s}
		case n == best:
			out = append(out, s)
		}
	}
	return out
}

// byCategory keeps the signatures that take quoted literals as texts where one
// does, else as the one category that all want, there as its preferred type.
func (c *catalog) byCategory(all []signature, given []string) []signature {
	want := make([]kindOfType, len(given))
	for i, g := range given {
		if g != unknownType {
			continue
		}
		conflict := false
		for _, s := range all {
			k := c.kind(s.args[i])
			switch w := &want[i]; {
			case w.category == "":
				*w = k
			case w.category == k.category:
				w.preferred = w.preferred || k.preferred
			case k.category == "S":
				*w = k
			default:
				conflict = true
			}
		}
		if conflict && want[i].category != "S" {
			return all
		}
	}
	var out []signature
	for _, s := range all {
		fits := true
		for i, g := range given {
			k := c.kind(s.args[i])
			fits = fits && (g != unknownType || k.category == want[i].category && (k.preferred || !want[i].preferred))
		}
		if fits {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return all
	}
	return out
}

// bySameType reads quoted literals as the type that all others have.
func (c *catalog) bySameType(all []signature, given []string) []signature {
	same := unknownType
	for _, g := range given {
		switch {
		case g == unknownType || g == same:
		case same == unknownType:
			same = g
		default:
			return all
		}
	}
	if same == unknownType || !slices.Contains(given, unknownType) {
		return all
	}
	var out []signature
	for _, s := range all {
		if c.accepts(s.args, slices.Repeat([]string{same}, len(given))) {
			out = append(out, s)
		}
	}
	return out
}
