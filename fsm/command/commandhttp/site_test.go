package commandhttp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/fsm/command/commandhttp"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

const patience = 20 * time.Second

// site is a service with one route in a transaction, POST /orders/{id}/pay, and one
// under a lease, POST /orders/{id}/charge. What the handlers do is the test's.
type site struct {
	t           *testing.T
	pool        *pgxpool.Pool
	server      *httptest.Server
	pay, charge http.HandlerFunc
	failed      chan error
}

func newSite(t *testing.T, change func(*commandhttp.Options)) *site {
	t.Helper()
	s := &site{t: t, pool: testdb.New(t, testdb.WithMigrations(migrations.FS)), failed: make(chan error, 100)}
	_, err := s.pool.Exec(t.Context(), `CREATE TABLE ledger (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, ref text NOT NULL)`)
	require.NoError(t, err)
	s.pay, s.charge = s.payOnce, s.chargeOnce
	mux := http.NewServeMux()
	for name, leased := range map[string]bool{"pay": false, "charge": true} {
		o := commandhttp.Options{
			Command: &command.Command{Name: name, Lease: time.Minute, MaxReply: 1000, Wait: patience},
			DB:      s.pool, Leased: leased, MaxBody: 2000,
			Caller: func(r *http.Request) (commandhttp.Caller, error) {
				tenant := r.Header.Get("Test-Tenant")
				if tenant == "broken" {
					return commandhttp.Caller{}, errors.New("no such tenant")
				}
				return commandhttp.Caller{Scope: tenant, Principal: r.Header.Get("Test-User")}, nil
			},
			Failed: func(_ *http.Request, err error) { s.failed <- err },
		}
		if change != nil {
			change(&o)
		}
		once, err := commandhttp.New(o)
		require.NoError(t, err)
		mux.Handle("/orders/{id}/"+name, once(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if leased {
				s.charge(w, r)
			} else {
				s.pay(w, r)
			}
		})))
	}
	s.server = httptest.NewServer(mux)
	t.Cleanup(s.server.Close)
	return s
}

// payOnce books in the transaction of the reply.
func (s *site) payOnce(w http.ResponseWriter, r *http.Request) {
	tx, ok := commandhttp.Tx(r.Context())
	if !ok {
		http.Error(w, "no transaction", http.StatusInternalServerError)
		return
	}
	var id int64
	err := tx.QueryRow(r.Context(), `INSERT INTO ledger (ref) VALUES ($1) RETURNING id`, r.PathValue("id")).Scan(&id)
	if err != nil {
		http.Error(w, "the ledger", http.StatusInternalServerError)
		return
	}
	body, _ := io.ReadAll(r.Body)
	paid(w, id, body)
}

func paid(w http.ResponseWriter, id int64, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Location", fmt.Sprint("/payments/", id))
	w.Header().Set("Set-Cookie", "session=secret")
	w.Header().Set("X-Request-Id", "of this request")
	w.WriteHeader(http.StatusCreated)
	_, _ = fmt.Fprintf(w, `{"id":%d,"asked":%q}`, id, body)
}

// chargeOnce books in a transaction of its own, and completes in it.
func (s *site) chargeOnce(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	err := fsm.RunTx(r.Context(), s.pool, fsm.TxPolicy{Attempts: 1}, func(ctx context.Context, tx pgx.Tx) error {
		var id int64
		if err := tx.QueryRow(ctx, `INSERT INTO ledger (ref) VALUES ($1) RETURNING id`, r.PathValue("id")).Scan(&id); err != nil {
			return err
		}
		paid(w, id, body)
		return commandhttp.CompleteTx(ctx, tx)
	})
	if err != nil {
		http.Error(w, "try again", http.StatusServiceUnavailable)
	}
}

func (s *site) ledger() (n int) {
	s.t.Helper()
	require.NoError(s.t, s.pool.QueryRow(s.t.Context(), `SELECT count(*) FROM ledger`).Scan(&n))
	return n
}

// reply is what a sender got.
type reply struct {
	status int
	header http.Header
	body   string
}

// send posts a request; headers are names and values in turn.
func (s *site) send(path, key, body string, headers ...string) (reply, error) {
	return s.sendBy(http.MethodPost, path, key, body, headers...)
}

func (s *site) sendBy(method, path, key, body string, headers ...string) (reply, error) {
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.server.URL+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	r.Header.Set("Test-Tenant", "acme")
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set(commandhttp.KeyHeader, key)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := s.server.Client().Do(r)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, string(text)}, err
}

// post sends and must get an answer.
func (s *site) post(path, key, body string, headers ...string) reply {
	s.t.Helper()
	got, err := s.send(path, key, body, headers...)
	require.NoError(s.t, err)
	return got
}

// requireProblem checks a refusal of the middleware's own.
func requireProblem(t *testing.T, got reply, status int, code string) {
	t.Helper()
	require.Equal(t, status, got.status, got.body)
	require.Equal(t, "application/problem+json", got.header.Get("Content-Type"))
	var p struct {
		Type, Title, Detail, Code string
		Status                    int
	}
	require.NoError(t, json.Unmarshal([]byte(got.body), &p))
	require.Equal(t, "about:blank", p.Type)
	require.Equal(t, http.StatusText(status), p.Title)
	require.Equal(t, status, p.Status)
	require.Equal(t, code, p.Code)
	require.NotEmpty(t, p.Detail)
	require.Equal(t, status == 409 || status == 503, got.header.Get("Retry-After") != "")
}
