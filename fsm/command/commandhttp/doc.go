// Package commandhttp answers HTTP requests with an Idempotency-Key header once:
// it puts package command before a net/http handler. Requests with equal keys of
// one caller get the reply of one run of the handler; the header is that of the
// IETF draft "The Idempotency-Key HTTP Header Field", with its statuses: 400
// without a proper key, 409 while an equal request is in progress, 422 when the key
// was used for another request. Refusals of its own are application/problem+json.
//
// A handler needs nothing but the transaction it works in, [Tx], or its [Lease].
// Its answer is buffered until it is certain. What a caller may do with a key at
// all, authentication and rate limits for example, belongs before the middleware:
// what the handler refuses is kept.
package commandhttp
