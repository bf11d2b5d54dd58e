package studio_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/studio"
)

func TestEveryAnswerForbidsWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"lamp.yaml": lamp}), studio.Options{Links: []studio.Link{{Text: "Shop", URL: "http://shop.example/"}}, Actions: []studio.Link{{Text: "Storm", URL: "http://127.0.0.1:8080/storm?x=1"}}})
	for path, status := range map[string]int{"/": 200, "/m/lamp": 200, "/nothing": 404, "/m/none": 404, "/assets/none": 404, "/m/lamp/files/lamp.mmd": 200} {
		answer, _ := s.get(status, path)
		h := answer.Header
		policy := h.Get("Content-Security-Policy")
		require.True(t, strings.HasPrefix(policy, "default-src 'none'; "), path)
		require.NotContains(t, policy, "unsafe", path)
		require.NotContains(t, policy, "*", path)
		require.Contains(t, policy, "frame-ancestors 'none'", path)
		require.True(t, strings.HasSuffix(policy, "form-action 'self' http://127.0.0.1:8080"), policy)
		require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), path)
		require.Equal(t, "no-referrer", h.Get("Referrer-Policy"), path)
		require.Equal(t, "no-store", h.Get("Cache-Control"), path)
		require.Empty(t, h.Get("Access-Control-Allow-Origin"), path)
	}
}

func TestAssetsAreKeptAsLongAsTheirAddressNamesTheirContent(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"lamp.yaml": lamp}), studio.Options{})
	_, body := s.get(200, "/")
	for _, name := range []string{"style.css", "studio.js", "head.js"} {
		_, rest, found := strings.Cut(body, `"/assets/`+name+"?v=")
		require.True(t, found, name)
		hash, _, _ := strings.Cut(rest, `"`)
		answer, _ := s.get(200, "/assets/"+name+"?v="+hash)
		require.Contains(t, answer.Header.Get("Cache-Control"), "immutable", name)
		answer, _ = s.get(200, "/assets/"+name+"?v=other")
		require.Equal(t, "no-store", answer.Header.Get("Cache-Control"), name)
	}
}

func TestNothingButReadingIsAnswered(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"lamp.yaml": lamp}), studio.Options{})
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, "STRANGE"} {
		answer, _ := s.ask(method, http.StatusMethodNotAllowed, "/m/lamp", "Origin", "http://evil.example")
		require.Equal(t, "GET, HEAD", answer.Header.Get("Allow"))
	}
	_, body := s.ask(http.MethodHead, 200, "/m/lamp")
	require.Empty(t, body)
}

// A page of somebody else's may have a name that leads to this computer, and must not
// read ours by it.
func TestAnotherNameOfThisComputerIsNotAnswered(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"lamp.yaml": lamp}), studio.Options{})
	for _, host := range []string{"evil.example", "evil.example:7295", "localhost.evil.example", "127.0.0.1.nip.example", "192.168.1.7"} {
		_, body := s.get(http.StatusMisdirectedRequest, "/m/lamp", "Host", host)
		require.NotContains(t, body, "lamp", host)
	}
	for _, host := range []string{"localhost", "LOCALHOST:1", "127.0.0.1:7295", "[::1]:7295", "127.8.8.8"} {
		s.get(200, "/m/lamp", "Host", host)
	}
}

func TestBeyondThisComputerATokenIsNeeded(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"lamp.yaml": lamp})
	for _, addr := range []string{":7295", "0.0.0.0:7295", "[::]:7295", "192.168.1.7:7295", "build.example:7295"} {
		_, err := studio.New(t.Context(), studio.Options{Root: dir, Paths: []string{"definitions"}, Addr: addr})
		var missing *studio.NoTokenError
		require.ErrorAs(t, err, &missing, addr)
		require.False(t, studio.Loopback(addr))
	}
	require.NotEqual(t, studio.NewToken(), studio.NewToken())
}

