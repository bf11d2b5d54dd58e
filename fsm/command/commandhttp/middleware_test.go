package commandhttp_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/fsm/command/commandhttp"
)

var routes = []string{"/orders/17/pay", "/orders/17/charge"}

func TestReplay(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for i, route := range routes {
		first := s.post(route, "k", `{"cents": 100, "to": "bob"}`)
		require.Equal(t, 201, first.status, first.body)
		require.Equal(t, "session=secret", first.header.Get("Set-Cookie"))
		require.Empty(t, first.header.Get(commandhttp.ReplayedHeader))

		again := s.post(route, `"k"`, `{"to":"bob","cents":1e2}`)
		require.Equal(t, 201, again.status)
		require.Equal(t, first.body, again.body)
		require.Equal(t, "true", again.header.Get(commandhttp.ReplayedHeader))
		at, err := time.Parse(time.RFC3339Nano, again.header.Get(commandhttp.RepliedAtHeader))
		require.NoError(t, err)
		require.False(t, at.IsZero())
		require.Equal(t, "application/json", again.header.Get("Content-Type"))
		require.Equal(t, first.header.Get("Location"), again.header.Get("Location"))
		require.Empty(t, again.header.Get("Set-Cookie"), "never another's session")
		require.Empty(t, again.header.Get("X-Request-Id"), "not on the list")
		require.Equal(t, i+1, s.ledger(), "an equal key on another route is another command")
	}
}

// A compressed answer is replayed as one, also with a list of one's own: the bytes
// alone are no JSON.
func TestReplayOfCompressedAnswer(t *testing.T) {
	t.Parallel()
	for name, headers := range map[string][]string{"default list": nil, "own list": {"Content-Type"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, func(o *commandhttp.Options) { o.Command.Headers = headers })
			compressed := func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(w)
				_, _ = z.Write([]byte(`{"ok":true}`))
				_ = z.Close()
			}
			s.pay, s.charge = compressed, compressed
			for _, route := range routes {
				for _, replayed := range []string{"", "true"} {
					got := s.post(route, "k", `{}`) // the client undoes gzip where the header says so
					require.Equal(t, replayed, got.header.Get(commandhttp.ReplayedHeader))
					require.Equal(t, `{"ok":true}`, got.body)
				}
			}
		})
	}
}

func TestFiftyAtOnce(t *testing.T) {
	t.Parallel()
	for _, route := range routes {
		t.Run(route, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			replies := make([]reply, 50)
			errs := make([]error, 50)
			var wg sync.WaitGroup
			for i := range replies {
				body := `{"cents":100}`
				if i%10 == 9 {
					body = `{"cents":999}`
				}
				wg.Go(func() { replies[i], errs[i] = s.send(route, "k", body) })
			}
			wg.Wait()
			counts := map[int]int{}
			for i, got := range replies {
				require.NoError(t, errs[i])
				require.Less(t, got.status, 500, got.body)
				counts[got.status]++
			}
			require.Equal(t, 1, s.ledger())
			require.Positive(t, counts[201])
			require.Positive(t, counts[422], "whichever body came first, the other is refused")
			require.Equal(t, 50, counts[201]+counts[422]+counts[409])
			if route == routes[0] {
				require.Zero(t, counts[409], "in a transaction an equal request waits and gets the reply")
			}
		})
	}
}

// While the first is at work: another body is refused for good, an equal one is
// told to come again.
func TestWhileTheFirstWorks(t *testing.T) {
	t.Parallel()
	for _, route := range routes {
		t.Run(route, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, func(o *commandhttp.Options) { o.Command.Wait, o.RetryAfter = -1, 1500*time.Millisecond })
			begun, goOn := make(chan struct{}), make(chan struct{})
			slow := func(then http.HandlerFunc) http.HandlerFunc {
				return func(w http.ResponseWriter, r *http.Request) {
					close(begun)
					<-goOn
					then(w, r)
				}
			}
			s.pay, s.charge = slow(s.payOnce), slow(s.chargeOnce)
			first := make(chan reply, 1)
			go func() {
				got, _ := s.send(route, "k", `{"cents":100}`)
				first <- got
			}()
			<-begun
			requireProblem(t, s.post(route, "k", `{"cents":999}`), 422, "mismatch")
			requireProblem(t, s.post(strings.Replace(route, "17", "18", 1), "k", `{"cents":100}`), 422, "mismatch")
			busy := s.post(route, "k", `{"cents":100}`)
			requireProblem(t, busy, 409, "in_progress")
			require.Equal(t, "2", busy.header.Get("Retry-After"), "whole seconds, rounded up")
			close(goOn)
			require.Equal(t, 201, (<-first).status)
			require.Equal(t, "true", s.post(route, "k", `{"cents":100}`).header.Get(commandhttp.ReplayedHeader))
			require.Equal(t, 1, s.ledger())
		})
	}
}

