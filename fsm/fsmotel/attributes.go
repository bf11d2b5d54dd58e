package fsmotel

import (
	"errors"

	"go.opentelemetry.io/otel/attribute"

	"github.com/pawl-go/pawl/fsm"
)

// The attributes that are ours, and those that semantic conventions name.
const (
	machineKey     = attribute.Key("pawl.machine")
	eventKey       = attribute.Key("pawl.event")
	outcomeKey     = attribute.Key("pawl.outcome")
	provisionalKey = attribute.Key("pawl.provisional")
	fromKey        = attribute.Key("pawl.from")
	toKey          = attribute.Key("pawl.to")
	versionKey     = attribute.Key("pawl.version")
	statementsKey  = attribute.Key("pawl.statements")
	batchKey       = attribute.Key("pawl.calls")
	coalescedKey   = attribute.Key("pawl.coalesced")
	requestKey     = attribute.Key("pawl.request_id")
	attemptKey     = attribute.Key("pawl.attempt")
	topicKey       = attribute.Key("pawl.topic")
	parkedKey      = attribute.Key("pawl.parked")
	providerKey    = attribute.Key("pawl.provider")
	verdictKey     = attribute.Key("pawl.verdict")
	consumerKey    = attribute.Key("pawl.consumer")
	frontKey       = attribute.Key("pawl.front")
	commandKey     = attribute.Key("pawl.command")
	kindKey        = attribute.Key("pawl.kind")
	whatKey        = attribute.Key("pawl.what")
	lockKey        = attribute.Key("pawl.lock")
	partKey        = attribute.Key("pawl.part")
	endKey         = attribute.Key("pawl.end")

	errorKey    = attribute.Key("error.type")
	sqlStateKey = attribute.Key("db.response.status_code")
	poolKey     = attribute.Key("db.client.connection.pool.name")
	connKey     = attribute.Key("db.client.connection.state")
)

// errorType is the kind of an error, one of few words, and "" for none. No text of an
// error is ever told: the database's own may have values in it.
func errorType(err error) string {
	var state *fsm.UnknownStateError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &state):
		return "unknown_state"
	case errors.Is(err, fsm.ErrNotFound):
		return "not_found"
	case errors.Is(err, fsm.ErrRowFull):
		return "row_full"
	case errors.Is(err, fsm.ErrClosed):
		return "closed"
	case errors.Is(err, fsm.ErrArgument):
		return "argument"
	case errors.Is(err, fsm.ErrContended):
		return "contended"
	case errors.Is(err, fsm.ErrUnknown):
		return "unknown"
	case errors.Is(err, fsm.ErrNothingDone):
		return "nothing_done"
	}
	return "_OTHER" // as semantic conventions call it
}

// sqlState is the SQLSTATE of an error, "" for none.
func sqlState(err error) string {
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		return state.SQLState()
	}
	return ""
}

// cause is the SQLSTATE of an error, and its kind where it has none.
func cause(err error) string {
	if s := sqlState(err); s != "" {
		return s
	}
	return errorType(err)
}

// callersFault reports whether an error says nothing about the service: a trace in
// which a caller asked for what is not there is no trace that failed.
func callersFault(kind string) bool { return kind == "not_found" || kind == "argument" }
