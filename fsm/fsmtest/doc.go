// Package fsmtest runs the generated tests of a machine against PostgreSQL:
// gen/NAME/matrix_test.go holds the machine and its cases as data, and this
// package fires them, each at a row of its own, and compares everything that a
// call may touch with what the definition says.
//
// What must be seen is not taken from the generated SQL. Decisions, targets and
// emits are data; guards and the values that a transition sets are asked of
// PostgreSQL by a plain SELECT over the row before the call. After every call the
// whole row, history, facts, outbox and audit are compared, and the answer with
// the row. A call that must change nothing must not even have locked the row.
//
// # The database
//
// PAWL_TEST_DATABASE_URL names a server whose user may create databases. Each
// package of tests makes a database of its own beside the one named, migrates it
// and drops it at the end. Without the variable the tests are skipped, and fail
// where the variable CI is set: what was not tested must not look green. Set
// PAWL_TEST_SKIP to skip there too, and to skip cases of which no values are known,
// which fail otherwise.
//
// Values that the tests cannot find by themselves are given in the file
// migrations/testdata/values.json: by machine, and then by column or, with @,
// parameter, a list of SQL literals.
//
// Tables that the migrations expect to be there are made by the file
// migrations/testdata/before.sql, if there is one, before the migrations run.
//
// In that database the table's rules for columns that the machine does not
// declare are taken away, as are foreign keys and unique indexes beside the key:
// they are not the machine's, and rows can be made without knowing them.
//
// # In another role
//
// PAWL_TEST_AFTER names a file of SQL that runs in the migrated database, such as
// gen/roles.sql, and PAWL_TEST_ROLE the role in which calls are then made: whether it
// may do all that the machine does, and by which ways. Rows are made and looked at as
// the user of PAWL_TEST_DATABASE_URL, who must be allowed to take on that role.
//
// # Broken on purpose
//
// PAWL_TEST_STATEMENTS names a file of statements, each beginning with the line
// "-- name: OrderPay :one" as sqlc writes them. A statement that a call sends is
// replaced by the one of the same first line. A run with a broken statement must
// fail: that is how the tests are tested.
//
// With PAWL_TEST_ROUNDS set, a test binary runs the tests again and again: once
// for each line that it reads, which is the name of such a file, a tab, and the
// pattern of the tests to run.
//
// The package needs pgx and the standard library.
package fsmtest
