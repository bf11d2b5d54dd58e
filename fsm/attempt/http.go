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
// say no more: nil for 2xx, ErrRefused with the code "http 4xx" for a 4xx that
// comes from the request's content, and "not known" for all others. 408, 409, 425
// and 429 may come while an earlier send of the same key is being done, 401 and
// 403 from a secret that is about to be changed: they are not known either. A
// Query must judge 404 itself.
func FromStatus(status int) error {
	text := fmt.Sprintf("http %d", status)
	switch {
	case status >= 200 && status < 300:
		return nil
	case status == 401, status == 403, status == 408, status == 409, status == 425, status == 429:
		return errors.New(text)
	case status >= 400 && status < 500:
		return Refuse(text)
	}
	return errors.New(text)
}
