// Package attempt makes calls to providers that must happen once: refunds,
// payouts, charges.
//
// Such a call cannot share a transaction with the database, and when it ends in
// a time-out nobody knows whether it was done. So a row is there first, the
// attempt, committed before anything is sent. Its id is the key that the
// provider knows the call by, and stays the same whatever happens: a call is
// repeated, never made anew. An outcome that is not known is a state of its own,
// [Unknown], and such an attempt is looked up at the provider before it is sent
// again. What the provider answered is recorded, and then completed together
// with the business change, a machine's event say, in one transaction.
//
// [Start] makes the attempt in the caller's transaction, once for a business key.
// [Drive] takes it one round on, under a lease with an owner and a fence, so that
// another process can take over after a crash and a late one changes nothing.
// [Completer] drives what is due; package attemptriver does so on River. [Sweeper]
// archives what is completed. PostgreSQL's clock decides all leases and due times.
//
// The package needs pgx alone. Its tables come from `fsmgen tables attempt`.
package attempt
