// Package tokenredis has one-time tokens in Redis, with PostgreSQL as the judge:
// issuing one, refusing it to somebody else and waiting for a use under way cost
// the database nothing.
//
// A token that [Store.Issue] made is in Redis alone. [Store.Use] reserves it there
// for an owner and a lease, runs the business in a PostgreSQL transaction that
// makes the token's row too, and marks the token in Redis as used, pointing to the
// reply in that row. The row's key is what makes the use the only one: a lease
// that ran out, a Redis that was emptied, restored, or stopped in between can make
// two uses start, and the second waits for the first and gets its reply.
//
// When Redis fails, or does not answer within a bound, PostgreSQL does the whole
// job for a while: tokens issued meanwhile are rows from the beginning, and are
// good whatever becomes of Redis. A token that only Redis knew is answered
// [ErrUnavailable] while Redis is down, and is invalid when Redis lost it: nothing
// was done with it, and the page asks for another. Where that is not good enough,
// package token is.
//
// token.RevokeAll does not reach tokens in Redis, which are found by their hash alone:
// see docs/tokens.md for what to do after a change of password.
package tokenredis
