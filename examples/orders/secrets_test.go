package main

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/internal/testdb"
)

// planted are texts that no line of a log and no error may show: each is given to the
// program where a secret, or what a customer said, comes in.
var planted = map[string]string{
	"the database's password": "sesame-db",
	"Redis's password":        "sesame-redis",
	"the provider's token":    "sesame-provider",
	"a webhook's secret":      "c2VzYW1lLXdlYmhvb2stc2VjcmV0LW9mLTMyLWJ5dGU=",
	"a card":                  "4242424242424242",
	"a signature":             "sesame-signature",
	"a cookie":                "sesame-cookie",
	"an authorization":        "sesame-bearer",
}

// said is what a process printed, on both of its ways out.
func silent(t *testing.T, said string) {
	t.Helper()
	for what, text := range planted {
		require.NotContains(t, said, text, "%s was printed", what)
	}
	for part := range strings.SplitSeq("sesame-db", "-") { // nor a half of it
		require.NotContains(t, said, part)
	}
}

// ends runs the service until it ends by itself, and returns what it printed.
func ends(t *testing.T, env ...string) string {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(append(os.Environ(), childFault+"=", "ADDR=127.0.0.1:0"), env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "%s", out)
	require.NotEmpty(t, out)
	return string(out)
}

// A setting that cannot be used ends the program with words that do not repeat it.
func TestBadSettingsShowNoSecret(t *testing.T) {
	t.Parallel()
	for _, database := range []string{
		"postgres://ann:sesame-db@127.0.0.1:port/x",
		"postgres://ann:sesame:db@[::1/x",
		"postgre://ann:sesame-db@127.0.0.1/x",
		"postgres://ann:ses%zzame-db@127.0.0.1/x",
		"postgres://ann:sesame-db/or@127.0.0.1/x",
		"host=127.0.0.1 password = sesame-db port=none",
		`host=127.0.0.1 password="sesame db" port=none`,
		"host=127.0.0.1 password='sesame",
		"ann:sesame-db",
		"postgres://ann:sesame-db@127.0.0.1:1/x", // nobody listens
		"host=127.0.0.1 port=1 user=ann password=sesame-db",
		"postgres://ann@127.0.0.1:1/x?password=sesame-db&sslmode=sesame",
	} {
		silent(t, ends(t, "DATABASE_URL="+database))
	}
	silent(t, ends(t, "REDIS_URL=redis//:sesame-redis@x", "WEBHOOK_SECRET_STANDARD=whsec_"+planted["a webhook's secret"]+"x", "WEBHOOK_SECRET_STRIPE=sesame-webhook,",
		"PROVIDER_URL=http//ann:sesame-provider@x", "PROVIDER_TOKEN=sesame-provider", "WEBHOOK_SECRET_WECHAT=sesame-db", "WEBHOOK_WECHAT_KEYS=sesame-db", "WEBHOOK_ALIPAY_KEYS=sesame-db"))
}

// refusing is a server that asks for the password and does not take it.
func refusing(t *testing.T) (addr string, asked <-chan string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	passwords, done := make(chan string, 16), make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if password := refuse(conn); password != "" {
				passwords <- password
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String(), passwords
}

func refuse(conn net.Conn) string {
	server := pgproto3.NewBackend(conn, conn)
	for {
		message, err := server.ReceiveStartupMessage()
		if err != nil {
			return ""
		}
		if _, ok := message.(*pgproto3.StartupMessage); ok {
			break
		}
		if _, err := conn.Write([]byte("N")); err != nil { // no TLS
			return ""
		}
	}
	server.Send(&pgproto3.AuthenticationCleartextPassword{})
	if err := server.Flush(); err != nil {
		return ""
	}
	message, err := server.Receive()
	if err != nil {
		return ""
	}
	password, ok := message.(*pgproto3.PasswordMessage)
	if !ok {
		return ""
	}
	server.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "28P01", Message: `password authentication failed for user "ann"`})
	_ = server.Flush()
	return password.Password
}

func TestWrongPasswordIsNotShown(t *testing.T) {
	t.Parallel()
	addr, asked := refusing(t)
	out := ends(t, "DATABASE_URL=postgres://ann:sesame-db@"+addr+"/x?sslmode=disable")
	require.Equal(t, "sesame-db", <-asked, "the server was given it")
	require.Contains(t, out, "28P01")
	silent(t, out)

	read, write, err := os.Pipe()
	require.NoError(t, err)
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestRunbookChild$")
	cmd.Env = append(os.Environ(), runbookChild+"=postgres://ann:sesame-db@"+addr+"/x?sslmode=disable")
	cmd.Stdout, cmd.Stderr = write, write
	require.NoError(t, cmd.Start())
	require.NoError(t, write.Close())
	said, err := io.ReadAll(read)
	require.NoError(t, err)
	_ = cmd.Wait()
	require.Equal(t, "sesame-db", <-asked)
	require.Contains(t, string(said), "28P01")
	silent(t, string(said))
}

