// Package fsm is the runtime of generated state machines on PostgreSQL.
//
// A call such as order.Pay is one guarded statement: the UPDATE itself judges
// state, guard and version, so two callers can never both win. Zero rows
// updated has many meanings, and a call tells them apart: it returns an
// [Outcome], the row as committed now, and the transition that made it so.
//
// Calls take a pool, a connection or the caller's own transaction (see [DB]),
// keep no state between them, and are safe for concurrent use as far as that
// DB is. Side effects belong in [Then], which shares the transition's
// transaction, or in the outbox. Who counts and traces calls gives an [Observer];
// package fsmotel is one for OpenTelemetry.
//
// The package needs pgx alone. What the statements are is left to fsmgen, and
// when a row must be swept to [Sweeper]; migrations are left to goose.
package fsm

// Version1 is named by generated code, so that code of a generator which this
// runtime does not know fails to compile instead of failing at work.
const Version1 = true
