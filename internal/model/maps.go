package model

import "github.com/pawl-go/pawl/internal/diag"

// Map holds what the status words of one outside system, such as a payment
// provider, mean to the machine. A word that is not in it is unknown: whoever
// receives it keeps the row as it is and reports the word.
type Map struct {
	Name string
	// Ident is the exported Go identifier part. Unique in the machine.
	Ident  string
	Values []MapValue
	Pos    diag.Position
}

// MapValue is one word of an outside system.
type MapValue struct {
	Word string
	// Event is nil for a word that moves nothing.
	Event *Event
	// Keep says why a word that moves nothing does so; empty for one with an event.
	Keep string
	Pos  diag.Position
}
