// Package fsmotel tells OpenTelemetry what calls, sweeps, relays, inboxes, consumers
// and locks do: metrics that are safe to keep for years, and a span a call.
//
// It needs OpenTelemetry's API alone. Which SDK, exporter and sampling there are, the
// program says by the providers; without any, nothing is recorded. Statements have
// spans of their own by a tracer of pgx's, otelpgx say; requests by otelhttp.
//
// No metric has a label of which the values grow with the business: no key, identity,
// amount, actor, token or text of an error. Labels are what definitions name
// (machines, events, topics), what the program names (providers, commands, consumers,
// pools), and words of this module (outcomes, kinds of errors). Spans have the request
// id of the history in addition; anything else is added by [Config.Spans] alone.
//
// docs/observability.md lists every metric and attribute.
package fsmotel
