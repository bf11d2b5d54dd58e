// Package logic analyses the guards of one cell in SQL's three-valued logic:
// which two can both be true, whether a row and parameters exist for which none
// is, and which can never be true or never be reached.
//
// It decides exactly where it can: linear arithmetic over integers (the Omega
// test) and over numeric (Fourier-Motzkin elimination), order and equality of
// dates, times, uuids and double precision numbers, equality of texts and their
// lengths, conditions, and NULL in all of them; now() is one time, the same
// wherever it stands. Everything else, such as a function, LIKE
// or a product of columns, is a value of its own that may be anything; equal
// texts are the same value. An answer that hangs on such a value is NotDecided.
// A witness is checked by evaluating the guards on it before it is given.
//
// Integers that overflow are an error in PostgreSQL, neither true nor false. A
// witness therefore never overflows, "no" holds whatever overflows, and what is
// possible only by an overflow is NotDecided. Other errors of evaluation, such
// as a division by zero inside a function, are not foreseen, and neither are
// numeric values of more than ten thousand digits.
//
// The package does no I/O and keeps no state. Whether an expression is fit to be
// a guard at all is package sqlexpr's to say, what to tell the user of an answer
// the caller's.
//
// An example for a test is found on request, Reader.Example, and for that texts
// are tried with LIKE and regular expressions too.
package logic

// Kind groups the types of variables by how their values are compared.
type Kind int

const (
	// Int is smallint, integer and bigint, as Bits says.
	Int Kind = iota
	// Decimal is numeric: any rational number, NaN and the infinities. With a
	// Precision it is the multiples of 10^-Scale below 10^(Precision-Scale), and
	// NaN.
	Decimal
	// Float is double precision. Comparisons of variables and constants are
	// decided; arithmetic, which rounds, is not.
	Float
	// Text is text and varchar. Equality is decided, the number of characters,
	// and order between variables; order against a literal depends on the
	// collation and is not.
	Text
	// Bool is boolean.
	Bool
	// Time is timestamptz, in microseconds. A literal needs its offset.
	Time
	// Date is date.
	Date
	// UUID is uuid.
	UUID
	// Other is any other type: only equality of variables, and NULL.
	Other
)

// Var is a column of the guarded row, or a parameter.
type Var struct {
	// Name is the name, of a parameter without its @.
	Name  string
	Param bool
	Kind  Kind
	// Bits is the width of an Int: 16, 32 or 64. Anything else is taken for 64.
	Bits int
	// Optional says that it may be NULL.
	Optional bool
	// Precision and Scale are those of a numeric(p,s) Decimal; a Precision of 0
	// is a numeric without any.
	Precision, Scale int
	// Finite says of a Decimal that it is neither NaN nor infinite.
	Finite bool
	// Length is the most characters that a Text has, as those of varchar(n); 0 is
	// a text without a limit.
	Length int
	// Among has all values that a Text, or in decimal digits an Int, can have when
	// not all of its kind are possible; of another kind, Other apart, it may have
	// one. They are written as in a literal without its quotes. Empty says nothing.
	Among []string
}

// Guard is a condition as the definition has it. An empty SQL is no guard: it is
// always true.
type Guard struct{ SQL string }

// Answer is what is known about a question.
type Answer int

const (
	// No is a certain no.
	No Answer = iota
	// Yes is a certain yes.
	Yes
	// NotDecided is neither; Finding.Why has the reason.
	NotDecided
)

// String returns "no", "yes" or "not decided".
func (a Answer) String() string {
	switch a {
	case No:
		return "no"
	case Yes:
		return "yes"
	}
	return "not decided"
}

// Value is a variable with its value in a witness.
type Value struct {
	// Name is the variable's, or "now()".
	Name  string
	Param bool
	// SQL is the value as a literal that PostgreSQL reads as the variable's type:
	// 5, 'x', NULL; a long text is written as repeat('a', 200).
	SQL string
}

// String returns the value as "name = 5", of a parameter as "@name = 5".
func (v Value) String() string {
	if v.Param {
		return "@" + v.Name + " = " + v.SQL
	}
	return v.Name + " = " + v.SQL
}

// Finding is the answer to one question.
type Finding struct {
	Answer Answer
	// Witness has the example of a Yes that says something exists (Overlap and
	// Gap): the variables in their order, and now() last where it is spoken of. Those that neither the guards nor any
	// assumption ties to the question, while their own assumptions could not be
	// decided, are left out.
	Witness []Value
	// Why says, of a NotDecided, what could not be decided.
	Why string
}

// Overlap says whether the guards A and B, numbered from 0, can both be true.
type Overlap struct {
	A, B int
	Finding
}

// Report is the answer to all questions about the guards of a cell.
type Report struct {
	// Overlaps has the pairs for which the answer is not No, in order. A pair
	// with an empty guard is not asked about: that one is an else.
	Overlaps []Overlap
	// Gap says whether an allowed row and parameters exist for which no guard is
	// true; one that is NULL is not.
	Gap Finding
	// Never says of each guard whether it can never be true.
	Never []Finding
	// Shadowed says of each guard whether an earlier one is true whenever it is.
	// It is No for a guard that can never be true, which Never says already.
	Shadowed []Finding
	// Null says of each guard before an empty one whether it can be NULL where no
	// guard is true, so that the empty one is taken. Of the others it is No.
	Null []Finding
}

// Analyse answers the questions about guards that are tried in their order. vars
// has every name that they use; a name that is not there may be anything.
// assume has SQL conditions that are known to be not false, such as the CHECKs
// of columns and parameters: a CHECK passes when it is NULL. That each can be
// met by some row is taken for granted where it has nothing to do with the
// guards and cannot be decided.
//
// Without guards every row is a gap. The work is bounded by the number of pairs
// of guards: when a question takes more than its share it is NotDecided. Analyse
// never panics, and may be called concurrently.
func Analyse(vars []Var, assume []string, guards []Guard) Report {
	return new(Reader).Analyse(vars, assume, guards)
}

// Reader analyses cells that have conditions in common, and reads each of them
// once. The zero value is ready; it is not for concurrent use, and keeps what it
// has read as long as it lives.
type Reader struct{ trees map[string]tree }

// Analyse is the function Analyse.
func (r *Reader) Analyse(vars []Var, assume []string, guards []Guard) Report {
	a := r.analysis(vars, assume, guards)
	a.among()
	a.settle()
	return a.report(guards)
}

// analysis reads all conditions.
func (r *Reader) analysis(vars []Var, assume []string, guards []Guard) *analysis {
	a := newAnalysis(vars)
	for _, sql := range assume {
		if sql != "" {
			a.assume = append(a.assume, a.read(r.tree(sql)))
		}
	}
	for _, g := range guards {
		if g.SQL == "" {
			a.guards = append(a.guards, always)
			continue
		}
		a.guards = append(a.guards, a.read(r.tree(g.SQL)))
	}
	return a
}
