package studio_test

import (
	"io"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/studio"
)

// frameOf is the first page with these options, and its policy. The browser prefers
// these languages.
func frameOf(t *testing.T, o studio.Options, languages ...string) (body, policy string) {
	t.Helper()
	o.Root, o.Paths, o.Log = "../..", []string{"definitions"}, io.Discard
	s, err := studio.New(t.Context(), o)
	require.NoError(t, err)
	defer s.Close()
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/", nil)
	r.Host = "127.0.0.1:7295"
	r.Header["Accept-Language"] = languages
	s.Handler().ServeHTTP(w, r)
	return w.Body.String(), w.Header().Get("Content-Security-Policy")
}

var formAction = regexp.MustCompile(`form-action ([^;]*)`)

func TestActionsAreFormsThatThePolicyKnows(t *testing.T) {
	t.Parallel()
	body, policy := frameOf(t, studio.Options{
		Addr:    "127.0.0.1:0",
		Links:   []studio.Link{{Text: "Shop", URL: "http://shop.example/"}},
		Actions: []studio.Link{{Text: `Storm <b>"&`, URL: "http://127.0.0.1:9464/storm/t%22ok?a=1&b='2'"}},
	})
	require.Equal(t, "'self' http://127.0.0.1:9464", formAction.FindStringSubmatch(policy)[1], "a link is no form")
	require.Contains(t, body, `<form class="action" method="post" action="http://127.0.0.1:9464/storm/t%22ok?a=1&amp;b=%272%27"`)
	require.Contains(t, body, `<button type="submit">Storm &lt;b&gt;&#34;&amp;</button>`)
	require.NotContains(t, body, "Storm <b>")

	body, policy = frameOf(t, studio.Options{Addr: "127.0.0.1:0"})
	require.Equal(t, "'self'", formAction.FindStringSubmatch(policy)[1])
	require.NotContains(t, body, "<form class=\"action\"")
}

// A button says in Chinese what it was given in Chinese, and else what it has.
func TestActionsAndLinksSpeakChinese(t *testing.T) {
	t.Parallel()
	o := studio.Options{
		Addr:    "127.0.0.1:0",
		Links:   []studio.Link{{Text: "Shop", Chinese: "商店", URL: "http://shop.example/"}, {Text: "Wiki", URL: "http://wiki.example/"}},
		Actions: []studio.Link{{Text: "Storm", Chinese: "风暴", URL: "http://127.0.0.1:9464/storm"}},
	}
	body, _ := frameOf(t, o)
	require.Contains(t, body, `data-sent="Sent: Storm"><button type="submit">Storm</button>`)
	require.Contains(t, body, `>Shop<`)
	require.NotContains(t, body, "风暴")
	body, _ = frameOf(t, o, "zh-CN")
	require.Contains(t, body, `data-sent="已发送：风暴"><button type="submit">风暴</button>`)
	require.Contains(t, body, `>商店<`)
	require.Contains(t, body, `>Wiki<`)
}

// Who has no token gets no button either: it may hold one of another program.
func TestARefusedVisitorSeesNoAction(t *testing.T) {
	t.Parallel()
	body, _ := frameOf(t, studio.Options{
		Addr: "0.0.0.0:0", Token: "sesame", Actions: []studio.Link{{Text: "Storm", URL: "http://127.0.0.1:9464/storm/secret"}},
	})
	require.NotContains(t, body, "secret")
}

func TestActionsLeadSomewhere(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"javascript:alert(1)", "/storm", "127.0.0.1:9464/storm", "ftp://x/", "http://", "http://x;script-src *", "http://a,b/", "http://*/", "http://[::1"} {
		_, err := studio.New(t.Context(), studio.Options{Root: "../..", Paths: []string{"definitions"}, Addr: "127.0.0.1:0", Actions: []studio.Link{{Text: "Storm", URL: url}}})
		require.EqualError(t, err, `the action "Storm" must lead to an address that begins with http:// or https://`, url)
	}
}
