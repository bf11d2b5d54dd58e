// Package record writes down what callers of machines asked and were told, so that
// fsmgen check-history can say afterwards whether all of it can be true: whether there
// is an order of the calls, each somewhere between its beginning and its end, in which
// the definition gives these answers.
//
// A [Recorder] writes one JSON object a line. The line of a call is written before the
// call begins and that of its answer after it has ended, both with the time, so a
// process that dies leaves behind a call without an answer: one that may have had its
// effect or not. What the lines are is told in docs/histories.md, so that programs in
// other languages can write them.
//
// Lines hold keys, parameters, states and versions; actors, reasons, request ids, columns
// and the texts of errors are not written down. Leave out of a parameter's struct, by a
// map in its place, what may not be kept.
//
// A Recorder may be used by any number of goroutines. What checks the history is left
// to fsmgen; the package needs pgx and the standard library.
package record
