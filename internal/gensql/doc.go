// Package gensql renders a checked machine as SQL: the queries that sqlc turns
// into Go, and the goose migration that brings a database from the newest
// migrated model to this one. It is pure: it reads no file and runs nothing.
//
// The guarded statements keep to a few rules that are easy to get wrong:
//
//   - Only what will be written is locked; a duplicate takes no lock and writes
//     nothing. The lock is FOR NO KEY UPDATE, so child rows can be inserted.
//   - The cell is judged on the locked row, whose columns PostgreSQL computes
//     anew after a wait, and the previous status is read from there.
//   - A fact is inserted after the lock and before the UPDATE, and whatever
//     writes joins its RETURNING, so that the fact decides.
//   - The answer when nothing was written comes from the statement's snapshot.
//     Where that row's cell would have written, it is "raced" and not to be
//     trusted; the runtime runs the statement again.
//
// A batch is the same statement for many rows; batch.go says what is asked of it
// beside that. What both have is rendered by the same code, for which args spells
// the arguments: as parameters, or as columns.
//
// A table may keep the state as text, as an enum or as a code, under any names
// and with a key of several columns; stored.go is where statements learn how,
// storage.go where migrations do. A table that was there before its machine is
// taken in by adopt.go and the files beside it.
//
// What spreads the tables over a cluster, citus.go, stands beside the migrations.
package gensql

import (
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// Answers of a statement that are no outcomes; the runtime knows them.
const (
	answerRaced        = "raced"
	answerUnknownState = "UnknownState"
	answerBadArgument  = "BadArgument"
)

// Event names in the history that no definition can declare.
const (
	createEvent  = "create"
	correctEvent = "correct"
)

// called are the names of what belongs to the machine.
func (t stored) called() sqlname.Machine {
	return sqlname.Machine{Name: t.Name, Table: t.Table.Name, Existing: t.Table.Existing}
}

func (s Schema) called() sqlname.Machine {
	return sqlname.Machine{Name: s.Machine, Table: s.Table, Existing: s.Existing}
}

// QueryName is the name of one of the machine's queries, noun first:
// "OrderPaymentSucceeded", "OrderCreate", "OrderSweepExpire".
func QueryName(m *model.Machine, call string) string { return m.Ident + call }
