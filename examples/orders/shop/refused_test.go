package shop_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
)

func TestBadRequestsNameTheFieldAndChangeNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.order(orderA)
	before := b.contents()
	edit := func(old, new string) string { return strings.Replace(createBody(orderB), old, new, 1) }
	pay, refunds := "/orders/"+orderA+"/pay", "/orders/"+orderA+"/refunds"
	for _, c := range []struct{ name, method, path, body, field string }{
		{"no uuid", "POST", "/orders", edit(orderB, "17"), "order_id"},
		{"uuid with other letters", "POST", "/orders", edit("0b", "0g"), "order_id"},
		{"uuid without hyphens", "POST", "/orders", edit("-0000-4000", "0000004000"), "order_id"},
		{"no customer", "POST", "/orders", edit("ann", ""), "customer_id"},
		{"customer with a NUL", "POST", "/orders", edit("ann", `\u0000`), "customer_id"},
		{"customer with half a surrogate", "POST", "/orders", edit("ann", `\ud800`), "customer_id"},
		{"long article", "POST", "/orders", edit("mug", strings.Repeat("m", 129)), "sku"},
		{"no pieces", "POST", "/orders", edit(":2,", ":0,"), "quantity"},
		{"too many pieces", "POST", "/orders", edit(":2,", ":4294967297,"), "quantity"},
		{"free", "POST", "/orders", edit("10050", "0"), "total_cents"},
		{"part of a cent", "POST", "/orders", edit("10050", "100.5"), "total_cents"},
		{"amount as text", "POST", "/orders", edit("10050", `"10050"`), "total_cents"},
		{"beyond adding up", "POST", "/orders", edit("10050", "9223372036854775807"), "total_cents"},
		{"unknown field", "POST", "/orders", edit(`"sku"`, `"status":"PAID","sku"`), "status"},
		{"two values", "POST", "/orders", createBody(orderB) + "{}", "body"},
		{"an array", "POST", "/orders", "[]", "body"},
		{"empty", "POST", "/orders", "", "body"},
		{"not UTF-8", "POST", "/orders", edit("ann", "\xff"), "body"},
		{"uuid in the path", "POST", "/orders/17/pay", `{"payment_no":"p-1"}`, "order_id"},
		{"no number", "POST", pay, `{}`, "payment_no"},
		{"number with a space", "POST", pay, `{"payment_no":"p 1"}`, "payment_no"},
		{"number beyond ASCII", "POST", pay, `{"payment_no":"p‐1"}`, "payment_no"},
		{"article with a NUL", "POST", "/articles", articleBody("t", `a\u0000b`), "body"},
		{"article with an escape", "POST", "/articles", articleBody("t", `\u001b[31m`), "body"},
		{"article with half a surrogate", "POST", "/articles", articleBody("t", `\ud800`), "body"},
		{"title of two lines", "POST", "/articles", articleBody(`a\u2028b`, "b"), "title"},
		{"number with a NUL", "POST", pay, `{"payment_no":"p\u0000"}`, "payment_no"},
		{"purchase with a NUL", "POST", "/stock/mug/takings", `{"purchase_id":"\u0000","quantity":1}`, "purchase_id"},
		{"stock of a NUL", "PUT", "/stock/%00", `{"quantity":1}`, "sku"},
		{"stock of two lines", "GET", "/stock/a%0ab", "", "sku"},
		{"stock that is not UTF-8", "GET", "/stock/%ff", "", "sku"},
		{"customer's path with a NUL", "GET", "/customers/%00/balance", "", "customer_id"},
		{"booking with a NUL", "POST", "/customers/ann/bookings", `{"booking_no":"\u0000","cents":1}`, "booking_no"},
		{"no refund number", "POST", refunds, `{"amount_cents":1}`, "refund_no"},
		{"refund of nothing", "POST", refunds, `{"refund_no":"r-1","amount_cents":0}`, "amount_cents"},
		{"refund beyond adding up", "POST", refunds, `{"refund_no":"r-1","amount_cents":9223372036854775807}`, "amount_cents"},
	} {
		r := b.is(http.StatusBadRequest, b.do(c.method, c.path, c.body))
		require.Equal(t, c.field, r.body["field"], "%s: %v", c.name, r.body)
	}
	require.Equal(t, before, b.contents())
}

func articleBody(title, body string) string {
	return `{"article_id":"` + orderB + `","title":"` + title + `","body":"` + body + `"}`
}

