// Package token has one-time tokens: a page is given one, and what the page asks
// for is done once, however often it is sent.
//
// [Issue] makes a token of a [Kind] for one principal and one purpose. [Use]
// consumes it and runs the business in one transaction: both take effect, or
// neither. A business that fails leaves the token as it was; a second use, in
// parallel or later, changes nothing and gets the reply of the first. Whatever
// else is wrong with a token, the caller sees one error, [ErrInvalid].
//
// A token has 256 random bits, so guessing one of a thousand million that are
// live takes 2^226 tries on average. Its text is stored nowhere: the table has
// the SHA-256 of it, which for 256 random bits needs neither salt nor stretching.
//
// The package needs pgx alone, and the table of `fsmgen tables token`. Who the
// principal is, is left to your authentication; [Sweep] removes what is old.
// Package tokenredis has the same with Redis in front.
package token
