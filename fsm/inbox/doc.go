// Package inbox takes in what payment providers tell by callbacks, and sees that
// each event takes effect exactly once, whatever is told twice, too early, too
// late or in the middle of a crash.
//
// A delivery passes three transactions, which the inbox owns, so it takes a pool
// and not a transaction of the caller's:
//
//   - receive: the raw body and the events in it are stored, and the event is
//     claimed. From here on it is ours: a crash loses nothing.
//   - process: the [Handler] calls the machine, and the event's end is written,
//     in one transaction.
//   - outcome: what came of it is recorded on the delivery, and on the event when
//     it could not be processed.
//
// Then the provider is answered in its own way, within its own time. What could
// not be processed is parked; [Retry] tries again and gives up after a bound, so
// run it beside the endpoints. A delivery with a bad signature leaves a count.
//
// Whether a callback is genuine is judged by package webhook, and what it means
// for an order by the order's machine: let the identity of its events include the
// provider ([Event.Identity]), which makes the machine's facts a second guard.
//
// The tables are written by fsmgen tables inbox; the commands also write to the
// core's fsm_audit.
package inbox