// Two tenants with one key, and two users of one tenant.
func TestCallers(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	first := s.post(routes[0], "k", `{"for":"acme"}`)
	require.Equal(t, 201, first.status)
	other := s.post(routes[0], "k", `{"for":"globex"}`, "Test-Tenant", "globex")
	require.Equal(t, 201, other.status)
	require.Contains(t, other.body, "globex")
	require.Empty(t, other.header.Get(commandhttp.ReplayedHeader))
	requireProblem(t, s.post(routes[0], "k", `{"for":"acme"}`, "Test-User", "bob"), 422, "mismatch")
	requireProblem(t, s.post(routes[0], "k", `{}`, "Test-Tenant", ""), 401, "caller")
	requireProblem(t, s.post(routes[0], "k", `{}`, "Test-Tenant", "broken"), 401, "caller")
	requireProblem(t, s.post(routes[0], "k", `{}`, "Test-Tenant", strings.Repeat("t", 256)), 400, "key")
	require.Equal(t, 2, s.ledger())
}

// A key without the method and the whole path gave one request another's reply: all
// that a request asks is compared, also where one handler serves it all.
func TestWhatARequestAsks(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for i, route := range routes {
		require.Equal(t, 201, s.post(route+"?notify=1", "k", `{}`).status)
		for _, other := range []struct{ method, path, kind string }{
			{"PUT", route + "?notify=1", "application/json"},
			{"DELETE", route + "?notify=1", "application/json"},
			{"POST", route, "application/json"},
			{"POST", route + "?notify=2", "application/json"},
			{"POST", route + "?notify=1&force=1", "application/json"},
			{"POST", strings.Replace(route, "17", "18", 1) + "?notify=1", "application/json"},
			{"POST", route + "?notify=1", "text/plain"},
		} {
			got, err := s.sendBy(other.method, other.path, "k", `{}`, "Content-Type", other.kind)
			require.NoError(t, err)
			requireProblem(t, got, 422, "mismatch")
		}
		require.Equal(t, "true", s.post(route+"?notify=1", "k", `{}`).header.Get(commandhttp.ReplayedHeader))
		require.Equal(t, i+1, s.ledger())
	}
}

