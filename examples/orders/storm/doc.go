// Package storm puts a shop under a storm of payment callbacks and counts every
// promise that was broken: a simulated provider delivers each callback up to six
// times, concurrently and out of order, while customers cancel, deadlines pass
// and others forge.
//
// What happens to each order is a story, planned from a seed before the first
// request. A model, which knows the rules of an order and nothing of the code
// under test, says from the stories alone what may come of them: the oracle.
// Afterwards the database is asked, a query for each promise. The same stories
// are told to a handler as it is often written, which checks and then acts; its
// tables have the same shape, so that the same queries judge it.
//
// [Live] tells such stories to a service that runs, at a pace that a person can follow,
// and leaves judging to those who watch.
//
// Serving is left to the shop, whose handler and sweep come in from outside;
// databases, flags and progress on a terminal are left to the command.
package storm
