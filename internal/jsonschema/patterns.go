package jsonschema

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/model"
)

// Patterns are of the part that RE2 and ECMAScript share. None refuses what
// the checker takes.
const (
	// duration is Go's, with d for a day in front.
	duration = `^(\+?` + goTime + `+|[0-9]{1,5}d(0|` + goTime + `*))$`
	goTime   = `(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))`
	language = `^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`
	// printable has no space at an end.
	printable = `^\S(.*\S)?$`
)

// name is the schema of a text that is a name of the kind.
func name(kind check.Names) object {
	switch kind {
	case check.NamesLanguage:
		return pattern(language, "write a tag of a language, such as en, zh or pt-BR")
	case check.NamesPlain, check.NamesBase:
		return pattern(fmt.Sprintf("^[a-z][a-z0-9_]{0,%d}$", kind.Longest()-1),
			fmt.Sprintf("a name begins with a letter a-z, goes on with a-z, 0-9 and _, and has at most %d of them", kind.Longest()))
	}
	return pattern(printable, "a name neither begins nor ends with a space").with("minLength", 1).with("maxLength", kind.Longest())
}

// pattern has the message that editors show instead of the expression.
func pattern(expr, message string) object {
	return object{{"pattern", expr}, {"patternErrorMessage", message}}
}

// types is the schema of a PostgreSQL type: the names to choose from, and
// every spelling of them. With only, those alone.
func types(only []string) object {
	words, spellings := spelled(only)
	if len(only) == 0 {
		return object{{"anyOf", []object{{{"enum", words}}, ref(typeName)}}}
	}
	return object{{"anyOf", []object{{{"enum", only}}, typeSchema(spellings, "write "+strings.Join(only, ", "))}}}
}

// typeName is where the schema of all types stands.
const typeName = "type"

// anyType is the schema of all types.
func anyType() object {
	words, spellings := spelled(nil)
	return typeSchema(spellings, "a type is one of "+strings.Join(words, ", ")+", varchar(n) and numeric(p,s)")
}

func typeSchema(spellings []string, message string) object {
	return append(object{{"type", "string"}}, pattern(`^\s*(`+strings.Join(spellings, "|")+`)\s*$`, message)...)
}

// spelled returns the types in PostgreSQL's own words, and patterns of all of
// their names.
func spelled(only []string) (words, spellings []string) {
	for _, alias := range model.TypeNames() {
		t, plain := model.ParseType(alias)
		if len(only) > 0 && !slices.Contains(only, t.SQL) {
			continue
		}
		if t.SQL == alias {
			words = append(words, alias)
		}
		spellings = append(spellings, spelling(alias, plain))
	}
	return words, spellings
}

// spelling matches a type's name in any letter case and with any spaces, and
// the length or precision that it may have.
func spelling(alias string, plain bool) string {
	var b strings.Builder
	for _, r := range alias {
		switch {
		case unicode.IsLower(r):
			fmt.Fprintf(&b, "[%c%c]", r, unicode.ToUpper(r))
		case r == ' ':
			b.WriteString(`\s+`)
		default:
			b.WriteRune(r)
		}
	}
	switch {
	case takes(alias, "(9)") && takes(alias, "(9,2)"):
		b.WriteString(optional(`\s*\(\s*[0-9]{1,8}\s*(,\s*[0-9]{1,4}\s*)?\)`, plain))
	case takes(alias, "(9)"):
		b.WriteString(optional(`\s*\(\s*[0-9]{1,8}\s*\)`, plain))
	}
	return b.String()
}

func takes(alias, suffix string) bool {
	_, ok := model.ParseType(alias + suffix)
	return ok
}

func optional(expr string, may bool) string {
	if may {
		return "(" + expr + ")?"
	}
	return expr
}
