package check

import (
	"strings"

	"github.com/pawl-go/pawl/internal/example"
	"github.com/pawl-go/pawl/internal/logic"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

// ownDefault reports a default that the column itself refuses, so that every
// row that is created without a value fails: NULL where it must not be, or a
// value that breaks the column's check whatever the other columns are.
func (c *checker) ownDefault(column *model.Column, fields *syntax.Mapping) {
	if column.Default == nil || column.Type.SQL == "" {
		return
	}
	pos := fields.Get("default").Pos
	source := strings.TrimSpace(column.Default.Source)
	if strings.EqualFold(source, "NULL") {
		if !column.Optional {
			c.errorf(pos, CodeSQLType, "the default of column %s is NULL, which the column cannot be; delete it, or write optional: true", quote(column.Name))
		}
		return
	}
	if column.Check == nil {
		return
	}
	is := logic.Guard{SQL: `"` + column.Name + `" IS NOT DISTINCT FROM (` + source + ")"}
	report := logic.Analyse(example.Variables(c.machine.Table, nil), []string{column.Check.Source}, []logic.Guard{is})
	// A check that no value passes is no fault of the default.
	none := logic.Analyse(example.Variables(c.machine.Table, nil), []string{column.Check.Source}, []logic.Guard{{}})
	if report.Never[0].Answer == logic.Yes && none.Never[0].Answer != logic.Yes {
		c.errorf(pos, CodeSQLType, "the default of column %s breaks its check, %s, so a row that is created without a value fails; give another default, or correct the check",
			quote(column.Name), quote(strings.Join(strings.Fields(column.Check.Source), " ")))
	}
}
