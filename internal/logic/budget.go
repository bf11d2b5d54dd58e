package logic

// Work is counted, not timed, so that an answer never depends on the machine.
const (
	// perQuestion is the most steps that one question may take.
	perQuestion = 30_000
	// perAnalysis is what all questions of an analysis share.
	perAnalysis = 1_500_000
	// fewest is what a question gets however many there are; it bounds the work
	// by a multiple of the number of questions.
	fewest = 100
	// maxTerms is how many parts the expressions of an analysis may have
	// together, after CASE and coalesce are taken apart.
	maxTerms = 20_000
	// maxSize is how many sums and multiples one value may have.
	maxSize = 60
)

// budget counts the steps that are left.
type budget struct{ left int }

// spend takes n steps, and reports whether there were as many.
func (b *budget) spend(n int) bool {
	b.left -= n
	return b.left >= 0
}

// share returns what each of n questions may take.
func share(n int) int {
	return max(fewest, min(perQuestion, perAnalysis/max(n, 1)))
}
