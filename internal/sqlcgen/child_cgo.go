//go:build cgo && !windows

package sqlcgen

// childEnv is what a child's environment has beside this program's.
var childEnv []string
