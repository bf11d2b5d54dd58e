package shop

import (
	"context"
	"errors"
	"net/http"
	"strings"
)

// healthz says that the process is alive, whatever the database does: a restart
// would not mend that.
func (s *Service) healthz(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]string{"status": "alive"})
}

// readyz says whether requests can be served: the database answers, what Config.Ready
// asks for is so, both within 2 s and asked at most once a second, the background work
// of Serve goes on, and Serve is not being stopped. A process that is not ready gets no requests, and is not restarted.
func (s *Service) readyz(w http.ResponseWriter, r *http.Request) error {
	if s.stopping.Load() {
		return unready("the service is being stopped", errors.New("it was told to"))
	}
	if err := s.database.answer(r.Context(), s.now); err != nil {
		return err
	}
	if parts := s.pulse.stuck(s.now()); len(parts) > 0 {
		return unready("no sign of life of: "+strings.Join(parts, ", "), errors.New("stuck"))
	}
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}

func unready(detail string, err error) error {
	return &statusError{http.StatusServiceUnavailable, detail, err}
}

// asks asks the database what readyz has to know of it.
func (s *Service) asks(ctx context.Context) error {
	if err := s.pool.Ping(ctx); err != nil {
		return unready("the database does not answer", err)
	}
	if s.ready == nil {
		return nil
	}
	if err := s.ready(ctx); err != nil {
		return unready("the database is not as the program needs it", err)
	}
	return nil
}

// Admin returns what an operator asks for: /healthz and /readyz, as Handler has them
// too, and /debug/counters, which it has not. Serve it apart from Handler, where no
// customer comes; unlike Serve's listener it can still be asked while Serve ends.
func (s *Service) Admin() http.Handler {
	mux := http.NewServeMux()
	s.serveHealth(mux)
	mux.Handle("GET /debug/counters", s.answering(s.getCounters))
	return s.guarded(mux)
}

func (s *Service) serveHealth(mux *http.ServeMux) {
	mux.Handle("GET /healthz", s.answering(s.healthz))
	mux.Handle("GET /readyz", s.answering(s.readyz))
}
