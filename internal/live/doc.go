// Package live reads the rows that live by definitions in a database: how many stand in
// each state, how they move, what waits, and one row's life. It is for a page that people look
// at, so it must cost those who work there next to nothing:
//
//   - Every transaction is read-only, takes no lock but ACCESS SHARE, and waits
//     for one no longer than lockWait. Its settings are its own (SET LOCAL), so
//     that they do not stay behind on a pooler's connection.
//   - Every statement has a bound, and everything that looks for one row goes by
//     an index: a probe without one is not made.
//   - Whole tables are read by [Database.Count] and [Database.Oldest] alone, by one connection
//     without parallel workers, for a small share of the time, and a count
//     ends at once when somebody waits for the table: see giveway.go.
//
// A table that is not there is no error: its part is nil. The role may be the
// reader of gen/roles.sql; an *Error says which grant is missing.
//
// What the figures look like is left to others. All is safe for concurrent use.
package live
