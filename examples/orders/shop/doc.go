// Package shop is an HTTP service on the order, payment and refund machines, to
// be copied from. It shows what is left to do around generated calls: requests
// in, effects in the transition's transaction, answers out.
//
//	POST   /orders                  {order_id, customer_id, sku, quantity, total_cents}: 201, 200 told again, 409
//	GET    /orders/{id}             ?version=N: the order, its labels and the events that it allows
//	GET    /orders/{id}/history     ?after=VERSION&limit=N
//	POST   /orders/{id}/pay         {payment_no}: 200, 409
//	DELETE /orders/{id}             cancel: 204, again 204, 409
//	POST   /orders/{id}/ship        200, 409
//	POST   /orders/{id}/receive     200, 409
//	POST   /orders/{id}/refunds     {refund_no, amount_cents}: 202, 200 told again, 409
//	PUT    /stock/{sku}             {quantity}: an absolute number
//	GET    /stock/{sku}
//	POST   /stock/{sku}/takings     {purchase_id, quantity}: 201, 200 told again, 409
//	POST   /customers/{id}/bookings {booking_no, cents}: 201, 200 told again, 409
//	GET    /customers/{id}/balance  it cannot be PUT: 405
//	POST   /articles                {article_id, title, body}: 201, 200 told again, 409
//	GET    /articles/{id}
//	POST   /articles/{id}/publish   200, again 200 (Replayed), 409
//	POST   /articles/{id}/archive   200, again 200 (Replayed)
//	GET    /commands/{command}/{key} order.create or order.refund: 200, 202 while it is worked on, 404
//	POST   /callbacks/standard      signed by Standard Webhooks
//	POST   /callbacks/stripe        signed by Stripe's scheme
//	POST   /callbacks/alipay        Alipay's notices, with an inbox
//	POST   /callbacks/wechat        WeChat Pay's notifications, with an inbox
//	GET    /healthz, /readyz
//
// The ids are the caller's own. An order_id, an article_id, {id} of either, and a
// purchase_id are UUIDs, of 36 characters. A payment_no, refund_no or booking_no is
// 1 to 128 visible ASCII characters; a customer_id, {id} of a customer, and a sku are
// texts of a line, of at most 128 bytes.
//
// Refusals are problem+json (RFC 9457). X-Request-Id and X-Actor go into the
// history, If-Match is the version that a call expects (412 when it is another).
// Bodies are at most 64 KiB, those of callbacks 256 KiB. Who asks too often for
// Config.Limit is told 429 and Retry-After, a provider too, and comes again.
//
// POST /orders and POST /orders/{id}/refunds take an Idempotency-Key, which
// belongs to the X-Actor (401 without one). The request works in one transaction
// with its key and its reply: sent again, it gets the first reply, a refusal too,
// with Idempotency-Replayed; another request under the key is 422, an equal one
// that is still at work is waited for, and is 409 with Retry-After in the end.
// Keys are kept for 72 hours.
//
// A callback tells {id, type, data: {order_id, payment_no, refund_no,
// amount_cents}}, where type is payment.succeeded, payment.failed,
// refund.succeeded or refund.failed. Other types are acknowledged as Ignored,
// counted, and not looked into. Alipay and WeChat Pay tell a status word of one of
// our numbers in their own form; the maps of payment and refund say what it means.
//
// There are two ways to take callbacks. Without Config.Inbox, as the demo has it, a
// callback is settled at once, and the provider is answered
//
//	200       Applied, Replayed, Ignored, Compensated: done
//	200       Mismatched, GuardFailed: a case for a person is in shop_cases
//	409, 404  Rejected, no such order yet: come again (Retry-After)
//	503       the outcome is unknown, or the database is away: come again
//	400, 401  a bad body; not genuine or too old: nothing is stored
//
// With Config.Inbox, as "orders serve" has it, a callback is stored before it is
// settled, and the provider told that it is ours, in its own way and time: 200, the
// word success, 204. Told again, it reaches the machine no second time; what is too
// early is parked, and Retry settles it; what a person has to decide is dead, with a
// case in shop_cases where the machine judged it. The provider comes again only where
// nothing could be stored (503), and for a bad body, which is kept (422). See package
// inbox and, for what a person can do, "orders runbook -h".
//
// Three things keep a payment that is told twice from counting twice. Callbacks of
// one order take turns by a lock (Config.Lock), which orders callers and judges
// nothing: without Redis, and while it dies, they go on without. The order's
// machine judges by its state and the numbers it has seen. The ledger's key
// stands behind both. Any one of the three may fail; the tests take each away. An
// inbox is a fourth, in front; its rows may be lost as well.
//
// Where a provider is set (Config.Refunds), a refund is SENT with the promise, and
// has its call to the provider, package attempt's, in the same commit. Serve makes
// it, looks it up where the outcome is not known, and settles the answer as a
// callback's would be. Payments that the order does not keep, the topic refund_due,
// are given back whole, under the payment's number; without a provider their refund
// waits for one, with a case. RefundAPI speaks
//
//	POST {PROVIDER_URL}/refunds        {refund_no, order_id, payment_no, amount_cents}
//	GET  {PROVIDER_URL}/refunds/{key}  what became of it
//
// with Authorization: Bearer and, to POST, Idempotency-Key, which is the same
// however often it is sent. It is answered
//
//	2xx {id}    done; the id is the provider's number
//	202         taken, and not done: asked again
//	422 {code}  refused for good: order and refund say so, nothing is booked; without a
//	            code to POST alone
//	404         to GET: not known, so that it is sent (again)
//
// Anything else, a time-out too, says nothing of the refund: it is looked up. What
// cannot be settled waits for a person, and for the runbook.
//
// A session to paste: docs/example.md, and what "go run ./examples/orders serve"
// prints, with its secrets.
//
// An order that was paid is told by the outbox; a relay in the same process hands
// that to a consumer which books a mail in shop_mails, once. A refund that the
// provider refused, or could not do, is told so too: it becomes a case in shop_cases
// and a line in the log, and a person gives it another try by the runbook. A refund
// of another amount, or payment, than was promised is a case as well, and so are one
// that was never promised at all, a payment number that two providers were paid
// under, and a payment, or an order's refund, of which no callback came, when the
// machine asks for the last time: the shop asks no provider for payments. What has
// gone back unasked is not promised again: POST refunds is 409, and says how much the
// books have left.
//
// Who may do what is left to a gateway in front of it, running PostgreSQL and
// migrations to the command.
package shop
