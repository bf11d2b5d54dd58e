package syntax

// maxMarks is about twice what the largest machine needs: ten thousand
// transitions with a guard, three sets and an emit have some 250,000. The
// library takes up to two kilobytes for each, and this is what bounds it.
const maxMarks = 500_000

// checkMarks reports a text that could have more keys and values than any
// definition, before the library builds them. It counts every mark that might
// begin a value or part two, those in texts and comments too: that needs no
// reading of quotes, and no value is without one, a few others apart.
func (r *reporter) checkMarks(s *source) bool {
	count := 0
	for at := range s.text {
		if !mark(s.text[at:]) {
			continue
		}
		if count++; count > maxMarks {
			r.add(s.position(at), CodeTooLarge, "there are too many keys and values up to here; split the definition into several machines")
			return false
		}
	}
	return true
}

// mark reports whether the first byte may begin or part values.
func mark(text []byte) bool {
	switch text[0] {
	case ',', '[', '{':
		return true
	case '-', '?', ':': // ends a word, else it is a part of one
		if len(text) == 1 {
			return true
		}
		switch text[1] {
		case ' ', '\t', '\r', '\n', ',', '[', ']', '{', '}':
			return true
		}
	}
	return false
}
