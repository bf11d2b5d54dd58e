package shop_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
)

func limited(c *shop.Config) {
	c.Limit, c.CallbackLimit = shop.Limit{PerSecond: 0.5, Burst: 2}, shop.Limit{PerSecond: 1, Burst: 1}
}

// from asks from an address.
func (b *bench) from(addr, path string) reply {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), "GET", path, nil)
	r.RemoteAddr = addr
	return b.send(r)
}

func TestWhoAsksTooOftenIsToldWhenToComeAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, limited)
	const path = "/stock/mug"
	for range 2 {
		b.is(http.StatusNotFound, b.from("192.0.2.7:1", path))
	}
	for range 3 { // who is refused uses nothing up
		r := b.is(http.StatusTooManyRequests, b.from("192.0.2.7:2", path))
		require.Equal(t, "2", r.header.Get("Retry-After"))
	}
	b.is(http.StatusNotFound, b.from("192.0.2.8:1", path))
	b.is(http.StatusOK, b.from("192.0.2.7:1", "/healthz"))
	b.is(http.StatusOK, b.from("192.0.2.7:1", "/readyz"))
	b.clock.advance(2 * time.Second)
	b.is(http.StatusNotFound, b.from("192.0.2.7:1", path))
	b.is(http.StatusTooManyRequests, b.from("192.0.2.7:1", path))

	for i := range 2 { // one customer has a network of these
		b.is(http.StatusNotFound, b.from(fmt.Sprintf("[2001:db8::%d]:1", i), path))
	}
	b.is(http.StatusTooManyRequests, b.from("[2001:db8::9]:1", path))
	b.is(http.StatusNotFound, b.from("[2001:db8:0:1::9]:1", path))
	b.is(http.StatusNotFound, b.from("[::ffff:192.0.2.9]:1", path))
	b.is(http.StatusNotFound, b.from("192.0.2.9:1", path))
	b.is(http.StatusTooManyRequests, b.from("192.0.2.9:1", path))
}

// The body of a request that is refused is not read.
func TestWhoAsksTooOftenIsNotReadFrom(t *testing.T) {
	t.Parallel()
	b := newBench(t, limited)
	for range 2 {
		b.is(http.StatusBadRequest, b.do("POST", "/orders", "{}"))
	}
	body := strings.NewReader(createBody(orderA))
	before := body.Len()
	b.is(http.StatusTooManyRequests, b.send(httptest.NewRequestWithContext(t.Context(), "POST", "/orders", body)))
	require.Equal(t, before, body.Len())
}

// A callback that came too often is refused before anything is kept, which is no
// success for a provider: it comes again, and counts once.
func TestCallbackThatIsRefusedComesAgain(t *testing.T) {
	t.Parallel()
	for name, newBench := range map[string]func(*testing.T, ...func(*shop.Config)) *bench{"at once": newBench, "kept": newKept} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(c *shop.Config) { c.CallbackLimit = shop.Limit{PerSecond: 1, Burst: 1} })
			b.awaited()
			tell := func(number string) (int, http.Header) {
				body := paymentOf(orderA, number, 10050)
				header, err := b.stripe.Sign(b.clock.Now(), []byte(body))
				require.NoError(t, err)
				r := httptest.NewRequestWithContext(t.Context(), "POST", "/callbacks/stripe", strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				for k := range header {
					r.Header.Set(k, header.Get(k))
				}
				w := httptest.NewRecorder()
				b.handler.ServeHTTP(w, r)
				return w.Code, w.Header()
			}
			status, _ := tell("p-2") // another order's, say: it takes the place
			require.Less(t, status, 500)
			state := b.state(orderA)
			status, header := tell("p-1")
			require.Equal(t, http.StatusTooManyRequests, status)
			require.Equal(t, "1", header.Get("Retry-After"))
			require.Equal(t, state, b.state(orderA))
			b.clock.advance(time.Second)
			status, _ = tell("p-1")
			require.Equal(t, http.StatusOK, status)
		})
	}
}
