package fsmtest

import "testing"

// Batches is [Matrix] with each call made by a batch of one item, which must
// answer and leave what the call does.
func Batches(t *testing.T, m *Machine) {
	t.Parallel()
	open(t, m).batched().matrix(t)
}

// BatchRaces is [Races] with each call made by a batch of one item.
func BatchRaces(t *testing.T, m *Machine) {
	t.Parallel()
	open(t, m).batched().allRaces(t)
}

// BatchAbsent is [Absent] with each call made by a batch of one item.
func BatchAbsent(t *testing.T, m *Machine) {
	t.Parallel()
	open(t, m).batched().absent(t)
}
