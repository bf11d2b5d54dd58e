package gensql

import (
	"strings"

	"github.com/pawl-go/pawl/internal/sqlname"
)

// ident and literal stand in nearly every line of SQL here, hence their short
// names.
func ident(name string) string   { return sqlname.Ident(name) }
func literal(text string) string { return sqlname.Literal(text) }

// literals joins string constants with commas.
func literals(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = literal(t)
	}
	return strings.Join(quoted, ", ")
}
