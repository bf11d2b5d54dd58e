package commandhttp

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command"
)

const (
	// ReplayedHeader is "true" on the reply of an earlier request.
	ReplayedHeader = "Idempotency-Replayed"
	// RepliedAtHeader says, on such a reply, when it was first given, as RFC 3339.
	RepliedAtHeader = "Idempotency-Replied-At"
)

// Caller is who sends a request, as authentication before the middleware found it.
type Caller struct {
	// Scope is the tenant or the principal that keys belong to; see
	// [command.Request].
	Scope string
	// Principal is who asks, where a scope has several.
	Principal string
}

// Options say how a middleware works.
type Options struct {
	// Command is the command of the route: its name is part of the key, so equal
	// keys on two routes are two commands. Required.
	Command *command.Command
	// DB is where commands commit, a pool. Required.
	DB command.DB
	// Caller returns who sends the request. An error, or an empty scope, is
	// answered with 401. Required.
	Caller func(*http.Request) (Caller, error)
	// Leased makes the handler run under a lease, and not in a transaction.
	Leased bool
	// Optional lets requests without a key pass: each is a command of its own.
	Optional bool
	// MaxBody is the greatest size of a request's body in bytes; 0 means 1 MiB.
	MaxBody int64
	// RetryAfter is what a sender is told to wait who comes too early; 0 means 1 s.
	RetryAfter time.Duration
	// Failed is told of the error behind each answer of 500 and more that is the
	// middleware's own; nil for nobody.
	Failed func(*http.Request, error)
}

const (
	defaultMaxBody    = 1 << 20
	defaultRetryAfter = time.Second
)

var (
	errCaller   = errors.New("no caller")
	errBodyLost = errors.New("the body could not be read")
	// errFailed ends a run whose answer is not kept; the recorder has it.
	errFailed = errors.New("the handler failed")
)

// New returns a middleware, or [fsm.ErrArgument] for options that cannot work.
//
// A handler under it runs once for a key. Its answer below 500 is kept with its
// work, and replayed with the header Idempotency-Replayed; an answer from 400 on is
// a refusal, of which the reply is kept and the work, in the transaction, is not. Its
// preconditions (If-Match and the like) are part of a request: the key with another one
// is a mismatch, and a 412 is a refusal like any.
// A failure (500 and more, a panic, and 408, 425 and 429) undoes the work and is
// passed on; the next request runs the handler again. An answer over the command's
// MaxReply is such a failure in a transaction. Under a lease, where the work is done, it
// is kept without its body: a note, application/problem+json with the code "reply_cut",
// comes in its place, at once and on every replay. In a transaction the handler
// may be run more than once for one request, when the database says so, and must
// do nothing outside of it. Requests that are safe by their method (GET, HEAD,
// OPTIONS, TRACE) go to the handler as they are.
func New(o Options) (func(http.Handler) http.Handler, error) {
	switch {
	case o.Command == nil || o.DB == nil || o.Caller == nil:
		return nil, fmt.Errorf("%w: Command, DB and Caller are required", fsm.ErrArgument)
	case o.MaxBody < 0 || o.RetryAfter < 0:
		return nil, fmt.Errorf("%w: MaxBody or RetryAfter is negative", fsm.ErrArgument)
	case o.Leased && o.Command.Lease <= 0:
		return nil, fmt.Errorf("%w: the command has no lease", fsm.ErrArgument)
	}
	if err := o.Command.Check(); err != nil {
		return nil, err
	}
	if o.MaxBody == 0 {
		o.MaxBody = defaultMaxBody
	}
	if o.RetryAfter == 0 {
		o.RetryAfter = defaultRetryAfter
	}
	return func(next http.Handler) http.Handler { return &handler{o, next} }, nil
}

type handler struct {
	Options
	next http.Handler
}

