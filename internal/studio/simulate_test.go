package studio_test

import (
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/pawl-go/pawl/internal/studio"
)

// hard has a guard that is not worked out in the head.
const hard = `machine: hard
table:
  name: hards
  key: {column: id, type: bigint}
  columns: {note: {type: text, default: "md5('a')"}}
states: {A: {initial: true}, B: {final: true}, C: {final: true}}
events: {e: {}}
transitions:
  - {event: e, from: A, to: B, guard: {sql: "md5(note) = 'x'"}}
  - {event: e, from: A, to: C}
`

func simulated(t *testing.T) *open {
	t.Helper()
	order, err := os.ReadFile("../../definitions/order.yaml")
	require.NoError(t, err)
	return serve(t, project(t, map[string]string{
		"order.yaml": string(order), "lamp.yaml": lamp, "hard.yaml": hard, "hostile.yaml": shared(t, "hostile.yaml"),
		"chinese.yaml": shared(t, "chinese.yaml"), "wrong.yaml": "machine: wrong\n",
	}), studio.Options{})
}

const ordered = "/m/order/simulate?s=1/.create,customer_id=ann,sku=tea,quantity=2,total_cents=100"

// under are the elements with a class below a node, in order.
func under(root *html.Node, class string) []*html.Node {
	var out []*html.Node
	for n := range root.Descendants() {
		if value, _ := attribute(n, "class"); n.Type == html.ElementNode && strings.Contains(" "+value+" ", " "+class+" ") {
			out = append(out, n)
		}
	}
	return out
}

// words is a text with its spaces made one.
func words(n *html.Node) string { return strings.Join(strings.Fields(said(n)), " ") }

// lives are the links of a page that lead to other lives.
func lives(root *html.Node) []string {
	var out []string
	for n := range root.Descendants() {
		if _, is := attribute(n, "data-life"); is && n.Data == "a" {
			href, _ := attribute(n, "href")
			out = append(out, href)
		}
	}
	return out
}

// Whatever a page offers leads to a page, of every machine, in both languages; and
// what a call is said to do is what it did.
func TestEveryStepThatIsOfferedIsThere(t *testing.T) {
	t.Parallel()
	s := simulated(t)
	for _, page := range []string{
		"/m/lamp/simulate", "/m/hostile/simulate?lang=zh", "/m/m1/simulate?lang=zh", "/m/hard/simulate", "/m/order/simulate?lang=zh", "/m/order/simulate?s=1",
		ordered + "/payment_succeeded,payment_no=p1,paid_cents=100", ordered + "/.wait,30m",
	} {
		root := s.parsed(page)
		require.NotEmpty(t, lives(root), page)
		for _, href := range lives(root) {
			next := s.parsed(href)
			require.Empty(t, under(next, "banner"), "%s leads to %s", page, href)
			require.Equal(t, strings.Contains(page, "lang=zh"), strings.Contains(href, "lang=zh"), "the language is kept")
		}
		for _, group := range under(root, "group") {
			promised := words(under(group, "mark")[0])
			for _, way := range under(group, "fire") {
				href, _ := attribute(way, "href")
				last := under(s.parsed(href), "answer")
				require.Len(t, last, 1, href)
				if len(under(group, "chips")) == 0 {
					require.Equal(t, promised, words(under(last[0], "mark")[0]), href)
				}
			}
		}
	}
}

func TestAStepIsTold(t *testing.T) {
	t.Parallel()
	s := simulated(t)
	paid := ordered + "/pay/payment_succeeded,payment_no=p1,paid_cents=100"
	root := s.parsed(paid)
	require.Equal(t, "PAID", nameOf(under(root, "here")[0], "data-state"))
	took := under(root, "took")
	require.Equal(t, []string{"PAYING", "PAID", "payment_succeeded"}, []string{nameOf(took[0], "data-from"), nameOf(took[0], "data-to"), nameOf(took[1], "data-event")})
	last := words(under(root, "answer")[0])
	for _, want := range []string{"Applied payment_succeeded", "true amount_matches total_cents = @paid_cents", "the amount paid is the amount due", "paid_cents 0", "order_paid", "Recorded as a fact: p1, fingerprint 100", "Tell it again", "Tell it with paid_cents = 101"} {
		require.Contains(t, last, want)
	}
	tape := under(root, "tape")[0]
	require.Equal(t, "ol", tape.Data)
	steps := 0
	for n := range tape.ChildNodes() {
		if n.Type == html.ElementNode {
			steps++
		}
	}
	require.Equal(t, 3, steps)

	again := words(under(s.parsed(paid+"/payment_succeeded,payment_no=p1,paid_cents=100"), "answer")[0])
	require.Contains(t, again, "Replayed")
	require.Contains(t, again, "Step 3 has told this fact already: the identity payment_no = p1 is known, so no cell is looked at.")
	other := words(under(s.parsed(paid+"/payment_succeeded,payment_no=p1,paid_cents=7&lang=zh"), "answer")[0])
	require.Contains(t, other, "内容不符")
	require.NotRegexp(t, "Applied|Compensated|Replayed|Mismatched", other, "outcomes are in the page's language, as on the pages of the database")
	require.Contains(t, other, "指纹原为 100，现为 7。")
}

