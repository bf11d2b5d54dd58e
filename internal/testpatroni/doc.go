// Package testpatroni gives a test a PostgreSQL cluster of its own: nodes that Patroni
// looks after, and an etcd by which they agree on a primary. All listen on free ports
// of 127.0.0.1 and keep what they have in one folder; nothing of it outlives the test,
// however that ends. Linux alone. What a cluster does when a node fails is shown by
// internal/failover.
package testpatroni
