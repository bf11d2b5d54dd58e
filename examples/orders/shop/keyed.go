package shop

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/fsm/command/commandhttp"
)

// The commands that take an Idempotency-Key, as their records and
// GET /commands name them.
const (
	commandCreate = "order.create"
	commandRefund = "order.refund"
)

// keyed is a command that may come with a key.
type keyed struct {
	command *command.Command
	under   func(http.Handler) http.Handler
}

// newKeyed declares a command.
func (s *Service) newKeyed(name string) (keyed, error) {
	told := s.telemetry.Commanded(name)
	observe := func(ctx context.Context, o command.Outcome) {
		told(ctx, o)
		s.countDone(ctx, o)
	}
	c := &command.Command{Name: name, Observe: observe, Headers: append(command.DefaultHeaders(), "Cache-Control")}
	under, err := commandhttp.New(commandhttp.Options{
		Command: c, DB: s.pool, Caller: callerOf, MaxBody: maxBody,
		Failed: func(r *http.Request, err error) {
			s.log.ErrorContext(r.Context(), "command failed", "command", name, "error", err)
		},
	})
	return keyed{command: c, under: under}, err
}

// callerOf is whose keys a request's are: the actor that the gateway names. A key
// without one is refused, or strangers would share their keys.
func callerOf(r *http.Request) (commandhttp.Caller, error) {
	actor := r.Header.Get("X-Actor")
	if !printable(actor) {
		return commandhttp.Caller{}, errors.New("no X-Actor")
	}
	return commandhttp.Caller{Scope: actor}, nil
}

// once has a request with an Idempotency-Key work in one transaction with the
// record of its key and its reply. Without the header the handler runs as ever,
// and the numbers in its body alone tell a repetition.
func (s *Service) once(k keyed, h handler) http.Handler {
	plain := s.answering(h)
	under := k.under(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*pendingOf(r.Context()) = nil // of a run before, which was rolled back
		plain.ServeHTTP(w, r)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header.Values(commandhttp.KeyHeader)) == 0 {
			plain.ServeHTTP(w, r)
			return
		}
		under.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), pendingKey{}, new(tally))))
	})
}

// db is where a handler works: in its command's transaction when it has one.
func (s *Service) db(ctx context.Context) fsm.DB {
	if tx, ok := commandhttp.Tx(ctx); ok {
		return tx
	}
	return s.pool
}

type pendingKey struct{}

// pendingOf is what a command's run has done and not committed, nil outside of one.
func pendingOf(ctx context.Context) *tally {
	t, _ := ctx.Value(pendingKey{}).(*tally)
	return t
}

// did counts what a handler did: now, or with its command's commit.
func (s *Service) did(ctx context.Context, t tally) {
	if pending := pendingOf(ctx); pending != nil {
		*pending = append(*pending, t...)
		return
	}
	s.count(t)
}

// countDone counts what a run did once its reply is kept, a refusal too.
func (s *Service) countDone(ctx context.Context, outcome command.Outcome) {
	pending := pendingOf(ctx)
	if pending != nil && (outcome == command.Done || outcome == command.Refused) {
		s.count(*pending)
	}
}

// commandView is how far a command is.
type commandView struct {
	Progress command.Progress `json:"progress"`
	Since    time.Time        `json:"since"`
	// Status and Reply are those of a command that is finished.
	Status int             `json:"status,omitempty"`
	Reply  json.RawMessage `json:"reply,omitempty"`
}

// getCommand says how far the caller's command of a key is: 202 while it is
// worked on, so that whoever lost the answer asks here and need not send again.
func (s *Service) getCommand(w http.ResponseWriter, r *http.Request) error {
	var c *command.Command
	switch r.PathValue("command") {
	case commandCreate:
		c = s.create.command
	case commandRefund:
		c = s.refund.command
	default:
		return &statusError{status: http.StatusNotFound, detail: "there is no such command"}
	}
	caller, err := callerOf(r)
	if err != nil {
		return &statusError{status: http.StatusUnauthorized, detail: "it is not known who asks", cause: err}
	}
	found, err := c.Status(r.Context(), s.pool, caller.Scope, r.PathValue("key"))
	if err != nil {
		return err
	}
	status := http.StatusOK
	switch found.Progress {
	case command.NotKnown:
		return &statusError{status: http.StatusNotFound, detail: "nothing is known of this key"}
	case command.Working:
		status = http.StatusAccepted
		w.Header().Set("Retry-After", "1")
	}
	return writeJSON(w, status, commandView{
		Progress: found.Progress, Since: found.Since, Status: found.Reply.Status, Reply: found.Reply.Body,
	})
}

// SweepCommands archives the commands whose retention is over, and returns how
// many they were, also beside an error. Serve does it by itself.
func (s *Service) SweepCommands(ctx context.Context) (int, error) {
	created, err := s.create.command.Sweep(ctx, s.pool, 0)
	refunded, err2 := s.refund.command.Sweep(ctx, s.pool, 0)
	return created + refunded, errors.Join(err, err2)
}
