// Package lock has locks by name: while a function runs in one process, it runs in
// no other, for the same name.
//
// A lock spares work, and makes waiting orderly. It cannot make certain that
// nobody else works: a process that stands still, for garbage collection or on a
// suspended machine, loses its lock without noticing, and works on. So each holder
// gets a fencing value, greater than those of all holders before ([Held].Fence),
// and what it writes compares it: [LockJudgeUpdate] does lock, judgement and
// guarded update as one call.
//
// [Postgres] locks by advisory locks of transactions, which no pool can leak.
// Package lockredis locks in Redis. [Fallback] takes the second while the first
// does not work. All take their fencing values from one sequence of PostgreSQL, so
// values grow over a Redis that was emptied and over the switch too.
//
// The package needs pgx alone, and the sequence of `fsmgen tables lock`.
package lock
