package testdb

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/pawl-go/pawl/internal/localpg"
)

const urlVariable = "PAWL_TEST_DATABASE_URL"

// server is the one server of a test process, started by who asks first.
type server struct {
	mu      sync.Mutex
	asked   bool
	running *localpg.Server
	err     error
	start   func(context.Context, localpg.Options) (*localpg.Server, error)
}

// shared is global since tests of a package share nothing else. The server needs
// no stop: it ends with this process, also with one that is killed.
var shared = &server{start: localpg.Start}

// get returns the URL of a database that databases can be made from. A start
// that failed is not tried again: the next test would wait as long in vain.
func (s *server) get() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.asked {
		s.asked = true
		// No test's context: the server is for the tests after it too.
		s.running, s.err = s.start(context.Background(), localpg.Options{
			URL: os.Getenv(urlVariable), Fast: true, Log: os.Stderr,
		})
	}
	if s.err != nil {
		return "", s.err
	}
	return s.running.URL, nil
}

func (s *server) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return nil
	}
	return s.running.Stop()
}

// withDatabase returns the connection string with another database in it, in
// whichever of the two forms it is written.
func withDatabase(connString, name string) (string, error) {
	if !strings.HasPrefix(connString, "postgres://") && !strings.HasPrefix(connString, "postgresql://") {
		return connString + " dbname=" + name, nil // of two the last one counts
	}
	u, err := url.Parse(connString)
	if err != nil {
		// url.Parse's own error repeats the text, and with it a password.
		return "", fmt.Errorf("%s is not a URL", urlVariable)
	}
	u.Path = "/" + name
	query := u.Query()
	query.Del("dbname")
	query.Del("database")
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // a plus is a plus to PostgreSQL
	return u.String(), nil
}
