package sqlexpr

// Kind groups issues, so that a caller can give them codes.
type Kind int

const (
	// Empty is a fragment without an expression.
	Empty Kind = iota
	// TooLong is a fragment of more than MaxLength bytes.
	TooLong
	// Syntax is text that PostgreSQL's grammar does not accept.
	Syntax
	// Comment is a comment, which could hide the rest of the statement.
	Comment
	// LineBreak is a string constant over several lines, which would not survive
	// the layout of a generated statement.
	LineBreak
	// Several is more than one expression, or a bracket that closes what the
	// fragment did not open.
	Several
	// Subquery is a query inside the expression.
	Subquery
	// Aggregate is an aggregate or window function.
	Aggregate
	// SetReturning is a function that gives rows instead of a value.
	SetReturning
	// Volatile is a function or keyword with a value from outside the row and
	// the parameters, or with an effect.
	Volatile
	// Clock is now() where no clock may be read.
	Clock
	// UnknownFunction is a function that is not among Functions.
	UnknownFunction
	// UnknownColumn is a column that the scope does not have.
	UnknownColumn
	// Qualified is a name written with a table or schema.
	Qualified
	// UnknownParam is a parameter that the scope does not have.
	UnknownParam
	// ParamSpelling is a parameter in another spelling than @name.
	ParamSpelling
	// Unsupported is an operator, type or form that is not accepted.
	Unsupported
	// Mismatch is a comparison or assignment of types that never fit.
	Mismatch
	// NotBoolean is a value that is no condition where one is needed.
	NotBoolean
	// Unreadable is a constant that PostgreSQL cannot read as what it must be, or
	// not compute with.
	Unreadable
	// UnknownState is a constant that is compared with a state and is none.
	UnknownState
)
