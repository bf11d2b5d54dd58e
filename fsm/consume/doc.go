// Package consume handles each message once, however often a broker delivers it.
//
// A message has a key: that of the business where there is one, such as
// "pay/order-17", otherwise the message's own. A delivery first claims its key,
// in a statement that is committed at once, so that every other process sees that
// the message is in progress; then the handler's work and the mark "done" commit
// in one transaction. What follows from that:
//
//   - a duplicate does nothing, and is acknowledged only when the work is done;
//     while it is in progress the duplicate goes back to the broker;
//   - a handler that fails leaves nothing behind but the count of its tries, and
//     the redelivery runs it again;
//   - a process that dies leaves its claim for the time of its lease, and then a
//     redelivery takes it over; the try counts, so that a message that kills its
//     process is given up in the end too;
//   - a message that has failed its tries is stored as a dead letter and is
//     acknowledged, so that those behind it go on.
//
// Effects outside the database are not undone and may happen again: leave them to
// an outbox that is written in the handler's transaction.
//
// The package needs pgx alone and the tables of "fsmgen tables consume". A Redis in
// front of it is in package consumeredis, a middleware for Watermill, and with it
// for RabbitMQ, NATS, Kafka and others, in package consumewatermill.
package consume
