package shop

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-go/pawl/fsm"
)

// problem is a refusal as RFC 9457 has it. The type is always "about:blank", so
// that status and the members below say what a program needs.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	// Field names the part of the request that is wrong.
	Field string `json:"field,omitempty"`
	// Outcome, State, Version and Guards are those of a call that was refused.
	Outcome fsm.Outcome `json:"outcome,omitempty"`
	State   string      `json:"state,omitempty"`
	Version int64       `json:"version,omitempty"`
	Guards  []guardView `json:"guards,omitempty"`
}

type guardView struct {
	Name     string `json:"name,omitempty"`
	Describe string `json:"describe"`
}

// FieldError says which part of a request is wrong, and why. It never holds the
// value.
type FieldError struct {
	Field, Reason string
}

// Error names the field and the reason.
func (e *FieldError) Error() string { return e.Field + " " + e.Reason }

// statusError is a refusal with a status of its own. The cause is for the log.
type statusError struct {
	status int
	detail string
	cause  error
}

// Error is for the log: the detail, and what caused it.
func (e *statusError) Error() string {
	if e.cause == nil {
		return e.detail
	}
	return fmt.Sprintf("%s: %v", e.detail, e.cause)
}

// Unwrap returns the cause, nil for none.
func (e *statusError) Unwrap() error { return e.cause }

// problemOf says what the caller of a method is told about err. It shows the text of this
// package's own errors alone: a database's may hold values.
func problemOf(method string, err error) problem {
	var (
		field   *FieldError
		status  *statusError
		refused *fsm.RefusedError
		large   *http.MaxBytesError
		unknown *fsm.UnknownStateError
	)
	switch {
	case errors.As(err, &field):
		return problem{Status: http.StatusBadRequest, Detail: field.Error(), Field: field.Field}
	case errors.As(err, &large):
		return problem{Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf("the body is over %d bytes", large.Limit)}
	case errors.As(err, &status):
		return problem{Status: status.status, Detail: status.detail}
	case errors.As(err, &refused):
		return refusal(refused)
	case errors.Is(err, fsm.ErrNotFound):
		return problem{Status: http.StatusNotFound, Detail: "there is no such row"}
	case errors.Is(err, fsm.ErrArgument):
		return problem{Status: http.StatusBadRequest, Detail: "an argument is missing or impossible"}
	case errors.As(err, &unknown):
		return problem{Status: http.StatusInternalServerError, Detail: unknown.Error(), State: unknown.State}
	case method == http.MethodGet && (late(err) || errors.Is(err, fsm.ErrUnknown)): // who only looks does nothing
		return problem{Status: http.StatusServiceUnavailable, Detail: "the database did not answer; try again"}
	case !errors.Is(err, fsm.ErrUnknown) && (fsm.Retryable(err) || unreachable(err) || late(err) && errors.Is(err, fsm.ErrNothingDone)):
		return problem{Status: http.StatusServiceUnavailable, Detail: "nothing was done; try again"}
	case errors.Is(err, fsm.ErrUnknown), late(err):
		return problem{Status: http.StatusServiceUnavailable, Detail: "whether this took effect is not known; the same request again is safe"}
	}
	return problem{Status: http.StatusInternalServerError, Detail: "the request failed; the log has the cause under its request id"}
}

// refusal tells a refused outcome: 412 when only the expected version was wrong,
// otherwise 409.
func refusal(e *fsm.RefusedError) problem {
	p := problem{
		Status: http.StatusConflict, Outcome: e.Outcome, State: e.State, Version: e.Version,
		Detail: "the state does not allow this",
	}
	switch e.Outcome {
	case fsm.Stale:
		p.Status, p.Detail = http.StatusPreconditionFailed, "the row has another version; reload and decide again"
	case fsm.Mismatched:
		p.Detail = "this was told before with other values, or for another row"
	case fsm.GuardFailed:
		p.Detail = "no condition for this is true"
		for _, g := range e.Guards {
			p.Guards = append(p.Guards, guardView{Name: g.Name, Describe: g.Describe})
		}
	}
	return p
}

// late reports that the time of the request was over, or its caller gone.
func late(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// unreachable reports that no connection to the database was to be had.
func unreachable(err error) bool {
	var connect *pgconn.ConnectError
	return errors.As(err, &connect)
}

// writeProblem sends p. What is worth another try says when.
func writeProblem(w http.ResponseWriter, p problem) {
	p.Type, p.Title = "about:blank", http.StatusText(p.Status)
	if p.Status == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", "1")
	}
	_ = write(w, p.Status, "application/problem+json", p) // a problem has nothing that cannot be encoded
}
