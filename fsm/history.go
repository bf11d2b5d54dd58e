package fsm

import "time"

// Entry is one entry of a row's history. Order entries by version: two may
// carry the same time, or times out of order.
type Entry[S ~string] struct {
	Version int64
	// Event is "create" for the creation, "correct" for a forced correction, and
	// "adopted" for a row that was there before its machine.
	Event string
	// From is empty for the creation, and where a row was adopted.
	From, To                 S
	Actor, Reason, RequestID string
	// Forced says that the entry is a correction, free of the machine's edges.
	Forced bool
	At     time.Time
}

// Swept is one row that a deadline moved.
type Swept struct {
	Machine, Event string
	// Key is the row's key as PostgreSQL writes it.
	Key      string
	From, To string
	// Version is the row's version after the transition.
	Version int64
}
