// Package relay takes the rows of the outbox, fsm_outbox, and hands them to a
// publisher: at least once, and those of one row of business in the order in
// which they were committed, with as many relays at work as one likes.
//
// A row waits until it is delivered, and is then moved to fsm_outbox_sent in one
// transaction. So nothing is remembered but the rows themselves: no position, no
// transaction id. What commits late, behind rows with greater ids, is found like
// any other row, and a dump that is restored elsewhere is delivered from there.
//
// # Order
//
// Rows of one machine and key are delivered in the order of their ids, and that
// is the order in which they were committed. Every statement that writes an
// outbox row holds the lock of the row of business while it draws the id: a
// transition, a compensated fact and a deadline's sweep emit from the row that
// they locked (FOR NO KEY UPDATE), and a creation from the row that it inserted,
// whose key makes every other creation wait, also one after a deletion. A forced
// correction emits nothing, and holds the lock as well. It lasts until the COMMIT.
// So whoever draws the next id of that key began to do so after that COMMIT:
// smaller ids are visible before greater ones, and a key's smallest visible row
// is its first. The sequence must keep its CACHE of 1, as identity columns have it.
//
// A relay delivers rows of a key only while it holds the lock of the key's first
// row, which PostgreSQL gives to one of them; the others pass over the whole key.
// The lock is taken in a snapshot in which the row was the first, and a row that
// another relay has taken or held up since is found changed when it is locked,
// and passed over. A message is sent when the one before it was accepted; when one
// is not, its key waits.
//
// # Failures
//
// A message that is not taken holds up its key and no other: the hold is a row of
// fsm_outbox_holds, with the number of tries, the error and the time of the next
// try, by the database's clock. Nothing is ever passed over by itself: after
// Relay.Tries, where that is set, the key is parked until a person decides, by
// [Retry] or [SetAside].
//
// # Locks and leases
//
// The messages are sent while the transaction that locked them is open. A relay
// that dies lets go at once, since its connection ends, and one that is stopped
// or cut off is ended by the server: idle_in_transaction_session_timeout is the
// lease, and PostgreSQL its clock. That is why a try is bounded ([Relay.Timeout]):
// a transaction that stays open keeps VACUUM from old rows.
//
// The package needs pgx alone. Package relaywatermill publishes by Watermill.
package relay
