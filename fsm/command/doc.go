// Package command runs a command once for a key that its caller chose, however
// often and however concurrently it is sent, and gives every sender the reply of
// that one run. It is what stands behind an Idempotency-Key header; package
// commandhttp puts it behind net/http.
//
// A record in PostgreSQL belongs to (scope, command, key). The scope is the
// authenticated caller, so that nobody meets another's records; the record keeps
// a fingerprint of what was asked, so that a key used for something else is
// refused ([ErrMismatch]), also while the first call is still at work.
//
// There are two policies. [Command.Do] runs the work in one transaction with the
// claim and the reply: all or nothing, and a crash leaves nothing to clean up.
// [Command.DoLeased] is for work with a call to an outside system in its middle,
// which no transaction may span: the claim is committed first, with an owner, a
// lease that is renewed, and a fence that tells a late owner from the present one.
//
// The package needs pgx and the tables that "fsmgen tables command" writes. All
// clocks that decide are the database's. [Command.Sweep] archives old records.
package command
