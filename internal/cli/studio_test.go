package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/cli"
)

// studying is a studio that runs.
type studying struct {
	*testing.T
	address *url.URL
	end     func() (code int, stderr string)
}

// study starts a studio over a project, and reads its address.
func study(t *testing.T, args ...string) *studying {
	t.Helper()
	dir := project(t, "definitions/lamp.yaml", lamp)
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- cli.Run(ctx, append([]string{"studio", "-C", dir}, args...), in, &stderr)
		_ = in.Close()
	}()
	s := &studying{T: t, end: func() (int, string) { cancel(); return <-code, stderr.String() }}
	t.Cleanup(cancel)
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatalf("it ended with %d: %s", <-code, stderr.String())
	}
	var err error
	s.address, err = url.Parse(lines.Text())
	require.NoError(t, err, lines.Text())
	return s
}

// get asks for an address and returns the answer with its body still to be read.
func (s *studying) get(address string, cookies ...*http.Cookie) *http.Response {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, address, nil)
	require.NoError(s, err)
	for _, c := range cookies {
		r.AddCookie(c)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	require.NoError(s, err)
	s.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

// It serves until it is interrupted, and then ends although a page listens.
func TestStudioServesUntilItIsInterrupted(t *testing.T) {
	t.Parallel()
	s := study(t, "--addr", "127.0.0.1:0", "--link", "Shop=http://127.0.0.1:8080/")
	require.Empty(t, s.address.Query().Get("token"), "this computer alone can reach it")
	page := s.get(s.address.String())
	require.Equal(t, 200, page.StatusCode)
	body, err := io.ReadAll(page.Body)
	require.NoError(t, err)
	require.Contains(t, string(body), `href="http://127.0.0.1:8080/"`)

	stream := s.get(s.address.JoinPath("events").String())
	line, err := bufio.NewReader(stream.Body).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "event: changed\n", line)
	code, stderr := s.end()
	require.Equal(t, 0, code)
	require.Empty(t, stderr)
	_, err = io.ReadAll(stream.Body)
	require.NoError(t, err, "the stream was ended, and not cut off")
}

func TestStudioAsksOthersForItsToken(t *testing.T) {
	t.Parallel()
	for _, given := range []string{"", "Nh4tq0Zs"} {
		args := []string{"--addr", "0.0.0.0:0"}
		if given != "" {
			args = append(args, "--token", given)
		}
		s := study(t, args...)
		token := s.address.Query().Get("token")
		require.Equal(t, "localhost", s.address.Hostname())
		require.GreaterOrEqual(t, len(token), 8)
		if given != "" {
			require.Equal(t, given, token)
		}
		bare := "http://" + s.address.Host + "/m/lamp"
		require.Equal(t, http.StatusUnauthorized, s.get(bare).StatusCode)
		shown := s.get(s.address.String())
		require.Equal(t, http.StatusSeeOther, shown.StatusCode)
		require.Equal(t, 200, s.get(bare, shown.Cookies()...).StatusCode)
		code, _ := s.end()
		require.Equal(t, 0, code)
	}
}

// A list of processes shows arguments, and not the environment of others. The flag wins.
func TestStudioHasItsTokenFromTheEnvironment(t *testing.T) {
	t.Setenv("STUDIO_TOKEN", "Qd7rm2Xa")
	for _, addr := range []string{"0.0.0.0:0", "127.0.0.1:0"} {
		s := study(t, "--addr", addr)
		require.Equal(t, "Qd7rm2Xa", s.address.Query().Get("token"), addr)
		require.Equal(t, http.StatusUnauthorized, s.get("http://"+s.address.Host+"/m/lamp").StatusCode, addr)
		code, _ := s.end()
		require.Equal(t, 0, code)
	}
	s := study(t, "--addr", "0.0.0.0:0", "--token", "Nh4tq0Zs")
	require.Equal(t, "Nh4tq0Zs", s.address.Query().Get("token"))
	code, _ := s.end()
	require.Equal(t, 0, code)
}

func TestStudioSaysWhyItCannotBegin(t *testing.T) {
	t.Parallel()
	dir := project(t, "definitions/lamp.yaml", lamp)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = taken.Close() })
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--addr", taken.Addr().String()}, "address already in use; another studio, maybe: --addr 127.0.0.1:0 takes a free port"},
		{[]string{"--addr", "nonsense"}, "missing port"},
		{[]string{"--link", "Shop"}, "give TEXT=URL"},
		{[]string{"--link", "Shop|=http://127.0.0.1/"}, "ENGLISH|CHINESE=URL"},
		{[]string{"--link", "|商店=http://127.0.0.1/"}, "ENGLISH|CHINESE=URL"},
		{[]string{"--action", "=http://127.0.0.1/"}, "give TEXT=URL"},
		{[]string{"--action", "Storm=/storm", "--addr", "127.0.0.1:0"}, "http://"},
		{[]string{"--link", "Shop=javascript:alert(1)", "--addr", "127.0.0.1:0"}, "http://"},
		{[]string{"nothing", "--addr", "127.0.0.1:0"}, "nothing"},
		{[]string{"/etc", "--addr", "127.0.0.1:0"}, "below the project's root"},
	} {
		code, out, stderr := run(append([]string{"studio", "-C", dir}, c.args...)...)
		require.Equal(t, 2, code, c.args)
		require.Empty(t, out, c.args)
		require.Contains(t, stderr, c.want, c.args)
	}
}