const runbookChild = "ORDERS_TEST_RUNBOOK"

func TestRunbookChild(t *testing.T) {
	url := os.Getenv(runbookChild)
	if url == "" {
		t.Skip("it is the other process of another test")
	}
	t.Setenv("DATABASE_URL", url)
	os.Exit(run([]string{"runbook", "inspect", "stuck"}))
}

// A run under bad input, with a Redis that is not there: what the service logs names
// what was refused, and shows nothing of it.
func TestBadInputShowsNoSecret(t *testing.T) {
	t.Parallel()
	database := testdb.URL(t)
	config, err := pgx.ParseConfig(database)
	require.NoError(t, err)
	if u, err := url.Parse(database); err == nil && u.User != nil && config.Password == "" {
		u.User = url.UserPassword(config.User, planted["the database's password"]) // this server asks for none
		database = u.String()
	}
	secret := "whsec_" + planted["a webhook's secret"]
	var said bytes.Buffer
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), childFault+"=", "DATABASE_URL="+database, "ADDR=127.0.0.1:0", "RATE_LIMIT=5",
		"REDIS_URL=redis://:sesame-redis@127.0.0.1:1", "WEBHOOK_SECRET_STANDARD="+secret, "WEBHOOK_SECRET_STRIPE="+secret,
		"PROVIDER_URL=http://127.0.0.1:1/v1", "PROVIDER_TOKEN=sesame-provider", "SWEEP_EVERY=10ms")
	read, write, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = write, write
	require.NoError(t, cmd.Start())
	require.NoError(t, write.Close())
	addr, all := make(chan string, 1), make(chan error, 1)
	go func() {
		buffer := make([]byte, 64<<10)
		for told := false; ; {
			n, err := read.Read(buffer)
			said.Write(buffer[:n])
			if found := listening.FindStringSubmatch(said.String()); found != nil && !told {
				told = true
				addr <- found[1]
			}
			if err != nil {
				close(addr)
				all <- err
				return
			}
		}
	}()
	at, ok := <-addr
	require.True(t, ok, "it ended before it listened")
	refused := badInput(t, "http://"+at, secret)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.ErrorIs(t, <-all, io.EOF)
	require.NoError(t, cmd.Wait())
	require.Greater(t, refused, 20)
	silent(t, said.String())
	require.Contains(t, said.String(), "callback", "what was refused is in the log")
}

// badInput sends what must be refused, and returns how often it was. No answer shows
// what was sent.
func badInput(t *testing.T, server, secret string) int {
	t.Helper()
	refused := 0
	send := func(method, path, body string, header http.Header) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Header = header.Clone()
		r.Header.Set("Cookie", "session="+planted["a cookie"])
		r.Header.Set("Authorization", "Bearer "+planted["an authorization"])
		if r.Header.Get("Content-Type") == "" {
			r.Header.Set("Content-Type", "application/json")
		}
		response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		if len(body) > 64<<10 && (errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)) {
			refused++ // a server does not wait for long for the rest of what it will not read
			return
		}
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		answer, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		silent(t, string(answer))
		if response.StatusCode >= 400 {
			refused++
		}
	}
	card := planted["a card"]
	signer, err := webhook.NewStandardSigner(webhook.Secrets(secret))
	require.NoError(t, err)
	genuine := func(id, body string) http.Header {
		header, err := signer.Sign(id, time.Now(), []byte(body))
		require.NoError(t, err)
		return header
	}
	for _, body := range []string{
		`{"card": "` + card + `"`, `{"id": "` + card + `", "type": "payment.succeeded", "data": {"order_id": "` + card + `", "amount_cents": "` + card + `"}}`,
		`["` + card + `"]`, card, "{\"id\": \"\x00" + card + "\"}", strings.Repeat(card, 20_000),
	} {
		send("POST", "/callbacks/standard", body, genuine("msg_1", body))
		send("POST", "/callbacks/standard", body, genuine("msg_2", "other"))
		send("POST", "/callbacks/standard", body, http.Header{"Webhook-Id": {"m"}, "Webhook-Timestamp": {planted["a signature"]}, "Webhook-Signature": {"v1," + planted["a signature"]}})
		send("POST", "/callbacks/stripe", body, http.Header{"Stripe-Signature": {"t=1,v1=" + planted["a signature"]}})
		send("POST", "/callbacks/stripe", body, http.Header{"Content-Type": {card}})
		send("POST", "/orders", body, http.Header{"Idempotency-Key": {"k"}, "X-Actor": {"ann"}})
		send("PUT", "/stock/mug", body, http.Header{})
		send("GET", "/orders/"+url.PathEscape(card), "", http.Header{})
		send("GET", "/stock/"+url.PathEscape("\x00"+card), "", http.Header{})
	}
	return refused
}
