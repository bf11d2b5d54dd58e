package gensql

// Rename is a state that is called otherwise than before while rows, or
// programs of before, still use the name of then. What the queries read is
// both names, and what they answer is that of today.
type Rename struct {
	Was string `json:"was"`
	Is  string `json:"is"`
	// Step is RenameExpand or RenameMigrate.
	Step string `json:"step"`
}

// Steps of a rename. They say which name is written: in the status column, in
// history and facts, outbox and audit.
const (
	// RenameExpand: programs of before run beside this one and know the name of
	// then alone, so that is written.
	RenameExpand = "expand"
	// RenameMigrate: no program of before runs any more, rows of then are still
	// there; the name of today is written.
	RenameMigrate = "migrate"
)