// A provider's event may hold whole objects: it is taken up to 256 KiB, by an inbox
// as without one, and what is larger is refused with that limit.
func TestCallbackBodyLimit(t *testing.T) {
	t.Parallel()
	for name, newBench := range map[string]func(*testing.T, ...func(*shop.Config)) *bench{"at once": newBench, "kept": newKept} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.stock(10)
			b.order(orderA)
			b.pay(orderA, "p-1")
			event := func(size int) (int, string) {
				body := paymentOf(orderA, "p-1", 10050)
				body += strings.Repeat(" ", size-len(body))
				header, err := b.stripe.Sign(b.clock.Now(), []byte(body))
				require.NoError(t, err)
				return b.post("stripe", "application/json", []byte(body), header)
			}
			status, text := event(256<<10 + 1)
			require.Equal(t, http.StatusRequestEntityTooLarge, status)
			require.Contains(t, text, "262144 bytes")
			require.Equal(t, "PAYING", b.state(orderA))
			status, text = event(256 << 10)
			require.Equal(t, http.StatusOK, status, text)
			require.Equal(t, "PAID", b.state(orderA))
		})
	}
}

// A body has lines, and may be empty.
func TestArticleHasLines(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.is(http.StatusCreated, b.do("POST", "/articles", articleBody("t", `a\r\n\tb\u202e`)))
	require.Equal(t, "a\r\n\tb\u202e", r.body["body"])
}

// What is impossible in paths, keys and headers is the caller's fault, too.
func TestNothingThatIsAskedIsAMistakeOfOurs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.order(orderA)
	odd := []string{"\x00", "\xff", "\n", "\u202e", " ", "*", `"`, `W/"1"`, "99999999999999999999", strings.Repeat("z", 10000)}
	for _, v := range odd {
		for _, path := range []string{
			"/stock/", "/orders/", "/articles/", "/commands/order.create/", "/commands/", "/orders/" + orderA + "?version=", "/orders/" + orderA + "/history?after=",
		} {
			r := b.do("GET", path+url.QueryEscape(v), "", "X-Actor", "ann")
			require.Less(t, r.status, 500, "%s%.20q %v", path, v, r.body)
		}
		for _, name := range []string{"X-Actor", "X-Request-Id", "If-Match", "Idempotency-Key"} {
			header := []string{"X-Actor", "ann", "Idempotency-Key", "k", name, v}
			r := b.do("POST", "/orders/"+orderA+"/refunds", refundBody("r-1", 1), header...)
			require.Less(t, r.status, 500, "%s %.20q %v", name, v, r.body)
		}
	}
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	padded := func(size int) string {
		body := createBody(orderA)
		return body + strings.Repeat(" ", size-len(body))
	}
	b.is(http.StatusRequestEntityTooLarge, b.do("POST", "/orders", padded(64<<10+1)))
	b.is(http.StatusRequestEntityTooLarge, b.deliver(padded(256<<10+1)))
	b.is(http.StatusCreated, b.do("POST", "/orders", padded(64<<10)))
}

func TestUnknownPathAndMethodAreProblems(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.is(http.StatusNotFound, b.do("GET", "/nowhere", ""))
	r := b.is(http.StatusMethodNotAllowed, b.do("PATCH", "/orders/"+orderA, ""))
	require.Equal(t, "DELETE, GET, HEAD", r.header.Get("Allow"))
}

func TestHealthAndReadiness(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.is(http.StatusOK, b.do("GET", "/healthz", ""))
	b.is(http.StatusOK, b.do("GET", "/readyz", ""))
	b.order(orderA)
	b.pool.Close() // as good as a database that went away
	b.clock.advance(time.Second)
	b.is(http.StatusOK, b.do("GET", "/healthz", ""))
	b.is(http.StatusServiceUnavailable, b.do("GET", "/readyz", ""))
	r := b.is(http.StatusServiceUnavailable, b.do("POST", "/orders/"+orderA+"/ship", ""))
	require.NotEmpty(t, r.header.Get("Retry-After"))
	r = b.is(http.StatusServiceUnavailable, b.deliver(paymentOf(orderA, "p-1", 10050)))
	require.NotEmpty(t, r.header.Get("Retry-After"))
}

func TestUnknownStateIsNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.order(orderA)
	_, err := b.pool.Exec(t.Context(), `ALTER TABLE orders DROP CONSTRAINT orders_status_check, DISABLE TRIGGER ALL`)
	require.NoError(t, err)
	_, err = b.pool.Exec(t.Context(), `UPDATE orders SET status = 'LOST'`)
	require.NoError(t, err)
	for _, r := range []reply{
		b.do("GET", "/orders/"+orderA, ""),
		b.do("POST", "/orders/"+orderA+"/ship", ""),
		b.do("POST", "/orders/"+orderA+"/pay", `{"payment_no":"p-1"}`),
	} {
		require.Equal(t, "LOST", b.is(http.StatusInternalServerError, r).body["state"])
	}
	b.is(http.StatusServiceUnavailable, b.deliver(paymentOf(orderA, "p-1", 10050)))
	require.Contains(t, b.log.String(), `has no state \"LOST\"`)
}
