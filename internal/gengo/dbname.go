package gengo

import (
	"strings"

	"github.com/pawl-go/pawl/internal/genfile"
)

// dbField is the Go field that sqlc makes of a column or parameter name: each
// part between underscores with a capital first letter, and "id" as ID.
func dbField(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		switch {
		case part == "":
		case part == "id":
			b.WriteString("ID")
		default:
			b.WriteString(genfile.Capital(part))
		}
	}
	return b.String()
}
