package mutate

import "slices"

// Operator is one way in which a renderer can be wrong.
type Operator struct {
	Name string
	// Describe says what the operator does to a text.
	Describe string
	// Migration says that the operator is for tables and triggers alone.
	Migration bool

	// sites adds the edits of each mutant that begins at the node.
	sites func(p *place, n *node, add func(...edit))
}

// Operators returns all operators, in the order in which they are tried. Where
// two make the same text, the first one keeps it.
func Operators() []Operator {
	return slices.Concat(stateOperators, conditionOperators, caseOperators, valueOperators, wordOperators,
		rowOperators, clauseOperators, orderOperators, racedOperators, schemaOperators)
}
