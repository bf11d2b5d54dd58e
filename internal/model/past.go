package model

// Past is what the migrations have made of a machine and its definition says no
// longer, by the names of today. Rows, history and facts may still tell of it.
type Past struct {
	States []PastState
	// Initial are states in which rows were created.
	Initial []string
	// Edges are moves that were legal, those of today among them.
	Edges [][2]string
	// Former are names that states had once, each with the name of today. A name
	// may have been that of several states, one after another, or be one's today.
	Former [][2]string
	// Identities are events that have left facts.
	Identities []string
	// Due are states whose rows may lack the due time that they should have, or
	// have one, since programs generated before move them too.
	Due []string
}

// PastState is a state that is no longer declared.
type PastState struct {
	Name string
	Code int
	// Pending says that rows may still stand in it.
	Pending bool
}
