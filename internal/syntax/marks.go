package syntax

// maxMarks is well above what the largest machine needs: ten thousand
// transitions with a guard, three sets and an emit have some 240,000. The
// library takes up to two kilobytes for each, and this is what bounds it.
const maxMarks = 400_000

// checkMarks reports a text that could have more keys and values than any
// definition, before the library builds them. It counts every mark that might
// begin a value or part two, those in texts and comments too: that needs no
// reading of quotes, and no value is without one, a few others apart.
func (r *reporter) checkMarks(s *source) bool {
	count := 0
	for at, b := range s.text {
		if b == ' ' || 'a' <= b && b <= 'z' || !mark(s.text, at) { // most are none
			continue
		}
		if count++; count > maxMarks {
			r.add(s.position(at), CodeTooLarge, "there are too many keys and values up to here; split the definition into several machines")
			return false
		}
	}
	return true
}

// mark reports whether the byte at a place may begin or part values.
func mark(text []byte, at int) bool {
	switch text[at] {
	case ',', '[', '{':
		return true
	case '-', '?':
		return at+1 == len(text) || apart(text[at+1])
	case ':': // within a word it is a part of it, but not after a quote
		return at+1 == len(text) || apart(text[at+1]) || at > 0 && (apart(text[at-1]) || text[at-1] == '"' || text[at-1] == '\'')
	}
	return false
}

// apart reports whether a byte ends a word in brackets.
func apart(b byte) bool {
	switch b {
	case ' ', '\t', '\r', '\n', ',', '[', ']', '{', '}':
		return true
	}
	return false
}
