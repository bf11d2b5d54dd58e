package shop

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
)

// healthz says that the process is alive, whatever the database does: a restart
// would not mend that.
func (s *Service) healthz(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]string{"status": "alive"})
}

// readyTimeout bounds what readyz asks the database, in all: whoever probes gives up
// soon, and must hear why.
const readyTimeout = 2 * time.Second

// readyz says whether requests can be served: the database answers, what Config.Ready
// asks for is so, both within 2 s, the background work of Serve goes on, and Serve is not being
// stopped. A process that is not ready gets no requests, and is not restarted.
func (s *Service) readyz(w http.ResponseWriter, r *http.Request) error {
	if s.stopping.Load() {
		return unready("the service is being stopped", errors.New("it was told to"))
	}
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	if err := s.pool.Ping(ctx); err != nil {
		return unready("the database does not answer", err)
	}
	if s.ready != nil {
		if err := s.ready(ctx); err != nil {
			return unready("the database is not as the program needs it", err)
		}
	}
	if parts := s.pulse.stuck(s.now()); len(parts) > 0 {
		return unready("no sign of life of: "+strings.Join(parts, ", "), errors.New("stuck"))
	}
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}

func unready(detail string, err error) error {
	return &statusError{http.StatusServiceUnavailable, detail, err}
}

// Admin returns what an operator asks for: /healthz, /readyz and /debug/counters, as
// Handler has them too. Serve it apart from Handler, where no customer comes; unlike
// Serve's listener it can still be asked while Serve ends.
func (s *Service) Admin() http.Handler {
	mux := http.NewServeMux()
	s.serveAdmin(mux)
	return s.guarded(mux)
}

func (s *Service) serveAdmin(mux *http.ServeMux) {
	mux.Handle("GET /healthz", s.answering(s.healthz))
	mux.Handle("GET /readyz", s.answering(s.readyz))
	mux.Handle("GET /debug/counters", s.answering(s.getCounters))
}
