package shop_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestArticleIsPublishedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	body := fmt.Sprintf(`{"article_id":%q,"title":"News","body":"All is well."}`, orderA)
	b.is(http.StatusCreated, b.do("POST", "/articles", body))
	b.is(http.StatusOK, b.do("POST", "/articles", body))
	b.is(http.StatusConflict, b.do("POST", "/articles", fmt.Sprintf(`{"article_id":%q,"title":"Other","body":""}`, orderA)))

	first := b.is(http.StatusOK, b.do("POST", "/articles/"+orderA+"/publish", ""))
	require.Equal(t, "Applied", first.body["outcome"])
	b.clock.advance(1e9)
	second := b.is(http.StatusOK, b.do("POST", "/articles/"+orderA+"/publish", ""))
	require.Equal(t, "Replayed", second.body["outcome"])
	require.Equal(t, first.body["published_at"], second.body["published_at"], "the time of the first")
	require.Equal(t, "1", b.value("SELECT count(*) FROM fsm_outbox WHERE topic = 'article_published'"))

	b.is(http.StatusOK, b.do("POST", "/articles/"+orderA+"/archive", ""))
	b.is(http.StatusConflict, b.do("POST", "/articles/"+orderA+"/publish", ""))
	b.is(http.StatusNotFound, b.do("POST", "/articles/"+orderB+"/publish", ""))
	b.is(http.StatusBadRequest, b.do("GET", "/articles/x", ""))
	got := b.is(http.StatusOK, b.do("GET", "/articles/"+orderA, ""))
	require.Equal(t, "ARCHIVED", got.body["state"])
	require.NotContains(t, got.body, "outcome")
}

// An absolute value, sent twice, is what it says; a relative one is refused where
// it would count twice.
func TestPutIsAbsolute(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range 2 {
		b.is(http.StatusOK, b.do("PUT", "/stock/mug", `{"quantity":7}`))
	}
	require.Equal(t, "7", b.value("SELECT quantity FROM shop_stock WHERE sku = 'mug'"))
	for _, relative := range []string{`{"quantity":"+5"}`, `{"add":5}`, `{"quantity":+5}`, `{"quantity":7,"add":5}`, `{"quantity":-5}`} {
		b.is(http.StatusBadRequest, b.do("PUT", "/stock/mug", relative))
	}
	refused := b.is(http.StatusMethodNotAllowed, b.do("PUT", "/customers/ann/balance", `{"add":5}`))
	require.Equal(t, "GET", refused.header.Get("Allow"))
	require.Equal(t, "7", b.value("SELECT quantity FROM shop_stock WHERE sku = 'mug'"))
	require.Equal(t, "0", b.value("SELECT count(*) FROM shop_balances"))
}

func TestBookingsCountOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	book := func(status int, no string, cents int64) reply {
		t.Helper()
		return b.is(status, b.do("POST", "/customers/ann/bookings", fmt.Sprintf(`{"booking_no":%q,"cents":%d}`, no, cents)))
	}
	first := book(http.StatusCreated, "b-1", 500)
	book(http.StatusConflict, "b-2", -501)
	require.Equal(t, "1", b.value("SELECT count(*) FROM shop_bookings"), "a refusal leaves nothing")
	book(http.StatusCreated, "b-3", 1)
	book(http.StatusCreated, "b-2", -501) // the same number, now that there is more
	again := book(http.StatusOK, "b-1", 500)
	require.Equal(t, first.body, again.body, "as it was told the first time, balance and time included")
	book(http.StatusConflict, "b-1", 501)
	require.InDelta(t, 0, b.is(http.StatusOK, b.do("GET", "/customers/ann/balance", "")).body["cents"], 0)
	require.InDelta(t, 0, b.is(http.StatusOK, b.do("GET", "/customers/bob/balance", "")).body["version"], 0)
	for _, bad := range []string{`{"booking_no":"b-9","cents":0}`, `{"booking_no":"","cents":1}`, `{"booking_no":"b 9","cents":1}`, `{"cents":1}`, `{"booking_no":"b-9","cents":1.5}`} {
		b.is(http.StatusBadRequest, b.do("POST", "/customers/ann/bookings", bad))
	}

	// 30 at once, each number twice: each counts once, whatever version it saw.
	statuses := make([]int, 60)
	var wg sync.WaitGroup
	for i := range statuses {
		wg.Go(func() {
			statuses[i] = b.do("POST", "/customers/eve/bookings", fmt.Sprintf(`{"booking_no":"e-%d","cents":10}`, i/2)).status
		})
	}
	wg.Wait()
	created := 0
	for _, s := range statuses {
		require.Contains(t, []int{http.StatusCreated, http.StatusOK}, s)
		if s == http.StatusCreated {
			created++
		}
	}
	require.Equal(t, 30, created)
	require.Equal(t, "300/31", b.value("SELECT cents || '/' || version FROM shop_balances WHERE customer_id = 'eve'"))
	require.Equal(t, "300", b.value("SELECT sum(cents) FROM shop_bookings WHERE customer_id = 'eve'"))
}

// 200 buyers want 1 to 3 of 100 pieces, each asks twice: nobody gets what is not
// there, and the ledger says what the stock says.
func TestTakingsNeverOversell(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.is(http.StatusOK, b.do("PUT", "/stock/mug", `{"quantity":100}`))
	random := rand.New(rand.NewPCG(7, 0))
	type buyer struct {
		id       string
		quantity int
		statuses [2]int
	}
	buyers := make([]*buyer, 200)
	for i := range buyers {
		buyers[i] = &buyer{id: fmt.Sprintf("0c000000-0000-4000-8000-%012d", i), quantity: 1 + random.IntN(3)}
	}
	var wg sync.WaitGroup
	gate := make(chan struct{}, 16) // as many as a pool would let through
	for _, k := range buyers {
		for n := range k.statuses {
			wg.Go(func() {
				gate <- struct{}{}
				defer func() { <-gate }()
				body := fmt.Sprintf(`{"purchase_id":%q,"quantity":%d}`, k.id, k.quantity)
				k.statuses[n] = b.do("POST", "/stock/mug/takings", body).status
			})
		}
	}
	wg.Wait()
	sold := 0
	for _, k := range buyers {
		got := map[int]int{}
		for _, s := range k.statuses {
			got[s]++
		}
		require.LessOrEqual(t, got[http.StatusCreated], 1, "one purchase, told twice, takes once")
		require.Equal(t, 2, got[http.StatusCreated]+got[http.StatusOK]+got[http.StatusConflict], "%v", k.statuses)
		if got[http.StatusCreated] == 1 {
			sold += k.quantity
		}
	}
	left, err := strconv.Atoi(b.value("SELECT quantity FROM shop_stock WHERE sku = 'mug'"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, left, 0)
	require.Less(t, left, 3, "whoever wanted one piece more was let down by two buyers at most")
	require.Equal(t, 100-left, sold)
	require.Equal(t, strconv.Itoa(-sold), b.value("SELECT sum(quantity) FROM shop_stock_moves WHERE kind = 'taken'"))

	b.is(http.StatusConflict, b.do("POST", "/stock/mug/takings", fmt.Sprintf(`{"purchase_id":%q,"quantity":4}`, buyers[0].id)))
	b.is(http.StatusNotFound, b.do("POST", "/stock/cup/takings", fmt.Sprintf(`{"purchase_id":%q,"quantity":1}`, orderB)))
}
