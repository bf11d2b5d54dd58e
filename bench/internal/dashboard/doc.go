// Package dashboard has the tests of docs/grafana: every expression there is parsed by
// Prometheus's own parser, and asked of what the orders example exports after a short
// storm. It is here so that Prometheus stays out of the module's go.mod.
package dashboard
