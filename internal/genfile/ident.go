package genfile

import (
	"go/token"
	"go/types"
	"strings"
	"unicode"
	"unicode/utf8"
)

// initialisms are words that Go writes in one case.
var initialisms = map[string]string{
	"API": "API", "HTTP": "HTTP", "HTTPS": "HTTPS", "ID": "ID", "IDS": "IDs", "JSON": "JSON",
	"SQL": "SQL", "TTL": "TTL", "URI": "URI", "URL": "URL", "URLS": "URLs", "UTC": "UTC", "UUID": "UUID", "XML": "XML",
}

// Exported turns any text into an exported Go identifier, which may also
// follow another as its second part: order_id gives OrderID, "in transit"
// gives InTransit. Words that cannot be capitalized, as of Chinese or of a
// leading digit, follow an X. Different texts may give the same identifier;
// the caller checks. Text without a letter or digit gives "X".
func Exported(name string) string {
	var b strings.Builder
	for _, word := range words(name) {
		writeWord(&b, word)
	}
	out := b.String()
	if out == "" || !token.IsExported(out) {
		return "X" + out
	}
	return out
}

// Unexported is [Exported] with its first word in lower case: order_id gives
// orderID, ID gives id. The result is never a keyword or a predeclared name.
// Text without a letter or digit gives "x".
func Unexported(name string) string {
	var b strings.Builder
	for i, word := range words(name) {
		if i == 0 {
			b.WriteString(strings.ToLower(word))
			continue
		}
		writeWord(&b, word)
	}
	out := b.String()
	if !token.IsIdentifier("_"+out) || out == "" || !unicode.IsLetter([]rune(out)[0]) || token.IsExported(out) {
		out = "x" + out
	}
	return SafeIdent(out)
}

// Capital returns text with its first letter in upper case, Small with it in
// lower case, whatever its alphabet. Small may give two capitals one letter, as
// K and the Kelvin sign; the caller checks. Both return a text that does not
// begin with a letter as it is.
func Capital(text string) string { return first(text, unicode.ToUpper) }

// Small: see [Capital].
func Small(text string) string { return first(text, unicode.ToLower) }

func first(text string, to func(rune) rune) string {
	r, size := utf8.DecodeRuneInString(text)
	if r == utf8.RuneError && size < 2 {
		return text // empty, or no text at all
	}
	return string(to(r)) + text[size:]
}

// SafeIdent returns name, followed by "_" when it is a keyword, a predeclared
// name such as string or len, or the blank identifier.
func SafeIdent(name string) string {
	if reservedWord(name) {
		return name + "_"
	}
	return name
}

// reservedWord reports whether a name should not be declared: "init" is there
// because only functions may bear it at the top level.
func reservedWord(name string) bool {
	return name == "_" || name == "init" || token.IsKeyword(name) || types.Universe.Lookup(name) != nil
}

func identRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func digit(r rune) bool { return unicode.IsDigit(r) }

// writeWord appends a word capitalized. A digit after a digit is kept apart,
// so that 1_2 and 12 stay different.
func writeWord(b *strings.Builder, word string) {
	runes := []rune(word)
	if b.Len() > 0 && digit(runes[0]) {
		before := []rune(b.String())
		if digit(before[len(before)-1]) {
			b.WriteByte('_')
		}
	}
	if known, ok := initialisms[strings.ToUpper(word)]; ok {
		b.WriteString(known)
		return
	}
	if len(runes) > 1 && strings.ToUpper(word) == word {
		runes = []rune(strings.ToLower(word))
	}
	runes[0] = unicode.ToUpper(runes[0])
	b.WriteString(string(runes))
}

// words splits at whatever an identifier cannot hold, at "_", and where a
// capital begins a new word (orderId, HTTPServer). No word is empty.
func words(name string) []string {
	var out []string
	runes := []rune(name)
	start := 0
	cut := func(end int) {
		if end > start {
			out = append(out, string(runes[start:end]))
		}
		start = end
	}
	for i, r := range runes {
		switch {
		case r == '_' || !identRune(r):
			cut(i)
			start = i + 1
		case i > start && unicode.IsUpper(r):
			before := runes[i-1]
			afterIsLower := i+1 < len(runes) && unicode.IsLower(runes[i+1]) && unicode.IsUpper(before) && !plural(runes[i:])
			if unicode.IsLower(before) || afterIsLower {
				cut(i)
			}
		}
	}
	cut(len(runes))
	return out
}

// plural keeps the last two letters of "IDs" together.
func plural(rest []rune) bool {
	return rest[1] == 's' && (len(rest) == 2 || !unicode.IsLower(rest[2]))
}
