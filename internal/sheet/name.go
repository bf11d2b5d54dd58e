package sheet

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Names makes names of sheets for one workbook. The zero value is ready.
type Names struct{ taken map[string]bool }

// Make returns a legal name that reads like the text and that Make has not
// returned before, capitals aside: what a name cannot hold becomes a hyphen, the
// rest is cut to MaxName, and a name that is taken gets a number. An empty text
// is "Sheet".
func (n *Names) Make(text string) string {
	base := strings.Map(func(r rune) rune {
		if strings.ContainsRune(notInName, r) || unicode.IsControl(r) || r >= 0xFFFE && r <= 0xFFFF {
			return '-'
		}
		return r
	}, text)
	for i := 1; ; i++ {
		suffix := ""
		if i > 1 {
			suffix = " " + strconv.Itoa(i)
		}
		name := trimName(head(trimName(base), MaxName-len(suffix)))
		if name == "" {
			name = "Sheet"
		}
		name += suffix
		if key := fold(name); key != reserved && !n.taken[key] {
			if n.taken == nil {
				n.taken = map[string]bool{}
			}
			n.taken[key] = true
			return name
		}
	}
}

// notInName are the characters that a sheet's name cannot hold.
const notInName = `:\/?*[]`

// reserved is what a spreadsheet calls a sheet of its own.
const reserved = "history"

// trimName takes away what may not stand at the ends of a name.
func trimName(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r == '\'' || unicode.IsSpace(r) })
}

// head is as much of the text as has at most max UTF-16 units.
func head(text string, max int) string {
	n := 0
	for i, r := range text {
		if n += utf16.RuneLen(r); n > max {
			return text[:i]
		}
	}
	return text
}

// fold is equal for names that differ in capitals alone.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// legal reports whether a spreadsheet takes the name.
func legal(name string) bool {
	return name != "" && units(name) <= MaxName && fold(name) != reserved &&
		!strings.ContainsAny(name, notInName) && !strings.ContainsFunc(name, unicode.IsControl) &&
		!strings.HasPrefix(name, "'") && !strings.HasSuffix(name, "'") && Clean(name) == name
}
