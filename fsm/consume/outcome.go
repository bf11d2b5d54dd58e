package consume

// Outcome is what became of one delivery.
type Outcome string

const (
	// Done: this delivery did the work. Acknowledge it.
	Done Outcome = "Done"
	// Duplicate: the work was done before. Acknowledge it.
	Duplicate Outcome = "Duplicate"
	// InProgress: another delivery of the key is being handled, and nobody knows
	// yet how it ends. Give the message back, so that it comes again.
	InProgress Outcome = "InProgress"
	// Dead: the message has failed its tries, or its key is none, and is stored as
	// a dead letter. Acknowledge it.
	Dead Outcome = "Dead"
	// Failed: nothing was done. Give the message back, so that it comes again.
	Failed Outcome = "Failed"
)

// Outcomes returns all outcomes.
func Outcomes() []Outcome { return []Outcome{Done, Duplicate, InProgress, Dead, Failed} }

// Ack reports whether the message is to be acknowledged. Otherwise it is to be
// given back to the broker.
func (o Outcome) Ack() bool { return o == Done || o == Duplicate || o == Dead }
