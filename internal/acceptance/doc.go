// Package acceptance holds no code. Its tests show on a real PostgreSQL what the
// order machine of this repository promises: races staged with held locks, each
// also run against the statement that most people would write first and that
// gets it wrong; what the database refuses; what an error leaves in doubt.
//
// Generated code and the runtime are tested here together, from outside, through
// what a user calls. What one package does alone is left to its own tests.
package acceptance
