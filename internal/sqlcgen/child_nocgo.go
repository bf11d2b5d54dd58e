//go:build !cgo || windows

package sqlcgen

// childEnv keeps the child to one processor. Its parser is WebAssembly, which
// is compiled anew for each of several parses at a time: that costs more time
// than it saves, and twice the memory.
var childEnv = []string{"GOMAXPROCS=1"}
