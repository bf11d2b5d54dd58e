package gengo

import "github.com/pawl-go/pawl/internal/sqlcname"

// dbField is the Go field that gen/db has for a column or parameter.
func dbField(name string) string { return sqlcname.Field(name) }
