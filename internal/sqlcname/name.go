// Package sqlcname says what sqlc calls in Go that which it finds in SQL, so
// that a clash can be told, and a name used, before sqlc has run. The names of
// what fsmgen itself declares it leaves to internal/genfile.
package sqlcname

import (
	"slices"
	"strings"

	"github.com/jinzhu/inflection"

	"github.com/pawl-go/pawl/internal/genfile"
)

// Field is the Go field of a column or a parameter: each part between
// underscores with a capital first letter, and "id" as ID.
func Field(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		if part == "id" {
			b.WriteString("ID")
		} else {
			b.WriteString(genfile.Capital(part))
		}
	}
	return b.String()
}

// Struct is the Go type of a table's row, in the singular: Order for orders.
func Struct(table string) string { return Field(singular(table)) }

// singular is what sqlc takes for it: a library's word, but for some in which
// that is wrong.
func singular(table string) string {
	switch table {
	case "campus", "meta", "metadata":
		return table
	case "calories":
		return "calorie"
	case "waves":
		return "wave"
	}
	return inflection.Singular(table)
}

// Own lists the exported names that every package of sqlc declares itself.
func Own() []string { return slices.Clone(own) }

var own = []string{"DBTX", "New", "Queries"}

// Params and Row are the types of a query's arguments and of its answer. A
// query whose answer has the columns of a table, in their order, has the
// table's type instead.
func Params(query string) string { return query + "Params" }

// Row: see [Params].
func Row(query string) string { return query + "Row" }
