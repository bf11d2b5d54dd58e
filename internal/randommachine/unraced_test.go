//go:build !race

package randommachine_test

// raced says that the race detector is on.
const raced = false
