// Package randommachine draws definitions of machines, and values for them, by which
// everything from the lint to the generated SQL is tried. It writes the text of a
// definition, as a person would: what becomes of it is the business of those who read
// definitions, and its tests hold the outcome against internal/oracle.
//
// What is drawn is meant to be accepted by the lint. Some of it is not, such as two
// guards of which the second is never reached; a test counts how much.
package randommachine
