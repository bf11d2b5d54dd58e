// Package mutate breaks the generated SQL on purpose. It reads the statements
// and migrations that the generator wrote, finds with PostgreSQL's own parser
// every place where a renderer could have gone wrong, and makes a mutant of
// each: the same text with one small change. A test suite that is worth
// something fails for every one of them.
//
// What a later migration makes again, a function or a trigger, is broken there
// alone: of the earlier one nothing is left.
//
// Which mutants there are follows from the texts alone, in their order: the
// same texts always have the same mutants. Running tests against them is the
// business of the package run, below this one.
package mutate
