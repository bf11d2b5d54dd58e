package studio_test

import (
	"bufio"
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/studio"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Main(m) }

const (
	paid   = "00000000-0000-4000-8000-000000000001"
	unpaid = "00000000-0000-4000-8000-000000000002"
)

// evil is what wants to be markup.
const evil = `</td><script>alert(1)</script> & "'`

// shop is a studio of this repository's definitions over a database with some orders:
// one is paid, was paid twice and told again; one is overdue.
type shop struct {
	*open
	pool *pgxpool.Pool
}

func newShop(t *testing.T) shop {
	t.Helper()
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	definitions := map[string]string{"hostile.yaml": shared(t, "hostile.yaml"), "gone.yaml": strings.Replace(rowless, "MACHINE", "gone", 1)}
	for _, name := range []string{"order", "payment", "refund"} {
		text, err := os.ReadFile("../../definitions/" + name + ".yaml")
		require.NoError(t, err)
		definitions[name+".yaml"] = string(text)
	}
	s := shop{serve(t, project(t, definitions), studio.Options{Database: pool.Config().ConnString()}), pool}
	for _, id := range []order.Key{paid, unpaid} {
		_, err := order.Create(t.Context(), pool, order.CreateParams{Key: id, CustomerID: evil, Sku: "tea", Quantity: 1, TotalCents: 100}, fsm.Actor(evil), fsm.Reason(evil), fsm.RequestID(evil))
		require.NoError(t, err)
	}
	s.pay(paid, "stripe:p1", fsm.Applied)
	s.pay(paid, evil, fsm.Compensated)
	s.exec(`INSERT INTO fsm_deliveries (provider, message_id, digest, events, verdicts) VALUES ('stripe', 'm', '', '{1}', '{done}'), ($1, 'm', '', '{1}', '{duplicate}')`, evil)
	s.exec(`INSERT INTO fsm_inbox (provider, event_id, type, object, status, fingerprint, delivery_id, state, outcome, reason, gives_up_at, ended_at) VALUES ('stripe', 'ev', $1, 'p1', '', '', 1, 'done', 'Applied', $1, now(), now())`, evil)
	s.exec(`UPDATE orders SET deadline_at = now() - interval '1 hour' WHERE order_id = $1`, unpaid)
	s.exec(`INSERT INTO fsm_outbox_holds (machine, key, tries, error, since) VALUES ('order', $1, 3, $2, now())`, unpaid, evil)
	return s
}

// rowless has a table that no migration made.
const rowless = `machine: MACHINE
table: {name: nowhere, key: {column: id, type: text}}
states: {A: {initial: true}, B: {final: true}}
events: {go: {}}
transitions: [{event: go, from: A, to: B}]
`

func (s shop) exec(sql string, args ...any) {
	s.Helper()
	_, err := s.pool.Exec(s.Context(), sql, args...)
	require.NoError(s, err, sql)
}

func (s shop) pay(id order.Key, number string, want fsm.Outcome) {
	s.Helper()
	r, err := order.PaymentSucceeded(s.Context(), s.pool, id, order.PaymentSucceededParams{PaymentNo: number, PaidCents: 100})
	require.NoError(s, err)
	require.Equal(s, want, r.Outcome)
}

// until asks for a page until it says something: figures come when they were read.
func (s shop) until(path string, says ...string) string {
	s.Helper()
	var body string
	require.Eventually(s, func() bool {
		_, body = s.get(http.StatusOK, path)
		for _, text := range says {
			if !strings.Contains(body, text) {
				return false
			}
		}
		return true
	}, time.Minute, 50*time.Millisecond, "%s never said %q", path, says)
	return body
}

// The pages of the database say what is in it, and what people wrote into it is text.
func TestLivePages(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, lang := range []string{"en", "zh"} {
		q := "?lang=" + lang
		for path, says := range map[string][]string{
			"/m/order/live" + q:          {`<g class="rows">`, `<g class="late">`, `<g class="flow">`, "/m/order/rows/" + unpaid},
			"/m/gone/live" + q:           {"nowhere"},
			"/m/hostile/live" + q:        {"hostile"},
			"/m/order/rows/" + paid + q:  {"v2", "stripe:p1", "payment_succeeded", `class="of-delivery"`, `class="of-fact"`, "order_paid", "UTC"},
			"/lags" + q:                  {"order_created", "/m/order/rows/" + unpaid},
			"/find" + q + "&stay=1&q=p1": {"/m/order/rows/" + paid},
			"/" + q:                      {`id="live-card-order"`},
		} {
			body := s.until(path, says...)
			require.NotContains(t, body, "<script>alert", path)
			require.NotContains(t, body, "postgres://", path)
		}
	}
	_, body := s.get(http.StatusOK, "/m/order/rows/"+paid)
	require.Contains(t, body, "&lt;/td&gt;&lt;script&gt;", "it is shown")
	require.Less(t, strings.Index(body, `class="of-delivery"`), strings.Index(body, "v1</span>"), "the newest first")

	answer, _ := s.get(http.StatusSeeOther, "/find?q="+url.QueryEscape(evil))
	require.Equal(t, "/m/order/rows/"+paid, answer.Header.Get("Location"), "found by what it was told with")
	s.get(http.StatusNotFound, "/m/nothing/rows/1")
	s.get(http.StatusNotFound, "/m/hostile/rows/1")
}

// What figures are of is said beside them, and words that follow one another do not run
// into each other.
func TestLiveFiguresSayWhatTheyAreOf(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.exec(`UPDATE fsm_inbox SET state = 'dead', due_at = NULL, outcome = 'Mismatched', reason = 'told otherwise'`)
	s.exec(`INSERT INTO fsm_inbox (provider, event_id, type, object, status, fingerprint, delivery_id, state, gives_up_at, ended_at) SELECT 'stripe', 'e' || g, '', '', '', '', 1, 'dead', now(), now() FROM generate_series(1, 12) AS g`)
	s.until("/lags", "Longest waiting", "Held up for a person", "And 3 more for a person")
	s.exec(`DELETE FROM fsm_inbox WHERE outcome = ''`)
	s.until("/lags", `Mismatched: <span lang="en">told otherwise</span>`)
	s.until("/lags?lang=zh", `内容不符：<span lang="en">told otherwise</span>`)
	require.NotContains(s, s.until("/lags"), "more for a person")
	s.exec(`UPDATE fsm_inbox SET state = 'done', outcome = 'Applied', reason = ''`)
	s.exec(`UPDATE fsm_deliveries SET provider = 'stripe', message_id = 'again' WHERE verdicts = '{duplicate}'`)
	s.until("/m/order/live?lang=zh", "；首次为 已应用", "最近一分钟收到的通知")
	s.until("/m/order/rows/"+paid+"?lang=zh", "已补偿</span>", "已应用</span>")
	body := s.until("/m/order/live", "; the first was Applied", "Told to the inbox in the last minute", "(all machines)", "mean of 5", "10 min ago", unpaid+"</span></a>")
	require.NotContains(t, body, "of all</span>")
}

// Keys that are hostile to addresses lead to their row all the same.
func TestRowsOfHostileKeys(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, key := range []string{"a/b", "..", ".", "a//b?c#d&e=f", "%2F", `"><b>&'`, " ", "中文", "a+b"} {
		s.exec(`INSERT INTO payments (payment_no, status, version, order_id, amount_cents) VALUES ($1, 'CREATED', 1, $2, 5)`, key, paid)
		s.exec(`INSERT INTO payment_history (payment_no, version, event, to_status, at) VALUES ($1, 1, 'create', 'CREATED', now())`, key)
		if strings.TrimSpace(key) == "" {
			continue // nobody looks for it by hand
		}
		answer, _ := s.get(http.StatusSeeOther, "/find?q="+url.QueryEscape(key))
		_, body := s.get(http.StatusOK, answer.Header.Get("Location"))
		require.Contains(t, body, `<span class="name big">CREATED</span>`, key)
	}
}

// A row that there is not, and a text that is no key, are not found.
func TestARowThatThereIsNot(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	_, body := s.get(http.StatusNotFound, "/m/order/rows/00000000-0000-4000-8000-00000000000f")
	require.Contains(t, body, "There is no row of this key.")
	_, body = s.get(http.StatusNotFound, "/m/order/rows/x")
	require.Contains(t, body, "That is no key of the machine.")
	require.Contains(t, body, "order_id")
	s.exec("SET session_replication_role = replica; DELETE FROM orders; SET session_replication_role = origin")
	_, body = s.get(http.StatusOK, "/m/order/rows/"+paid)
	require.Contains(t, body, "The row is gone")
}

// The page hears of new figures while it is open, and the database is left alone when
// nobody looks.
func TestLiveStream(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.server.URL+"/events?topic="+url.QueryEscape("live/:order"), nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	lines := bufio.NewScanner(answer.Body)
	heard := func() {
		for lines.Scan() {
			if lines.Text() == "event: live" {
				return
			}
		}
		require.NoError(t, lines.Err())
	}
	heard()
	s.pay(unpaid, "p9", fsm.Applied)
	require.Eventually(t, func() bool {
		heard()
		_, body := s.get(http.StatusOK, "/m/order/live")
		return strings.Contains(body, "/m/order/rows/"+paid) && !strings.Contains(body, `<g class="late">`)
	}, time.Minute, time.Millisecond)
	leave()
	sessions := func() (n int) {
		require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'fsmgen studio' AND state_change > now() - interval '1 second'`).Scan(&n))
		return n
	}
	require.Eventually(t, func() bool { return sessions() == 0 }, time.Minute, 100*time.Millisecond, "somebody is still reading")
}

// What was read for somebody who has gone is not what comes first, nor is it kept from
// whoever comes that it cannot be read any more.
func TestAFirstLookShowsNoOldFigures(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	s := newShop(t)
	s.open = serve(t, s.dir, studio.Options{Database: s.pool.Config().ConnString(), Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }})
	s.until("/m/order/live", "<dd>2</dd>", "Counted")
	later.Add(int64(time.Hour))
	_, err := order.Create(t.Context(), s.pool, order.CreateParams{Key: "00000000-0000-4000-8000-000000000003", CustomerID: "ann", Sku: "tea", Quantity: 1, TotalCents: 100})
	require.NoError(t, err)
	_, body := s.get(http.StatusOK, "/m/order/live")
	if !strings.Contains(body, "<dd>3</dd>") { // where reading takes longer than a page waits
		require.Contains(t, body, "New ones are being read")
	}
	s.until("/m/order/live", "<dd>3</dd>")

	held, err := s.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), "LOCK TABLE orders")
	require.NoError(t, err)
	later.Add(int64(time.Hour))
	_, body = s.get(http.StatusOK, "/m/order/live")
	require.Regexp(t, "Somebody is changing the table|New ones are being read", body)
	require.Contains(t, body, "<dd>3</dd>", "as it was")
	require.NoError(t, held.Rollback(t.Context()))
}

// A database that is not there does not take the pages of definitions down.
func TestLiveWithoutItsDatabase(t *testing.T) {
	t.Parallel()
	order, err := os.ReadFile("../../definitions/order.yaml")
	require.NoError(t, err)
	s := shop{open: serve(t, project(t, map[string]string{"order.yaml": string(order)}), studio.Options{Database: "postgres://u:secret@127.0.0.1:1/db?sslmode=disable"})}
	s.get(http.StatusOK, "/m/order")
	for _, path := range []string{"/m/order/live", "/lags", "/", "/m/order/rows/" + paid, "/find?q=x"} {
		says := "banner bad"
		if path == "/" {
			says = "database away"
		}
		body := s.until(path, says)
		require.NotContains(t, body, "secret", path)
	}
	_, err = studio.New(t.Context(), studio.Options{Root: s.dir, Paths: []string{"definitions"}, Addr: "127.0.0.1:0", Database: "postgres://u:secret@h:x/db"})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
	// Without any, there is a hint how.
	bare := serve(t, s.dir, studio.Options{})
	_, body := bare.get(http.StatusOK, "/m/order")
	require.Contains(t, body, "--database URL")
	bare.get(http.StatusNotFound, "/lags")
}

// moveWhenAsked pays the open order when there is a file of that name.
func (s shop) moveWhenAsked(ctx context.Context, name string) {
	for tick := time.NewTicker(20 * time.Millisecond); ctx.Err() == nil; <-tick.C {
		if _, err := os.Stat(name); err == nil {
			_, _ = order.PaymentSucceeded(ctx, s.pool, unpaid, order.PaymentSucceededParams{PaymentNo: "p9", PaidCents: 100}) // the browser sees whether it did
			return
		}
	}
}

// The pages hold in a browser, for axe too, and a row that moves is seen to.
func TestLiveWorksInABrowser(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	// The browser says when it looks by writing a file, and the row moves then.
	ctx, done := context.WithCancel(t.Context())
	defer done()
	go s.moveWhenAsked(ctx, filepath.Join(s.dir, "definitions", "move"))
	browse(t, "live", s.open)
}

// A key with slashes is the same row in the other language.
func TestARowKeepsItsKeyInTheOtherLanguage(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.exec(`INSERT INTO refunds (refund_no, status, version, order_id, payment_no, amount_cents) VALUES ('a//../b', 'REQUESTED', 1, $1, 'p', 5)`, paid)
	const path = "/m/refund/rows/a%2F%2F..%2Fb?lang="
	_, body := s.get(200, path+"en")
	require.Contains(t, body, `href="`+path+`zh"`)
	_, body = s.get(200, path+"zh")
	require.Contains(t, body, "a//../b")
}
