package studio_test

import (
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/studio"
)

// every are definitions of all kinds: ours, small, in Chinese, hostile, large, broken.
func every(t *testing.T) map[string]string {
	t.Helper()
	order, err := os.ReadFile("../../definitions/order.yaml")
	require.NoError(t, err)
	return map[string]string{
		"order.yaml": string(order), "lamp.yaml": lamp, "chinese.yaml": shared(t, "chinese.yaml"), "hostile.yaml": shared(t, "hostile.yaml"),
		"journey.yaml": journey(40), "broken <b>.yaml": "machine: [\n  </code><script>alert(1)</script>: \u202e\x01 <img src=x>\n",
	}
}

// livesDeep is how many steps of a simulation are followed.
const livesDeep = 1

// Every page that a page leads to is there, in both languages; what a definition
// says is text in it, and nothing in it runs or has a style of its own.
func TestEveryPageIsThereAndSound(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, every(t)), studio.Options{})
	for _, lang := range []string{"en", "zh"} {
		seen, depth := map[string]bool{}, map[string]int{}
		next := []string{"/?lang=" + lang}
		for len(next) > 0 {
			path := next[0]
			next = next[1:]
			if seen[path] {
				continue
			}
			seen[path] = true
			answer, body := s.get(200, path)
			if answer.Header.Get("Content-Type") != "text/html; charset=utf-8" {
				require.True(t, strings.HasPrefix(answer.Header.Get("Content-Disposition"), "attachment; "), path)
				require.NotEmpty(t, body, path)
				continue
			}
			root, err := html.Parse(strings.NewReader(body))
			require.NoError(t, err)
			for _, href := range sound(t, path, lang, root) {
				to, err := url.Parse(href)
				require.NoError(t, err)
				if to.Path == "" || to.Query().Get("lang") != lang { // a fragment, or the switch of languages
					continue
				}
				to.Fragment = ""
				if q := to.Query(); q.Has("s") && depth[path] >= livesDeep { // a life leads to longer ones, without end
					continue
				} else if q.Has("s") {
					depth[to.String()] = depth[path] + 1
				}
				next = append(next, to.String())
			}
		}
		require.Greater(t, len(seen), 60, "pages and files")
		require.True(t, seen["/m/hostile/source?lang="+lang])
		require.True(t, seen["/m/order/suites/n-switch=2?lang="+lang])
		require.True(t, seen["/m/broken%20%3Cb%3E/source?lang="+lang])
	}
}

// sound checks a page and returns where it leads.
func sound(t *testing.T, path, lang string, root *html.Node) (links []string) {
	t.Helper()
	ids, heads, mains := map[string]bool{}, 0, 0
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for _, a := range n.Attr {
			require.False(t, a.Key == "style" || strings.HasPrefix(a.Key, "on"), "%s: %s of %s", path, a.Key, n.Data)
			if a.Key == "id" {
				require.False(t, ids[a.Val], "%s has the id %s twice", path, a.Val)
				ids[a.Val] = true
			}
		}
		switch n.Data {
		case "html":
			have, _ := attribute(n, "lang")
			require.Equal(t, lang, have, path)
		case "script":
			src, _ := attribute(n, "src")
			require.True(t, strings.HasPrefix(src, "/assets/"), path)
			require.Nil(t, n.FirstChild, path)
		case "img", "iframe", "object", "embed", "base", "style", "i":
			t.Errorf("%s: %s", path, n.Data)
		case "a":
			if href, ok := attribute(n, "href"); ok {
				links = append(links, href)
			}
		case "h1":
			heads++
		case "main":
			mains++
		}
	}
	require.Equal(t, 1, heads, path)
	require.Equal(t, 1, mains, path)
	for _, href := range links {
		if to, err := url.Parse(href); err == nil && strings.HasPrefix(href, "#") {
			require.True(t, ids[to.Fragment], "%s leads to %s", path, href)
		}
	}
	return links
}

func TestHostileTextsAreShownAsTheyAre(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, every(t)), studio.Options{})
	text := said(s.parsed("/m/hostile"))
	for _, part := range []string{"</script><script>alert(1)</script> & <b>bold</b>", "<img src=x onerror=alert(1)>", "</title><style>*{display:none}</style>", "javascript:alert(1)"} {
		require.Contains(t, text, part)
	}
	source := said(s.parsed("/m/broken%20%3Cb%3E/source"))
	require.Contains(t, source, `</code><script>alert(1)</script>: \u202e\u0001 <img src=x>`, "and what nobody sees is spelt out")
}

func TestTheLanguageIsTheAddressesOrTheBrowsers(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"lamp.yaml": lamp}), studio.Options{})
	for _, c := range []struct{ path, accept, want string }{
		{"/", "", "en"}, {"/", "zh-CN,zh;q=0.9,en;q=0.8", "zh"}, {"/", "fr, de", "en"}, {"/", "fr, zh-TW", "zh"}, {"/", "en-GB,zh", "en"},
		{"/?lang=zh", "en", "zh"}, {"/?lang=en", "zh", "en"}, {"/?lang=fr", "zh", "zh"},
	} {
		answer, body := s.get(200, c.path, "Accept-Language", c.accept)
		require.Equal(t, c.want, answer.Header.Get("Content-Language"), c)
		require.Contains(t, body, `<html lang="`+c.want+`">`, c)
		require.Equal(t, strings.Contains(c.path, "lang="+c.want), strings.Contains(body, `href="/m/lamp?lang=`+c.want), "links keep what the address says: %v", c)
	}
}