func nameOf(n *html.Node, key string) string {
	value, _ := attribute(n, key)
	return value
}

// A link that does not fit says at which step and why, and plays the rest.
func TestALinkThatDoesNotFit(t *testing.T) {
	t.Parallel()
	s := simulated(t)
	for _, c := range []struct{ steps, en, zh string }{
		{"payment_succeded", "There is no event “payment_succeded” in the definition. Did you mean “payment_succeeded”?", "定义中没有事件“payment_succeded”。是否指“payment_succeeded”？"},
		{"payment_failed", "“payment_no” needs a value.", "“payment_no”需要一个值。"},
		{"payment_succeeded,payment_no=1,paid_cents=ten", "The value of “paid_cents” is no bigint: invalid input syntax for type bigint.", "“paid_cents”的值不是 bigint：invalid input syntax for type bigint。"},
		{".what", "“.what” cannot be read: there is no word \".what\".", "“.what”无法读取：there is no word \".what\"。"},
		{".given,PAID", "Only the first step may say that a row is there.", "只有第一步可以给定已有的行。"},
	} {
		for lang, want := range map[string]string{"en": c.en, "zh": c.zh} {
			root := s.parsed(ordered + "/" + c.steps + "/pay&lang=" + lang)
			tape := words(under(root, "tape")[0])
			require.Contains(t, tape, want)
			require.NotContains(t, words(root), "%!")
			require.Equal(t, "PAYING", nameOf(under(root, "here")[0], "data-state"), "the rest is played")
		}
	}
	for _, text := range []string{"7/pay", "1" + strings.Repeat("/pay", 200), strings.Repeat("x", 9000)} {
		root := s.parsed("/m/order/simulate?s=" + text)
		require.NotEmpty(t, under(root, "banner"), text)
		require.NotContains(t, words(root), "%!")
	}
}

// After steps that made no row, the definition's first calls lead on, in place of the steps.
func TestStepsWithoutARowLeadToANewOne(t *testing.T) {
	t.Parallel()
	s := simulated(t)
	for _, steps := range []string{"payment_succeded", "7/x", ".what/pay", "pay"} {
		root := s.parsed("/m/order/simulate?s=1/" + steps)
		require.Contains(t, words(root), "There is no row yet.", steps)
		calls := under(root, "fire")
		require.NotEmpty(t, calls, steps)
		at := slices.IndexFunc(calls, func(n *html.Node) bool {
			return strings.HasPrefix(words(n), "pay →") || strings.HasPrefix(words(n), "pay to")
		})
		require.GreaterOrEqual(t, at, 0, steps)
		next := s.parsed(nameOf(calls[at], "href"))
		require.Equal(t, "PAYING", nameOf(under(next, "here")[0], "data-state"), steps)
		require.NotContains(t, words(under(next, "tape")[0]), "does not fit", "the steps that led nowhere are gone")
	}
	root := s.parsed("/m/order/simulate?s=1")
	require.Empty(t, under(root, "fire"), "before the first step a row is asked for")
}

// A guard that only the database can work out is for the reader to choose, and the
// choice is in the link.
func TestAGuardIsChosen(t *testing.T) {
	t.Parallel()
	s := simulated(t)
	root := s.parsed("/m/hard/simulate?s=1/.create/e")
	last := under(root, "answer")[0]
	require.Contains(t, words(last), "your choice")
	require.Contains(t, words(last), "cannot be worked out here (note)", "it reads a value that is not known")
	end := map[string]string{"It is true": "B", "It is false": "C", "It is NULL": "C"}
	for _, link := range under(last, "small") {
		if want, is := end[words(link)]; is {
			delete(end, words(link))
			next := s.parsed(nameOf(link, "href"))
			require.Equal(t, want, nameOf(under(next, "here")[0], "data-state"))
			require.Contains(t, words(under(next, "answer")[0]), "chosen by you")
		}
	}
	require.Empty(t, end)
}

