package studio

import "slices"

// policed says that row-level security decides which rows of some tables are seen.
type policed struct {
	Role   string
	Tables []string
}

// policed gathers the tables of several figures, each once; nil for none.
func (l *rows) policed(of ...[]string) *policed {
	tables := slices.Concat(of...)
	if len(tables) == 0 {
		return nil
	}
	slices.Sort(tables)
	return &policed{l.db.Role(), slices.Compact(tables)}
}
