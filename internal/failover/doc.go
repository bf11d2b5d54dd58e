// Package failover holds no code. Its tests kill and freeze the primary of a Patroni
// cluster while orders are placed, paid and refunded through the generated package, and
// ask the one that takes over what it has: with synchronous replication all that was
// acknowledged, once; without it, what is gone and how it comes back.
//
// One round runs with all tests. make failover runs more, says how long each took to
// the first success, and takes ROUNDS, SEED and TTL.
package failover