// Forms are read with GET, and lead to the link of the life with the step in it.
func TestFormsBecomeLinks(t *testing.T) {
	t.Parallel()
	s := simulated(t)
	for query, want := range map[string]string{
		"do=call:pay": "1/.create/pay",
		"do=call:payment_succeeded&must.payment_no=p+1&must.paid_cents=9&v=": "1/.create/payment_succeeded,payment_no=p 1,paid_cents=9",
		"do=call:payment_succeeded&must.payment_no=&must.paid_cents=9&v=+3":  "1/.create/payment_succeeded@3,payment_no=,paid_cents=9",
		"do=call:e&may.a=&may.b=1":                "1/.create/e,b=1",
		"do=call:create":                          "1/.create/create",
		"do=wait&after=1d+2h":                     "1/.create/.wait,26h",
		"do=wait&after=soon/pay":                  "1/.create/.wait,soon!2Fpay",
		"do=correct&to=a/b&v=2":                   "1/.create/.correct,a!2Fb@2",
		"do=create&must.sku=tea&may.note=":        "1/.create,sku=tea",
		"do=call:pay&lang=zh":                     "1/.create/pay",
		"do=call:e&must.a=%3Cscript%3E/,&must.x=": "1/.create/e,a=<script>!2F!2C,x=",
	} {
		answer, _ := s.get(http.StatusSeeOther, "/m/order/simulate?s=1/.create&"+query)
		to, err := url.Parse(answer.Header.Get("Location"))
		require.NoError(t, err)
		require.Equal(t, "/m/order/simulate", to.Path)
		require.Equal(t, want, to.Query().Get("s"), query)
		require.Equal(t, strings.Contains(query, "lang=zh"), to.Query().Get("lang") == "zh")
		require.False(t, to.Query().Has("do"))
	}
}

// Nothing that a definition or a link says is more than text.
func TestHostileLives(t *testing.T) {
	t.Parallel()
	s := simulated(t)
	nasty := url.QueryEscape(`<script>alert(1)</script>"'><img src=x onerror=alert(1)>{{.}}%s`)
	for _, path := range []string{
		"/m/hostile/simulate", "/m/hostile/simulate?s=1/.create/" + url.QueryEscape("a;b") + "/" + nasty + "/.correct," + nasty,
		ordered + "/payment_succeeded,payment_no=" + nasty + ",paid_cents=100", ordered + "/payment_succeeded,payment_no=1,paid_cents=" + nasty, ordered + "/" + nasty,
		"/m/order/simulate?s=" + nasty, "/m/hostile/simulate?s=1/.given," + url.QueryEscape("<script>alert(1)<!2Fscript>"),
	} {
		root := s.parsed(path)
		for n := range root.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			if n.Data == "script" {
				src, _ := attribute(n, "src")
				require.True(t, strings.HasPrefix(src, "/assets/"), path)
			}
			require.NotEqual(t, "img", n.Data, path)
			for _, a := range n.Attr {
				require.False(t, strings.HasPrefix(a.Key, "on"), "%s: %s", path, a.Key)
				require.NotEqual(t, "style", a.Key, path)
				require.False(t, a.Key == "href" && strings.HasPrefix(strings.ToLower(a.Val), "javascript:"), path)
			}
		}
	}
}

// A machine that is not whole has no life, and one without a table no row to show.
func TestLivesWithoutARow(t *testing.T) {
	t.Parallel()
	s := simulated(t)
	require.Empty(t, under(s.parsed("/m/wrong/simulate"), "now"))
	require.NotEmpty(t, under(s.parsed("/m/wrong/simulate"), "banner"))
	s.get(http.StatusNotFound, "/m/nobody/simulate")
	lamp := s.parsed("/m/lamp/simulate")
	require.Empty(t, under(lamp, "kept"))
	require.Equal(t, "OFF", nameOf(under(lamp, "here")[0], "data-state"))
	const deadlines = "a deadline fires when the sweep comes"
	require.NotContains(t, words(lamp), deadlines, "it has none")
	require.Contains(t, words(s.parsed(ordered)), deadlines)
	empty := s.parsed("/m/order/simulate?s=1")
	require.Empty(t, under(empty, "here"))
	require.Empty(t, under(empty, "group"))
	require.Len(t, under(empty, "values"), 1, "the form of a creation")
}

func TestSimulateWorksInABrowser(t *testing.T) {
	t.Parallel()
	browse(t, "simulate", simulated(t))
}
