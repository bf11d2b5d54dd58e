// Package audit reads a database and says where it contradicts the definitions
// of its machines: rows, history, facts and outbox rows that no call of a
// generated machine can have left, and what of the migrations is missing or
// switched off. It changes nothing, and could not: its session is read-only.
//
// Rows, history and facts of a machine come as one stream in key order, merged
// by PostgreSQL, and are judged here, one record after another: memory grows
// neither with the rows nor with the history of one. What needs another table
// (the audit of corrections, the outbox) is asked in SQL that returns findings
// alone.
//
// Reading definitions is internal/pipeline's business, flags and exit codes are
// internal/cli's.
package audit