// A form keeps the language that its address has, and no other.
func TestFormsKeepTheLanguage(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"lamp.yaml": lamp}), studio.Options{})
	for _, path := range []string{"/m/lamp/diff", "/m/lamp/simulate"} {
		_, body := s.get(200, path+"?lang=zh")
		require.Contains(t, body, `<input type="hidden" name="lang" value="zh">`, path)
		_, body = s.get(200, path, "Accept-Language", "zh")
		require.NotContains(t, body, `name="lang"`, path)
	}
}

func TestWhatIsNotThereSaysWhatIs(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"lamp.yaml": lamp}), studio.Options{})
	for _, path := range []string{"/nothing", "/m/none", "/m/lamp/none", "/m/lamp/suites/none", "/m/lamp/suites/all-cells/none", "/m/lamp/files/none", "/rules/FSM000", "/m/%3Cscript%3E", "/m/lamp/suites/n-switch=9"} {
		_, body := s.get(404, path)
		require.Contains(t, body, `<a class="name" href="/m/lamp">lamp</a>`, path)
		require.NotContains(t, body, "<script>", path)
	}
}

// What is kept in the picture is in the address, and drawn by the server, too.
func TestAnAddressShowsOneStateOrEvent(t *testing.T) {
	t.Parallel()
	order, err := os.ReadFile("../../definitions/order.yaml")
	require.NoError(t, err)
	s := serve(t, project(t, map[string]string{"order.yaml": string(order), "hostile.yaml": shared(t, "hostile.yaml")}), studio.Options{})
	for path, want := range map[string][]string{
		"/m/order":                            nil,
		"/m/order?state=NONE":                 nil,
		"/m/order?state=SHIPPED":              {"COMPLETED", "PAID", "REFUNDING", "SHIPPED"},
		"/m/order?event=cancel":               {"CANCELLED", "PAYING", "PENDING"},
		"/m/order/simulate?state=SHIPPED":     {"COMPLETED", "PAID", "REFUNDING", "SHIPPED"},
		"/m/hostile?state=a%3A%3Ab":           {"<script>alert(1)</script>", "a::b", "in transit"},
		"/m/hostile?event=%22quoted%22&lang=": {"<script>alert(1)</script>", "a::b"},
	} {
		require.ElementsMatch(t, want, marked(s.parsed(path), "pawl-state", "on"), path)
	}
}

// A machine that is too large for a picture has its pages all the same, whatever their
// address names.
func TestPagesOfAMachineWithoutAPicture(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"journey.yaml": journey(gensvg.MaxStates + 1)}), studio.Options{})
	for _, path := range []string{"/m/journey?event=go_on", "/m/journey/simulate?s=1&event=go_on", "/m/journey/simulate?s=1&state=STOP_1"} {
		require.Empty(t, marked(s.parsed(path), "pawl-state", "on"), path)
	}
}

// marked are the states of the picture that have a class.
func marked(root *html.Node, kind, class string) (names []string) {
	for n := range root.Descendants() {
		classes, _ := attribute(n, "class")
		fields := strings.Fields(classes)
		if len(fields) > 0 && fields[0] == kind && fields[len(fields)-1] == class {
			name, _ := attribute(n, "data-state")
			if kind == "pawl-arc" {
				name, _ = attribute(n, "data-event")
			}
			names = append(names, name)
		}
	}
	return names
}

// An address of the database's pages says what they lack where no database was named.
func TestPagesOfADatabaseSayThatThereIsNone(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"lamp.yaml": lamp}), studio.Options{})
	for _, path := range []string{"/m/lamp/live", "/m/lamp/rows/1", "/m/lamp/rows/1/2", "/find?q=1", "/lags"} {
		_, body := s.get(404, path)
		require.Contains(t, body, "--database URL", path)
		require.NotContains(t, body, "There is no such page", path)
	}
	_, body := s.get(404, "/m/lamp/none")
	require.NotContains(t, body, "--database URL.", "of others it is nothing that a database would help")
}

func TestOneErrorIsNoErrors(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"lamp.yaml": strings.Replace(lamp, `to: "ON"`, `to: "GREEN"`, 1)}), studio.Options{})
	require.Regexp(t, `\b1 error\b`, said(s.parsed("/")))
	require.Regexp(t, `\b1 error\b`, said(s.parsed("/m/lamp/source")))
}

// Every page of a machine says in its heading which one it is, and of which machine.
func TestHeadingsSayWhichPageOfWhichMachine(t *testing.T) {
	t.Parallel()
	s := serve(t, project(t, map[string]string{"lamp.yaml": lamp}), studio.Options{})
	s.headed(map[string]string{
		"/m/lamp": "Lifecycle lamp", "/m/lamp/source": "Source lamp", "/m/lamp/simulate": "Simulate lamp", "/m/lamp/suites": "Suites lamp", "/m/lamp/diff": "Diff lamp",
		"/m/lamp/suites/all-cells": "all-cells lamp", "/m/lamp/source?lang=zh": "源文件 lamp",
	})
	db := newShop(t)
	db.headed(map[string]string{"/m/order/live": "Live order", "/m/order/rows/" + paid: paid + " order", "/m/gone/live?lang=zh": "实时 gone"})
}

// headed holds the headings of pages against words.
func (s *open) headed(want map[string]string) {
	s.Helper()
	have := map[string]string{}
	for path := range want {
		for n := range s.parsed(path).Descendants() {
			if n.Data == "h1" {
				have[path] = strings.Join(strings.Fields(said(n)), " ")
			}
		}
	}
	require.Equal(s, want, have)
}
