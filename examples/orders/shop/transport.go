package shop

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/fsm"
)

const (
	// maxBody is the greatest size of a request body, in bytes.
	maxBody = 64 << 10
	// maxCallback is that of a callback without an inbox, which has a limit of its own
	// and the same: providers put whole objects into their events.
	maxCallback = 256 << 10

	callbacks = "POST /callbacks/"
)

const headerRequestID = "X-Request-Id"

// handler answers a request, or returns an error before it wrote anything.
type handler func(w http.ResponseWriter, r *http.Request) error

// answering turns a handler's error into a problem, and logs those that are not
// the caller's fault: here, once.
func (s *Service) answering(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		p := problemOf(r.Method, err)
		if p.Status >= http.StatusInternalServerError {
			level := slog.LevelError
			if p.Status == http.StatusServiceUnavailable { // the caller is told to come again
				level = slog.LevelWarn
			}
			s.log.Log(r.Context(), level, "request failed", "method", r.Method, "path", r.URL.Path, "status", p.Status, "error", err)
		}
		writeProblem(w, p)
	})
}

// guarded is around everything: a limit of requests, of bodies and of time, a request
// id, and a problem instead of a bare text for a path or method that does not exist.
func (s *Service) guarded(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !printable(r.Header.Get(headerRequestID)) {
			r.Header.Set(headerRequestID, rand.Text())
		}
		id := r.Header.Get(headerRequestID)
		w.Header().Set(headerRequestID, id)
		ctx, cancel := context.WithTimeout(withRequestID(s.observed(r.Context()), id), s.timeout)
		defer cancel()
		r = r.WithContext(ctx)
		defer s.recovered(w, r)
		h, pattern := mux.Handler(r)
		if pattern == "" {
			writeProblem(w, noRoute(h, w, r))
			return
		}
		if s.tooMany(w, r, pattern) {
			return
		}
		s.limit(w, r, pattern)
		mux.ServeHTTP(w, r)
	})
}

// limit bounds the body by what the route takes. A smaller limit before an inbox's
// would have it refuse what it says that it takes.
func (s *Service) limit(w http.ResponseWriter, r *http.Request, pattern string) {
	most := int64(maxBody)
	if strings.HasPrefix(pattern, callbacks) {
		if s.inbox != nil {
			return
		}
		most = maxCallback
	}
	r.Body = http.MaxBytesReader(w, r.Body, most)
}

// noRoute asks the mux's own handler whether the path or the method is wrong.
func noRoute(h http.Handler, w http.ResponseWriter, r *http.Request) problem {
	probe := &statusProbe{header: http.Header{}}
	h.ServeHTTP(probe, r)
	if probe.status == http.StatusMethodNotAllowed {
		allow := probe.header.Get("Allow")
		w.Header().Set("Allow", allow)
		return problem{Status: probe.status, Detail: "this path takes " + allow}
	}
	return problem{Status: http.StatusNotFound, Detail: "there is no such path"}
}

// statusProbe is a ResponseWriter that keeps the status and the headers.
type statusProbe struct {
	header http.Header
	status int
}

// Header returns the header that is kept.
func (p *statusProbe) Header() http.Header { return p.header }

// Write takes the body and drops it.
func (p *statusProbe) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader keeps the status.
func (p *statusProbe) WriteHeader(status int) { p.status = status }

// recovered keeps a mistake of ours from ending in a torn connection.
func (s *Service) recovered(w http.ResponseWriter, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler { // net/http's own way to break off
		panic(v)
	}
	s.log.ErrorContext(r.Context(), "panic", "path", r.URL.Path, "value", fmt.Sprint(v), "stack", string(debug.Stack()))
	writeProblem(w, problem{Status: http.StatusInternalServerError})
}

// callOptions are what a request says about a call beside its parameters: who
// makes it, its id, its time, and the version that it expects.
func (s *Service) callOptions(r *http.Request) ([]fsm.Option, error) {
	// Who the actor really is, a gateway in front of the service has to know.
	actor := r.Header.Get("X-Actor")
	if !printable(actor) {
		actor = "customer"
	}
	options := []fsm.Option{fsm.Actor(actor), fsm.RequestID(r.Header.Get(headerRequestID)), s.at()}
	match := strings.TrimSpace(r.Header.Get("If-Match"))
	if match == "" || match == "*" {
		return options, nil
	}
	version, err := strconv.ParseInt(strings.Trim(match, `"`), 10, 64)
	if err != nil || version < 1 {
		return nil, &FieldError{"If-Match", "is not a version, such as \"3\""}
	}
	return append(options, fsm.ExpectVersion(version)), nil
}

// writeJSON sends v.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	return write(w, status, "application/json", v)
}

func write(w http.ResponseWriter, status int, contentType string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// The status is out: a caller who is gone is no error of the request.
	_, _ = w.Write(append(body, '\n'))
	return nil
}
