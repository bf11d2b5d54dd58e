// Package lockredis has locks in Redis, for package lock.
//
// A lock is a key with a random owner and a time to live. A watchdog renews it at
// every third of that time, up to a cap. The holder's context ends when a renewal
// is refused, when none was answered before the key can have run out by this
// process's clock, and at the cap; the release, on a context of its own, is for
// the owner alone, so a late one frees nobody else's lock. The fencing value comes
// from PostgreSQL, and after it is taken the key is renewed once more: a process
// that stood still before it took its value is refused, so values are in the order
// of holders.
//
// This is Lua on rueidis and not its package rueidislock (v1.0.79), for four
// reasons. A renewal there that gets no answer is waited for until the time that
// it asked for, so the holder's context ends up to half a TTL after the key did;
// a test here shows it. Renewal has no cap. Expiries are points in time by the
// client's clock, so that a clock that is wrong makes locks that are over at once
// or hardly ever. And the wait ends by the context that is then the holder's, so
// a bounded wait bounds the work as well.
//
// Callers in one process wait for each other in memory; the first of them asks
// Redis, at pauses that grow from 5 ms to 100 ms. There is no queue across
// processes: who asks first after a release has the lock.
//
// One Redis is meant, with or without replicas. A failover can lose the newest
// keys; what that does is what a pause does, and is kept harmless by the fencing
// value in the same way.
package lockredis