func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	never := func(http.ResponseWriter, *http.Request) { t.Error("the handler ran") }
	s.pay, s.charge = never, never
	for _, route := range routes {
		requireProblem(t, s.post(route, "", `{}`), 400, "key")
		requireProblem(t, s.post(route, `""`, `{}`), 400, "key")
		requireProblem(t, s.post(route, strings.Repeat("k", 10_000), `{}`), 400, "key")
		requireProblem(t, s.post(route, `"a"; b`, `{}`), 400, "key")
		requireProblem(t, s.post(route, "k", `{"a":1,"a":2}`), 400, "body")
		requireProblem(t, s.post(route, "k", `{"amount":1,"Amount":2}`), 400, "body")
		requireProblem(t, s.post(route, "k", `{"a":`), 400, "body")
		requireProblem(t, s.post(route, "k", strings.Repeat(" ", 2001)), 413, "body")
	}
	var records int
	require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT count(*) FROM fsm_command`).Scan(&records))
	require.Zero(t, records)
	require.Empty(t, s.failed, "these are nobody's failures")
}

// A refusal of the handler is kept, without what it wrote before; a failure is
// passed on, and the next request works.
func TestRefusalsAndFailures(t *testing.T) {
	t.Parallel()
	cases := []struct {
		status int
		kept   bool
	}{{409, true}, {404, true}, {422, true}, {303, true}, {408, false}, {425, false}, {429, false}, {500, false}, {503, false}}
	for _, route := range routes {
		t.Run(route, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			pay, charge := s.pay, s.charge
			for _, tc := range cases {
				key, before := fmt.Sprint(tc.status), s.ledger()
				say := func(w http.ResponseWriter) { http.Error(w, "the handler's own words", tc.status) }
				s.pay = func(w http.ResponseWriter, r *http.Request) {
					pay(httptest.NewRecorder(), r)
					say(w)
				}
				s.charge = func(w http.ResponseWriter, _ *http.Request) { say(w) }
				first := s.post(route, key, `{}`)
				require.Equal(t, tc.status, first.status)
				require.Equal(t, "the handler's own words\n", first.body)
				if tc.status >= 400 {
					require.Equal(t, before, s.ledger(), "nothing is kept of the work, %d", tc.status)
				}

				s.pay, s.charge = pay, charge
				again := s.post(route, key, `{}`)
				if !tc.kept {
					require.Equal(t, 201, again.status, "after %d", tc.status)
					continue
				}
				require.Equal(t, tc.status, again.status)
				require.Equal(t, first.body, again.body)
				require.Equal(t, "true", again.header.Get(commandhttp.ReplayedHeader))
			}
		})
	}
}

func TestAnswersThatCannotBeKept(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]http.HandlerFunc{
		"body": func(w http.ResponseWriter, _ *http.Request) {
			for range 11 {
				_, _ = w.Write(make([]byte, 100))
			}
		},
		"headers": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/"+strings.Repeat("x", 20_000))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			pay := s.pay
			s.pay = func(w http.ResponseWriter, r *http.Request) {
				pay(httptest.NewRecorder(), r)
				bad(w, r)
			}
			got := s.post(routes[0], "k", `{}`)
			requireProblem(t, got, 500, "reply")
			require.Contains(t, got.body, "nothing was done")
			require.ErrorIs(t, <-s.failed, command.ErrReply)
			require.Zero(t, s.ledger())
			s.pay = pay
			require.Equal(t, 201, s.post(routes[0], "k", `{}`).status)
		})
	}
}

func TestPanicUndoesTheWork(t *testing.T) {
	t.Parallel()
	for _, route := range routes {
		s := newSite(t, nil)
		pay, charge := s.pay, s.charge
		s.pay, s.charge = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
		_, err := s.send(route, "k", `{}`)
		require.Error(t, err, "net/http cuts the connection")
		s.pay, s.charge = pay, charge
		require.Equal(t, 201, s.post(route, "k", `{}`).status)
	}
}

// Under a lease the work is done when its headers turn out to be too large: the answer is
// kept without them, and the handler is not called again.
func TestLeasedHeadersOverTheCap(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	calls := 0
	s.charge = func(w http.ResponseWriter, _ *http.Request) {
		calls++
		w.Header().Set("Location", "/"+strings.Repeat("x", 20_000))
		_, _ = w.Write([]byte("paid"))
	}
	for range 3 {
		got := s.post("/orders/1/charge", "k", `{}`)
		require.Equal(t, 200, got.status)
		require.Equal(t, "paid", got.body)
		require.NotEmpty(t, got.header.Get("Content-Type"))
	}
	require.Equal(t, 1, calls)
}

// Under a lease the money is gone when the answer turns out to be over the cap: the
// handler completes its work, is not called again, and every sender gets the note.
func TestLeasedAnswerOverTheCap(t *testing.T) {
	t.Parallel()
	for name, completes := range map[string]bool{"completed by the handler": true, "completed behind it": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			calls := 0
			s.charge = func(w http.ResponseWriter, r *http.Request) {
				calls++ // the provider took the money
				w.Header().Set("Location", "/payments/1")
				w.Header().Set("Content-Encoding", "gzip")
				w.WriteHeader(http.StatusCreated)
				for range 11 {
					n, err := w.Write(make([]byte, 100))
					if n != 100 || err != nil {
						t.Error(n, err)
					}
				}
				if !completes {
					return
				}
				err := fsm.RunTx(r.Context(), s.pool, fsm.TxPolicy{Attempts: 1}, func(ctx context.Context, tx pgx.Tx) error {
					if _, err := tx.Exec(ctx, `INSERT INTO ledger (ref) VALUES ('1')`); err != nil {
						return err
					}
					return commandhttp.CompleteTx(ctx, tx)
				})
				if err != nil {
					t.Error(err)
				}
			}
			first := s.post("/orders/1/charge", "k", `{}`)
			requireProblem(t, first, 201, "reply_cut")
			require.Equal(t, "/payments/1", first.header.Get("Location"))
			require.Empty(t, first.header.Get("Content-Encoding"))
			for range 2 {
				again := s.post("/orders/1/charge", "k", `{}`)
				requireProblem(t, again, 201, "reply_cut")
				require.Equal(t, first.body, again.body)
				require.Equal(t, "true", again.header.Get(commandhttp.ReplayedHeader))
			}
			require.Equal(t, 1, calls)
			require.Equal(t, completes, s.ledger() == 1)
		})
	}
	s := newSite(t, func(o *commandhttp.Options) { o.Command.MaxReply = 10 })
	s.charge = func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 11)) }
	got := s.post("/orders/1/charge", "k", `{}`)
	require.Equal(t, 200, got.status)
	require.Empty(t, got.body, "there is no room for the note")
}

// Behind a handler that was called under a lease, nobody says that nothing was done.
func TestLeasedFailureAfterTheCall(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.charge = func(w http.ResponseWriter, _ *http.Request) {
		_, err := s.pool.Exec(t.Context(), `ALTER TABLE fsm_command RENAME TO away`) // the call was made, and now the database fails
		if err != nil {
			t.Error(err)
		}
	}
	got := s.post("/orders/1/charge", "k", `{}`)
	require.Equal(t, 500, got.status)
	require.NotContains(t, got.body, "nothing was done")
	got = s.post("/orders/1/charge", "k", `{}`)
	require.Equal(t, 500, got.status)
	require.Contains(t, got.body, "nothing was done", "the handler was not called")
}

// A handler that says nothing has said 200, and one that says 204 says no body.
func TestShortAnswers(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for key, h := range map[string]http.HandlerFunc{
		"200": func(http.ResponseWriter, *http.Request) {},
		"204": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusNoContent)
			w.WriteHeader(http.StatusTeapot)
		},
	} {
		s.pay = h
		for range 2 {
			got := s.post(routes[0], key, ``)
			require.Equal(t, key, fmt.Sprint(got.status))
			require.Empty(t, got.body)
		}
	}
	s.pay = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }
	for range 2 {
		require.Equal(t, "text/html; charset=utf-8", s.post(routes[0], "html", ``).header.Get("Content-Type"))
	}
}

// The handler completed and then learns that its transaction did not commit.
func TestCompletionThatDidNotCommit(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	charge := s.charge
	s.charge = func(w http.ResponseWriter, r *http.Request) {
		tx, err := s.pool.Begin(r.Context())
		require.NoError(t, err)
		_, err = tx.Exec(r.Context(), `INSERT INTO ledger (ref) VALUES ('x')`)
		require.NoError(t, err)
		_, _ = io.WriteString(w, "paid")
		require.NoError(t, commandhttp.CompleteTx(r.Context(), tx))
		_, err = io.WriteString(w, " and more")
		require.NoError(t, err, "it could be the next run's")
		require.NoError(t, tx.Rollback(r.Context()))
		http.Error(w, "not paid", http.StatusServiceUnavailable)
	}
	got := s.post(routes[1], "k", `{}`)
	require.Equal(t, 503, got.status)
	require.Equal(t, "not paid\n", got.body)
	s.charge = charge
	require.Equal(t, 201, s.post(routes[1], "k", `{}`).status)
	require.Equal(t, 1, s.ledger())
}

func TestWhatTheContextHolds(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.pay = func(_ http.ResponseWriter, r *http.Request) {
		_, leased := commandhttp.Lease(r.Context())
		require.False(t, leased)
		tx, _ := commandhttp.Tx(r.Context())
		require.ErrorIs(t, commandhttp.CompleteTx(r.Context(), tx), fsm.ErrArgument)
	}
	s.charge = func(w http.ResponseWriter, r *http.Request) {
		_, in := commandhttp.Tx(r.Context())
		require.False(t, in)
		l, leased := commandhttp.Lease(r.Context())
		require.True(t, leased)
		require.Positive(t, l.Fence())
		w.WriteHeader(http.StatusInternalServerError)
		require.Error(t, commandhttp.CompleteTx(r.Context(), nil), "a failure is not kept")
	}
	s.post(routes[0], "k", `{}`)
	s.post(routes[1], "k", `{}`)
	_, in := commandhttp.Tx(t.Context())
	require.False(t, in)
}

func TestOptionalKey(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(o *commandhttp.Options) { o.Optional = true })
	for range 2 {
		require.Equal(t, 201, s.post(routes[0], "", `{}`).status)
	}
	require.Equal(t, 2, s.ledger())
	requireProblem(t, s.post(routes[0], `""`, `{}`), 400, "key")
}

func TestSafeMethodsPass(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.pay = func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Method) }
	response, err := s.server.Client().Get(s.server.URL + routes[0])
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, errors.Join(err, response.Body.Close()))
	require.Equal(t, "GET", string(body))
}

// Without tables, or without a database, the sender is told what to do about it,
// and nothing of why.
func TestDatabaseTroubles(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	_, err := s.pool.Exec(t.Context(), `DROP TABLE fsm_command`)
	require.NoError(t, err)
	for _, route := range routes {
		got := s.post(route, "k", `{}`)
		requireProblem(t, got, 500, "failed")
		require.NotContains(t, got.body, "fsm")
		require.ErrorIs(t, <-s.failed, command.ErrTables)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	good := commandhttp.Options{
		Command: &command.Command{Name: "pay"}, DB: &pgxpool.Pool{},
		Caller: func(*http.Request) (commandhttp.Caller, error) { return commandhttp.Caller{}, nil },
	}
	_, err := commandhttp.New(good)
	require.NoError(t, err)
	for name, spoil := range map[string]func(*commandhttp.Options){
		"no command":       func(o *commandhttp.Options) { o.Command = nil },
		"no database":      func(o *commandhttp.Options) { o.DB = nil },
		"no caller":        func(o *commandhttp.Options) { o.Caller = nil },
		"bad command":      func(o *commandhttp.Options) { o.Command = &command.Command{} },
		"leased, no lease": func(o *commandhttp.Options) { o.Leased = true },
		"negative cap":     func(o *commandhttp.Options) { o.MaxBody = -1 },
		"negative wait":    func(o *commandhttp.Options) { o.RetryAfter = -1 },
	} {
		o := good
		spoil(&o)
		_, err := commandhttp.New(o)
		require.ErrorIs(t, err, fsm.ErrArgument, name)
	}
}

// unserializable is a pool whose first COMMIT is refused, as the database may.
type unserializable struct {
	*pgxpool.Pool
	once *sync.Once
}

type refusedTx struct {
	pgx.Tx
	once *sync.Once
}

func (u unserializable) BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error) {
	tx, err := u.Pool.BeginTx(ctx, o)
	return refusedTx{tx, u.once}, err
}

func (r refusedTx) Commit(ctx context.Context) (err error) {
	r.once.Do(func() { err = errors.Join(r.Rollback(ctx), &pgconn.PgError{Severity: "ERROR", Code: "40001"}) })
	if err != nil {
		return err
	}
	return r.Tx.Commit(ctx)
}

// A transaction that must run again runs the handler again, with the whole body,
// and the sender sees one answer.
func TestHandlerRunsAgainWithTheTransaction(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(o *commandhttp.Options) {
		if pool, ok := o.DB.(*pgxpool.Pool); ok {
			o.DB = unserializable{pool, new(sync.Once)}
		}
	})
	runs := 0
	pay := s.pay
	s.pay = func(w http.ResponseWriter, r *http.Request) {
		runs++
		pay(w, r)
	}
	got := s.post(routes[0], "k", `{"cents":100}`)
	require.Equal(t, 201, got.status)
	require.JSONEq(t, `{"id":2,"asked":"{\"cents\":100}"}`, got.body)
	require.Equal(t, 2, runs)
	require.Equal(t, 1, s.ledger())
}
