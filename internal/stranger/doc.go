// Package stranger tests what somebody gets who has an empty folder, Go and
// this module: it makes such a folder, generates, builds and runs.
package stranger
