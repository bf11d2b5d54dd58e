package live

import "time"

// Lags is what waits in the tables beside the machines. A part whose tables are not
// there is nil; one that could not be read is nil too, and Failed says why.
type Lags struct {
	Outbox   *Outbox
	Inbox    *Inbox
	Commands *Commands
	Attempts *Attempts
	Letters  *Letters
	Tokens   *Tokens
	Locks    Locks
	Server   Server
	// Due are the machines with deadlines, in order.
	Due []DueOf
	// Failed are parts that could not be read.
	Failed   []Failed
	Policies []string
}

// Failed is a part that could not be read, by the name of its package, and why.
type Failed struct {
	Part string
	Err  error
}

// DueOf is what is overdue of a machine. Numbers of rows end at Most here and below.
type DueOf struct {
	Machine string
	Overdue int64
	// First is for how long the first of them has been, 0 for none.
	First time.Duration
}

// Outbox is what is to be delivered.
type Outbox struct {
	Waiting int64
	Oldest  time.Duration // of the first
	Topics  []TopicCount  // of the first Most
	// Relay says that the relay's tables are there, of which the rest is.
	Relay        bool
	Held, Parked int64
	Holds        []Held // the parked first
	Aside        int64
	// Sent is how many were sent in the last Window, and SentLast how long ago the last
	// was, nil for none.
	Sent     int64
	SentLast *time.Duration
}

// TopicCount is what waits of a topic.
type TopicCount struct {
	Topic string
	N     int64
}

// Held is a row of business whose messages are held up.
type Held struct {
	Machine, Key string
	Tries        int32
	Error        string
	Since        time.Time
	Next         *time.Time // nil where a person has to act: parked, or held until an infinite time
}

// Inbox is what callbacks left to do.
type Inbox struct {
	Waiting int64
	// Late is for how long the first has been due, 0 or less for none.
	Late time.Duration
	Dead int64
	// Odd are deliveries in conflict or unreadable that are kept; some may be closed.
	Odd     int64
	Refused []Refused
	Events  []Waiting // those that are dead, and those that have waited longest
}

// Refused are deliveries that were not believed, of the last days.
type Refused struct {
	Provider, Reason string
	N                int64
	Last             time.Time
}

// Waiting is an event that is parked or dead.
type Waiting struct {
	ID                                              int64
	Provider, EventID, Type, Object, State, Outcome string
	Reason                                          string
	Attempts                                        int32
	Due                                             *time.Time
	ReceivedAt                                      time.Time
}

// Commands are idempotent commands: the newest of each, since there is no other index.
type Commands struct{ Kinds []CommandKind }

// CommandKind counts the newest records of one command.
type CommandKind struct {
	Command             string
	Of, Done, Running   int64
	Abandoned, Refusals int64 // without a reply behind their lease; replies of 400 and above
}

// Attempts are calls to providers.
type Attempts struct{ Kinds []AttemptKind }

// AttemptKind counts the attempts of one kind.
type AttemptKind struct {
	Kind         string
	Due, Overdue int64
	Late         time.Duration // for how long the first has been due
	Stuck        int64
}

// Letters are messages that consumers gave up.
type Letters struct{ Consumers []Consumer }

// Consumer counts the open dead letters of one consumer.
type Consumer struct {
	Name  string
	Open  int64
	Since *time.Time
}

// Tokens are one-time tokens that a sweep should have taken.
type Tokens struct{ Unswept int64 }

// Locks are the locks of fsm/lock that are in PostgreSQL now: all, or where a program
// falls back from Redis those of the fallback.
type Locks struct{ Held, Waiting int64 }

// Server is the database server.
type Server struct {
	Version string
	// Replica says that this is one; then Behind is by how much, nil where not known.
	Replica bool
	Behind  *time.Duration
	// Replicas are the server's own, with what the role may see of them.
	Replicas []Replica
}

// Replica is one that follows the server. A role without pg_monitor sees no more than
// that it is there.
type Replica struct {
	Name, State, Sync string
	Lag               *time.Duration // nil where there is none to tell
}