// ServeHTTP claims the request's key and answers with what next did under it, or with
// the reply that was kept; methods that only look go past.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		h.next.ServeHTTP(w, r)
		return
	}
	key, present, wrong := keyOf(r.Header)
	switch {
	case wrong != "":
		badKey(wrong).write(w, 0)
		return
	case !present && !h.Optional:
		badKey("is required").write(w, 0)
		return
	case !present:
		key = rand.Text() // so that the handler finds its transaction, or lease, as ever
	}
	request, err := h.request(w, r, key)
	if err != nil {
		h.refuse(w, r, err, false)
		return
	}
	answer, rec, err := h.do(r, request)
	switch {
	case errors.Is(err, errFailed):
		send(w, rec.last().reply())
	case err != nil:
		h.refuse(w, r, err, h.Leased && rec != nil)
	case answer.Replayed:
		w.Header().Set(ReplayedHeader, "true")
		w.Header().Set(RepliedAtHeader, answer.At.UTC().Format(time.RFC3339Nano))
		send(w, answer.Reply)
	default:
		send(w, rec.last().reply())
	}
}

func (h *handler) refuse(w http.ResponseWriter, r *http.Request, err error, began bool) {
	p := problemOf(err, began)
	if p.Status >= 500 && h.Failed != nil {
		h.Failed(r, err)
	}
	p.write(w, h.RetryAfter)
}

// request reads the whole body, and makes of r what the command is asked.
func (h *handler) request(w http.ResponseWriter, r *http.Request, key string) (command.Request, error) {
	caller, err := h.Caller(r)
	if err != nil || caller.Scope == "" {
		return command.Request{}, errors.Join(errCaller, err)
	}
	var body []byte
	if r.Body != nil {
		if body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, h.MaxBody)); err != nil {
			return command.Request{}, fmt.Errorf("%w: %w", errBodyLost, err)
		}
	}
	return command.Request{
		Scope: caller.Scope, Key: key, Principal: caller.Principal,
		Method: r.Method, Path: r.URL.RequestURI(), Condition: conditionOf(r.Header),
		ContentType: r.Header.Get("Content-Type"), Body: body,
	}, nil
}

// conditionOf returns the preconditions of a request that changes something, RFC 9110,
// section 13.1, one a line; "" for none. What was asked under one is not asked again
// under another.
func conditionOf(h http.Header) string {
	var lines strings.Builder
	for _, name := range []string{"If-Match", "If-None-Match", "If-Unmodified-Since"} {
		if values := h.Values(name); len(values) > 0 {
			lines.WriteString(name + ": " + strings.Join(values, ", ") + "\n")
		}
	}
	return lines.String()
}

// do runs the handler by the command's policy. The recorder is that of the last
// run, nil when there was none.
func (h *handler) do(r *http.Request, request command.Request) (command.Answer, *recorder, error) {
	var rec *recorder
	once := func(ctx context.Context, of run) (command.Reply, error) {
		rec = newRecorder(h.Command, h.Leased)
		of.recorder = rec
		again := r.WithContext(context.WithValue(ctx, contextKey{}, of))
		again.Body = io.NopCloser(bytes.NewReader(request.Body))
		h.next.ServeHTTP(rec, again)
		last := rec.last()
		switch {
		case last.tooLarge:
			return command.Reply{}, fmt.Errorf("%w: %w", command.ErrReply, errTooLarge)
		case last.failed():
			return command.Reply{}, errFailed
		}
		return last.reply(), nil
	}
	var answer command.Answer
	var err error
	if h.Leased {
		answer, err = h.Command.DoLeased(r.Context(), h.DB, request, func(ctx context.Context, l *command.Lease) (command.Reply, error) {
			return once(ctx, run{lease: l})
		})
	} else {
		answer, err = h.Command.Do(r.Context(), h.DB, request, func(ctx context.Context, tx pgx.Tx) (command.Reply, error) {
			return once(ctx, run{tx: tx})
		})
	}
	return answer, rec, err
}

// send writes a whole reply.
func send(w http.ResponseWriter, reply command.Reply) {
	maps.Copy(w.Header(), reply.Header)
	if reply.Status != http.StatusNoContent && reply.Status != http.StatusNotModified {
		w.Header().Set("Content-Length", strconv.Itoa(len(reply.Body)))
	}
	w.WriteHeader(reply.Status)
	_, _ = w.Write(reply.Body) // a sender who is gone asks again
}
