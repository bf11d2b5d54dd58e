package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// childFault is the environment variable that makes this test's program the
// service, and says where it dies.
const childFault = "ORDERS_TEST_FAULT"

var killSecret = webhook.NewSecret("whsec_cGF3bC10ZXN0LXNlY3JldC1vZi0zMi1ieXRlcy4uLg==")

// serveUntilFault is the service in a process of its own.
func serveUntilFault(spec string) int {
	if err := fault.Arm(spec); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return run([]string{"serve"})
}

// process is the service in a process of its own.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	url string
	// admin is the operator's address, where there is one.
	admin string
	died  chan struct{}
}

var listening = regexp.MustCompile(`msg=listening addr=(\S+)`)

// start returns when the service listens.
func start(t *testing.T, database, spec string) *process {
	t.Helper()
	return startWith(t, database, spec)
}

// startWith is start with more of the environment.
func startWith(t *testing.T, database, spec string, env ...string) *process {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	p := &process{t: t, cmd: exec.Command(program), died: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), childFault+"="+spec, "DATABASE_URL="+database, "ADDR=127.0.0.1:0", "REDIS_URL=",
		"WEBHOOK_SECRET_STANDARD="+killSecret.Reveal(), "WEBHOOK_SECRET_STRIPE=", "PROVIDER_URL=")
	p.cmd.Env = append(p.cmd.Env, env...)
	out, err := p.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	addr := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if found := adminListening.FindStringSubmatch(lines.Text()); found != nil {
				p.admin = found[1] // read once addr is
			}
			if found := listening.FindStringSubmatch(lines.Text()); found != nil {
				addr <- found[1]
			}
		}
		close(addr)
		_ = p.cmd.Wait()
		close(p.died)
	}()
	t.Cleanup(p.kill)
	at, ok := <-addr
	require.True(t, ok, "it ended before it listened")
	p.url = "http://" + at
	return p
}

// kill ends the process as kill -9 would, and returns when it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	<-p.died
}

// do returns the status and the replay header, and 0 when the process died on it.
func (p *process) do(method, path, body string, header http.Header) (int, string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, strings.NewReader(body))
	require.NoError(p.t, err)
	r.Header = header.Clone()
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode, response.Header.Get("Idempotency-Replayed")
}

// paid makes an order and tells of its payment.
func (p *process) paid() {
	p.t.Helper()
	p.awaited()
	require.Equal(p.t, http.StatusOK, p.tell())
}

// awaited makes an order that waits for its payment.
func (p *process) awaited() {
	p.t.Helper()
	none := http.Header{}
	for _, c := range []struct{ method, path, body string }{
		{"PUT", "/stock/mug", `{"quantity":10}`},
		{"POST", "/orders", fmt.Sprintf(`{"order_id":%q,"customer_id":"ann","sku":"mug","quantity":2,"total_cents":100}`, orderOf(1))},
		{"POST", "/orders/" + orderOf(1) + "/pay", `{"payment_no":"p-1"}`},
	} {
		status, _ := p.do(c.method, c.path, c.body, none)
		require.Contains(p.t, []int{200, 201}, status, c.path)
	}
}

// tell delivers the payment and returns the status.
func (p *process) tell() int {
	p.t.Helper()
	return p.tellOf("p-1", 100)
}

// tellOf delivers any payment.
func (p *process) tellOf(paymentNo string, cents int) int {
	p.t.Helper()
	body := fmt.Sprintf(`{"id":"evt_%s","type":"payment.succeeded","data":{"order_id":%q,"payment_no":%q,"amount_cents":%d}}`, paymentNo, orderOf(1), paymentNo, cents)
	signer, err := webhook.NewStandardSigner([]webhook.Secret{killSecret})
	require.NoError(p.t, err)
	header, err := signer.Sign("msg_"+paymentNo, time.Now(), []byte(body))
	require.NoError(p.t, err)
	header.Set("Content-Type", "application/json")
	status, _ := p.do("POST", "/callbacks/standard", body, header)
	return status
}

// refund asks for a refund under a key.
func (p *process) refund() (int, string) {
	p.t.Helper()
	return p.do("POST", "/orders/"+orderOf(1)+"/refunds", `{"refund_no":"r-1","amount_cents":40}`,
		http.Header{"Idempotency-Key": {"k-1"}, "X-Actor": {"ann"}})
}

// A service that is killed in the middle of a refund, and started again, has made
// it once when it was asked for again.
func TestKilledInARefund(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ point, left, replayed string }{
		{"command.claimed", "0 0", ""},
		{"command.done", "0 0", ""},
		{"command.committed", "1 40", "true"},
	} {
		t.Run(c.point, func(t *testing.T) {
			t.Parallel()
			url := testdb.URL(t, testdb.WithMigrations(migrations.FS))
			conn, err := pgx.Connect(t.Context(), url)
			require.NoError(t, err)
			defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
			made := func() (text string) {
				require.NoError(t, conn.QueryRow(t.Context(), `SELECT concat_ws(' ', count(*), coalesce(sum(amount_cents), 0)) FROM refunds`).Scan(&text))
				return text
			}
			first := start(t, url, c.point+"=kill@1")
			first.paid()
			status, _ := first.refund()
			require.Zero(t, status)
			<-first.died
			require.Equal(t, c.left, made())

			second := start(t, url, "")
			status, replayed := second.refund()
			require.Equal(t, http.StatusAccepted, status)
			require.Equal(t, c.replayed, replayed)
			require.Equal(t, "1 40", made())
		})
	}
}

// A service that is killed between outbox and mail, and started again, books the
// mail once.
func TestKilledOnTheWayToTheMail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ fault, left string }{
		{"consume.handled=kill@1", "0"},
		{"consume.committed=kill@1", "1"},
		{"relay.sent=kill@2", "1"}, // the first was that the order was created
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			url := testdb.URL(t, testdb.WithMigrations(migrations.FS))
			withoutRelay(t, url)
			conn, err := pgx.Connect(t.Context(), url)
			require.NoError(t, err)
			defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
			_, err = conn.Exec(t.Context(), `
				CREATE FUNCTION sent() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_notify('sent', ''); RETURN NULL; END $$;
				CREATE TRIGGER sent AFTER INSERT ON fsm_outbox_sent FOR EACH ROW WHEN (NEW.topic = 'order_paid') EXECUTE FUNCTION sent();
				LISTEN sent`)
			require.NoError(t, err)
			mails := func() (n string) {
				require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*)::text FROM shop_mails").Scan(&n))
				return n
			}
			<-start(t, url, c.fault).died
			require.Equal(t, c.left, mails())

			start(t, url, "")
			waiting, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err = conn.WaitForNotification(waiting)
			require.NoError(t, err)
			require.Equal(t, "1", mails())
		})
	}
}

// withoutRelay has an order paid at a service of which only the handler runs.
func withoutRelay(t *testing.T, url string) {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	defer pool.Close()
	verifier, err := webhook.NewStandard([]webhook.Secret{killSecret})
	require.NoError(t, err)
	service, err := shop.New(shop.Config{Pool: pool, Standard: verifier})
	require.NoError(t, err)
	server := httptest.NewServer(service.Handler())
	defer server.Close()
	(&process{t: t, url: server.URL}).paid()
}
