package attempt

// What is the sort of thing that happened to an attempt.
type What string

// What happens to attempts, for counting.
const (
	// WasStarted: Start made the attempt; the caller's transaction may still
	// roll it back.
	WasStarted What = "started"
	// WasTakenOver: a round found an earlier owner's lease run out.
	WasTakenOver What = "taken over"
	// WasStepped: a step was passed.
	WasStepped What = "stepped"
	// WasSent: the call was made, whatever came of it.
	WasSent What = "sent"
	// WasQueried: the provider was asked about the attempt.
	WasQueried What = "queried"
	// WasSucceeded and WasRefused: the answer was recorded.
	WasSucceeded What = "succeeded"
	WasRefused   What = "refused"
	// WasPutOff: the round ended nothing, another will be due; Err says why.
	WasPutOff What = "put off"
	// WasStuck: the attempt was left to a person; Err says why.
	WasStuck What = "stuck"
	// WasLost: this owner's lease had run out and another took over.
	WasLost What = "lost"
	// WasCompleted: the business change is committed.
	WasCompleted What = "completed"
)

// Notice says what happened to which attempt.
type Notice struct {
	Kind, ID string
	What     What
	// Err is the cause, nil where there is none.
	Err error
}

func (k *Kind) notify(id string, what What, err error) {
	if k.Notify != nil {
		k.Notify(Notice{k.Name, id, what, err})
	}
}
