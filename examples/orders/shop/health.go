package shop

import "net/http"

// healthz says that the process is alive, whatever the database does: a restart
// would not mend that.
func (s *Service) healthz(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]string{"status": "alive"})
}

// readyz says whether requests can be served, that is, whether the database
// answers.
func (s *Service) readyz(w http.ResponseWriter, r *http.Request) error {
	if err := s.pool.Ping(r.Context()); err != nil {
		return &statusError{http.StatusServiceUnavailable, "the database does not answer", err}
	}
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}
