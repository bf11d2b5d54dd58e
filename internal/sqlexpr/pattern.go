package sqlexpr

import "strings"

// pattern judges a regular expression.
func (t *typer) pattern(v typed) {
	if says := brokenPattern(*v.text); says != "" {
		t.add(v.at, Unreadable, *v.text, "'%s' is no regular expression: %s", *v.text, says)
	}
}

// brokenPattern says what is certainly wrong with a regular expression of
// PostgreSQL's advanced kind: brackets that do not match, nothing before the
// first quantifier, and a backslash at the end. Patterns that choose another
// kind, or options of their own, are left to PostgreSQL.
func brokenPattern(text string) string {
	if strings.HasPrefix(text, "***") || strings.HasPrefix(text, "(?") {
		return ""
	}
	open := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i++; i == len(text) {
				return "a backslash stands at its end"
			}
		case '(':
			open++
		case ')':
			if open--; open < 0 {
				return "a ) closes nothing; write \\) for the character"
			}
		case '[':
			end := closesClass(text, i)
			if end < 0 {
				return "a [ is not closed; write \\[ for the character"
			}
			i = end
		case '*', '+', '?':
			if i == 0 {
				return "nothing stands before " + text[:1] + ", to be repeated"
			}
		}
	}
	if open > 0 {
		return "a ( is not closed; write \\( for the character"
	}
	return ""
}

// closesClass returns where the class that begins at a [ ends, or -1.
func closesClass(text string, at int) int {
	i := at + 1
	if i < len(text) && text[i] == '^' {
		i++
	}
	if i < len(text) && text[i] == ']' {
		i++
	}
	for ; i < len(text); i++ {
		switch {
		case text[i] == ']':
			return i
		case text[i] == '\\':
			i++
		case text[i] == '[' && i+1 < len(text) && strings.IndexByte(".:=", text[i+1]) >= 0:
			end := strings.Index(text[i+2:], text[i+1:i+2]+"]")
			if end < 0 {
				return -1
			}
			i += 2 + end + 1
		}
	}
	return -1
}
