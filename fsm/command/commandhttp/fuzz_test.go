package commandhttp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/command"
)

// quoted writes a key as RFC 8941 has a string.
func quoted(key string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
}

// FuzzKeyOf: a header is a key or a problem; a key is printable and short, one text
// however it was written, and a problem does not show it.
func FuzzKeyOf(f *testing.F) {
	for _, value := range []string{"8e03978e-40d5-43dd-bc93-6894a57f9324", `"a b, c; d"`, `"a\"b\\c"`, `a\b`, "  a \t", "", `""`, `"a`, `"a"b`, `"a";p=1`, "ключ", "\xff", "a\x00b", strings.Repeat("k", 256)} {
		f.Add(value, false)
	}
	f.Add("a", true)
	f.Fuzz(func(t *testing.T, value string, twice bool) {
		header := http.Header{KeyHeader: {value}}
		if twice {
			header[KeyHeader] = append(header[KeyHeader], value)
		}
		key, present, problem := keyOf(header)
		require.True(t, present)
		if problem != "" {
			require.Empty(t, key)
			require.False(t, len(value) > 16 && strings.Contains(problem, value))
			return
		}
		require.False(t, twice)
		require.NotEmpty(t, key)
		require.LessOrEqual(t, len(key), command.MaxText)
		require.Empty(t, strings.Trim(key, printableASCII))
		again, _, wrong := keyOf(http.Header{KeyHeader: {quoted(key)}})
		require.Empty(t, wrong)
		require.Equal(t, key, again)
		if !strings.HasPrefix(strings.Trim(value, " \t"), `"`) {
			require.Equal(t, strings.Trim(value, " \t"), key)
		}
	})
}

var printableASCII = func() string {
	var b strings.Builder
	for c := byte(' '); c <= '~'; c++ {
		b.WriteByte(c)
	}
	return b.String()
}()

// away is a database that is not there, and counts who asked.
type away struct{ asked int }

// errAway is that of a call whose time ran out.
var errAway = fmt.Errorf("no answer: %w", context.DeadlineExceeded)

func (a *away) Begin(context.Context) (pgx.Tx, error) {
	a.asked++
	return nil, errAway
}

func (a *away) BeginTx(ctx context.Context, _ pgx.TxOptions) (pgx.Tx, error) { return a.Begin(ctx) }

func (a *away) Query(context.Context, string, ...any) (pgx.Rows, error) {
	a.asked++
	return nil, errAway
}

func (a *away) QueryRow(context.Context, string, ...any) pgx.Row { a.asked++; return gone{} }

func (a *away) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	a.asked++
	return pgconn.CommandTag{}, errAway
}

type gone struct{}

func (gone) Scan(...any) error { return errAway }

// FuzzRequest: what is wrong with a request is told with a status of 400 to 499
// before the database is asked, in words that show nothing of it; what is not wrong
// fails for the moment, where the database is away, and the handler is not run.
func FuzzRequest(f *testing.F) {
	for _, body := range []string{`{"a":1}`, `{"a":1,"A":2}`, `{"a":1,"a":1}`, `{`, "", "\xff", `"\ud800"`, `1e999`, strings.Repeat("[", 5000), strings.Repeat("x", 200)} {
		for _, kind := range []string{"application/json", "text/plain", "application/problem+json; charset=utf-8", "application/json; x", ""} {
			f.Add("POST", "/pay?x=1", "key-1", kind, "ann", body)
		}
	}
	f.Add("PATCH", "/%zz", "\x00", "a/b", "", "x")
	f.Add("GET", "/", "", "", "", "")
	f.Fuzz(func(t *testing.T, method, path, key, kind, scope, body string) {
		db := &away{}
		ran := false
		var failed error
		middleware, err := New(Options{
			Command: &command.Command{Name: "pay"}, DB: db, MaxBody: 4096,
			Caller: func(*http.Request) (Caller, error) { return Caller{Scope: scope}, nil },
			Failed: func(_ *http.Request, err error) { failed = err },
		})
		require.NoError(t, err)
		r, err := http.NewRequest(method, "http://example.com/", strings.NewReader(body))
		if err != nil {
			return
		}
		if r.URL, err = r.URL.Parse(path); err != nil {
			return
		}
		r.Header = http.Header{KeyHeader: {key}, "Content-Type": {kind}}
		w := httptest.NewRecorder()
		middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { ran = true })).ServeHTTP(w, r)
		switch method {
		case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
			require.True(t, ran)
			require.Zero(t, db.asked)
			return
		}
		require.False(t, ran)
		require.GreaterOrEqual(t, w.Code, 400)
		require.Equal(t, "application/problem+json", w.Header().Get("Content-Type"))
		var told problem
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &told))
		require.Equal(t, w.Code, told.Status)
		for _, text := range []string{key, body, scope} {
			require.False(t, len(text) > 24 && strings.Contains(w.Body.String(), text))
		}
		if w.Code < 500 {
			require.Zero(t, db.asked)
			require.NoError(t, failed)
			return
		}
		require.Equal(t, http.StatusServiceUnavailable, w.Code)
		require.Positive(t, db.asked)
		require.ErrorIs(t, failed, errAway)
	})
}
