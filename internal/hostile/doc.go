// Package hostile holds no code. Its tests take definitions whose texts want to be
// something else: SQL, Go, markup, a formula, a command of goose or sqlc. Whatever
// the checker lets through becomes the statements, the packages and the pages that
// a harmless text in its place becomes, and nothing besides.
package hostile
