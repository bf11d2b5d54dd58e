package sqlcname

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/sqlcgen"
)

// What sqlc declares is what is said here.
func TestNamesAreThoseOfSqlc(t *testing.T) {
	t.Parallel()
	structs := map[string]string{
		"orders": "Order", "order_facts": "OrderFact", "order_history": "OrderHistory", "news": "News", "people": "Person",
		"campus": "Campus", "meta": "Meta", "metadata": "Metadata", "calories": "Calorie", "waves": "Wave", "statuses": "Status",
		"one_finish_rows": "OneFinishRow", "a__b": "AB", "id_cards": "IDCard", "ids": "ID", "x1_2y": "X12y", "order_data": "OrderDatum", "series": "Series",
	}
	var schema strings.Builder
	for table := range structs {
		fmt.Fprintf(&schema, "CREATE TABLE %s (id bigint NOT NULL, paid_by_id bigint NOT NULL, x_1y bigint NOT NULL);\n", table)
	}
	files, issues, err := sqlcgen.Generate(t.Context(), sqlcgen.Input{
		Migrations: []sqlcgen.File{{Name: "1.sql", Content: []byte(schema.String())}},
		Queries:    []sqlcgen.File{{Name: "q.sql", Content: []byte("-- name: One :one\nSELECT o.id, 1::bigint AS n FROM orders AS o WHERE o.id = @x;\n")}},
	})
	require.NoError(t, err)
	require.Empty(t, issues)
	var declared []string
	text := ""
	for _, f := range files {
		text += string(f.Content)
		for _, m := range regexp.MustCompile(`(?m)^(?:type|func) ([A-Z]\w*)`).FindAllSubmatch(f.Content, -1) {
			declared = append(declared, string(m[1]))
		}
	}
	want := append(Own(), Params("One"), Row("One"))
	for table, name := range structs {
		require.Equal(t, name, Struct(table), table)
		want = append(want, name)
	}
	require.ElementsMatch(t, want, declared)
	for column, field := range map[string]string{"id": "ID", "paid_by_id": "PaidByID", "x_1y": "X1y"} {
		require.Equal(t, field, Field(column))
		require.Regexp(t, `(?m)^\t`+field+` +int64`, text)
	}
}