func TestTheTokenIsShownOnce(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"lamp.yaml": lamp}), studio.Options{Addr: "0.0.0.0:7295", Token: "Nh4tq0Zs"})
	for _, path := range []string{"/", "/m/lamp", "/events", "/m/lamp/files/lamp.mmd", "/?token=wrong", "/?token=", "/nothing"} {
		_, body := s.get(http.StatusUnauthorized, path, "Host", "build.example:7295")
		require.NotContains(t, body, "A lamp", path)
		require.NotContains(t, body, "OFF", path)
		require.NotContains(t, body, "data-heard", path)
	}
	s.get(200, "/assets/style.css")
	s.get(http.StatusUnauthorized, "/", "Cookie", "pawl-studio=Nh4tq0Zs")

	answer, _ := s.get(http.StatusSeeOther, "/m/lamp?state=ON&token=Nh4tq0Zs")
	require.Equal(t, "/m/lamp?state=ON", answer.Header.Get("Location"))
	cookies := answer.Cookies()
	require.Len(t, cookies, 1)
	require.True(t, cookies[0].HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, cookies[0].SameSite)
	require.NotContains(t, cookies[0].Value, "Nh4tq0Zs")
	pass := cookies[0].Name + "=" + cookies[0].Value
	_, body := s.get(200, "/m/lamp", "Cookie", pass, "Host", "build.example:7295")
	require.NotContains(t, body, "Nh4tq0Zs")
	require.NotContains(t, body, cookies[0].Value)
	s.get(http.StatusUnauthorized, "/", "Cookie", pass+"0")
}

// The redirect stays on this host, whatever the path looks like.
func TestTheTokenLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"lamp.yaml": lamp}), studio.Options{Token: "Nh4tq0Zs"})
	for _, path := range []string{"//evil.example/", "/%2fevil.example", `/\evil.example`, "///evil.example"} {
		answer, _ := s.get(http.StatusSeeOther, path+"?token=Nh4tq0Zs")
		to, err := url.Parse(answer.Header.Get("Location"))
		require.NoError(t, err)
		require.Empty(t, to.Host, path)
		require.False(t, strings.HasPrefix(answer.Header.Get("Location"), "//"), path)
		require.False(t, strings.HasPrefix(answer.Header.Get("Location"), `/\`), path)
	}
}

func TestALinkLeadsToAPage(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"lamp.yaml": lamp})
	for _, to := range []string{"javascript:alert(1)", "//host", "file:///etc/passwd", "shop"} {
		_, err := studio.New(t.Context(), studio.Options{Root: dir, Paths: []string{"definitions"}, Addr: "127.0.0.1:1", Links: []studio.Link{{Text: "Shop", URL: to}}})
		require.ErrorContains(t, err, `"Shop"`, to)
	}
}

// A key may have a slash, which is written in an address.
func TestTheTokenLeadsToThePageThatWasAskedFor(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"lamp.yaml": lamp}), studio.Options{Token: "Nh4tq0Zs"})
	answer, _ := s.get(http.StatusSeeOther, "/m/lamp/rows/a%2Fb?lang=zh&token=Nh4tq0Zs")
	require.Equal(t, "/m/lamp/rows/a%2Fb?lang=zh", answer.Header.Get("Location"))
}

// A browser shows its cookies to every port of a host.
func TestStudiosOfOneHostDoNotTakeEachOthersPlace(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"lamp.yaml": lamp})
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar}
	visit := func(address string) int {
		answer, err := browser.Get(address)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	one, other := serve(t, dir, studio.Options{Token: "Nh4tq0Zs"}), serve(t, dir, studio.Options{Token: "5kQw9xLe"})
	require.Equal(t, 200, visit(one.server.URL+"/?token=Nh4tq0Zs"))
	require.Equal(t, 200, visit(other.server.URL+"/?token=5kQw9xLe"))
	require.Equal(t, 200, visit(one.server.URL), "the first is still let in")
}
