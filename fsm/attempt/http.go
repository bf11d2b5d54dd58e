package attempt

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

// Do makes a provider's HTTP request for Call and Query. Its error is ErrNotSent
// when the client never got a connection, so that nothing can have reached the
// provider; any other error leaves that open. The caller closes the response's
// body, as with client.Do.
//
// The kind of the error alone would not do: net/http sends a request with an
// Idempotency-Key header again when a kept connection breaks, and a refused
// connection may then be the second try of a request that was received.
func Do(client *http.Client, req *http.Request) (*http.Response, error) {
	if client == nil || req == nil {
		return nil, fmt.Errorf("%w: %w: no client or no request", ErrNotSent, ErrArgument)
	}
	var connected atomic.Bool
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	resp, err := client.Do(req.WithContext(ctx))
	if err != nil && !connected.Load() {
		return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	return resp, err
}

// FromStatus is what an HTTP status says by itself where the provider's documents
// say no more: nil for 2xx, ErrRefused with the code "http 400", "http 402" or
// "http 422" for those, and "not known" for all others. What is not known is looked
// up and sent again under the same key, and waits for a person in the end; a
// refusal is final, and invites another try under another key. So only what says
// that the call was judged, and will never be done, is one.
//
// It is for a Call. A Query must judge 404 itself, and a look-up that is refused says
// nothing of the call. Some providers say 400 or 422 of a key that they
// know with another request, Stripe's idempotency_error for one: the first request
// may well be done, so a Call whose content may change between two sends looks into
// the answer first.
func FromStatus(status int) error {
	text := fmt.Sprintf("http %d", status)
	switch {
	case status >= 200 && status < 300:
		return nil
	case refusals[status]:
		return Refuse(text)
	}
	return errors.New(text)
}

// refusals are the statuses that refuse a call. Why of the other 4xx none does:
//
//   - 401, 403: a secret that is about to be changed, a right that is about to be
//     given; WeChat Pay says 403 of a balance that is too small just now.
//   - 404, 405, 410, 421: a wrong address, or a server that does not have the
//     object yet. It will be mended, and says nothing of an earlier send.
//   - 406, 411, 413, 414, 415, 431: a proxy may say so, or a fault of the program,
//     before anybody looked at the key.
//   - 408, 425, 429, 499: somebody's time was up, or it is not the time; the call
//     may be under way.
//   - 409, 423, 424: an earlier send of the key, or what it depends on, is at work.
//   - 412, 428: how things stood just now.
//   - 426, 451 and numbers that no document lists: nothing of the call.
var refusals = map[int]bool{
	http.StatusBadRequest:          true, // the content is impossible, and will be the next time
	http.StatusPaymentRequired:     true, // Stripe and others: the content is fine, and it was declined
	http.StatusUnprocessableEntity: true, // Adyen, PayPal and others: understood, and against the rules
}
