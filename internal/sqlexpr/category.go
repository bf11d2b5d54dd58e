package sqlexpr

import (
	"math/big"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// Category groups types whose values can be compared with each other.
type Category int

const (
	// Unknown is a type that is not certain; it fits everything.
	Unknown Category = iota
	// Number is the integers, numeric and the floating point types.
	Number
	// String is text and varchar.
	String
	// Boolean is boolean.
	Boolean
	// UUID is uuid.
	UUID
	// Time is timestamps and dates.
	Time
	// JSON is jsonb.
	JSON
	// Bytes is bytea.
	Bytes
	// value is a certain value of an uncertain type that is not boolean, such
	// as a sum of columns of unknown types.
	value
)

// casts has the types that a fragment may cast to.
var casts = map[string]Category{
	"int2": Number, "int4": Number, "int8": Number, "smallint": Number, "integer": Number, "int": Number, "bigint": Number,
	"numeric": Number, "decimal": Number, "float4": Number, "float8": Number, "real": Number,
	"text": String, "varchar": String, "bpchar": String, "char": String,
	"bool": Boolean, "boolean": Boolean, "uuid": UUID,
	"timestamptz": Time, "timestamp": Time, "date": Time,
	"time": value, "timetz": value, "interval": value,
	"jsonb": JSON, "json": JSON, "jsonpath": value, "bytea": Bytes,
}

// operand is what is known of a value, with words for it.
type operand struct {
	category Category
	words    string
	// instant says that the value is a timestamptz for certain, and no date.
	instant bool
	// quoted holds the text of a quoted literal, which takes the type of what
	// it meets.
	quoted *string
	// at is where a quoted literal stands.
	at int
}

// operand returns what is certain about the value of a node.
func (w *walker) operand(n *pg.Node) operand {
	switch {
	case n.GetColumnRef() != nil:
		if f := w.field(w.scope.Columns, w.columnName(n.GetColumnRef())); f != nil {
			return operand{category: f.Category, words: f.Type + " " + f.Name, instant: f.Type == "timestamptz"}
		}
	case n.GetParamRef() != nil:
		if f := w.field(w.scope.Params, w.params[w.offset(n.GetParamRef().GetLocation())]); f != nil {
			return operand{category: f.Category, words: f.Type + " @" + f.Name, instant: f.Type == "timestamptz"}
		}
	case n.GetAConst() != nil:
		o := w.literal(n.GetAConst())
		o.at = w.offset(n.GetAConst().GetLocation())
		return o
	case n.GetTypeCast() != nil:
		if name, ok := typeName(n.GetTypeCast().GetTypeName()); ok && len(n.GetTypeCast().GetTypeName().GetArrayBounds()) == 0 {
			return operand{category: casts[name], words: "a value cast to " + name}
		}
	case n.GetAExpr() != nil:
		return w.operatorResult(n.GetAExpr())
	case n.GetBoolExpr() != nil, n.GetNullTest() != nil, n.GetBooleanTest() != nil:
		return operand{category: Boolean, words: "a condition"}
	case n.GetFuncCall() != nil:
		name := functionName(n.GetFuncCall())
		if name == "now" {
			return operand{category: Time, words: "now()", instant: true}
		}
		return operand{category: functions[name], words: "the value of " + name}
	case n.GetCoalesceExpr() != nil:
		return w.common(n.GetCoalesceExpr().GetArgs(), "the value of coalesce")
	case n.GetMinMaxExpr() != nil:
		return w.common(n.GetMinMaxExpr().GetArgs(), "the value of greatest or least")
	case n.GetCaseExpr() != nil:
		return w.caseResult(n.GetCaseExpr())
	case n.GetAArrayExpr() != nil, n.GetRowExpr() != nil:
		return operand{category: value, words: "a list of values"}
	}
	return operand{}
}

func (w *walker) literal(c *pg.A_Const) operand {
	switch {
	case c.GetIsnull():
		return operand{}
	case c.GetSval() != nil:
		text := c.GetSval().GetSval()
		return operand{words: "the text '" + text + "'", quoted: &text}
	case c.GetBoolval() != nil:
		return operand{category: Boolean, words: "a boolean"}
	case c.GetFval() != nil:
		return operand{category: Number, words: "the number " + c.GetFval().GetFval()}
	case c.GetBsval() != nil:
		return operand{category: value, words: "a bit string"}
	}
	return operand{category: Number, words: "a number"}
}

// operatorResult tells conditions from values, and numbers from other values.
func (w *walker) operatorResult(e *pg.A_Expr) operand {
	if e.GetKind() == pg.A_Expr_Kind_AEXPR_NULLIF {
		return w.operand(e.GetLexpr())
	}
	if e.GetKind() != pg.A_Expr_Kind_AEXPR_OP {
		return operand{category: Boolean, words: "a condition"}
	}
	switch class := operators[operatorName(e)]; class {
	case comparison, condition:
		return operand{category: Boolean, words: "a condition"}
	case arithmetic:
		return w.computed(operatorName(e), e)
	case other:
		return w.computed(operatorName(e), e)
	}
	return operand{}
}

// computed is what is certain about the result of an operator that is no
// comparison.
func (w *walker) computed(name string, e *pg.A_Expr) operand {
	left, right := w.operand(e.GetLexpr()), w.operand(e.GetRexpr())
	switch {
	case operators[name] == arithmetic && right.category == Number && (e.GetLexpr() == nil || left.category == Number):
		return operand{category: Number, words: "a number"}
	case (name == "+" || name == "-") && left.instant && right.category == value:
		return operand{category: Time, words: "a time", instant: true}
	case name == "||" && (left.category == String || right.category == String):
		return operand{category: String, words: "a text"}
	case name == "||" && left.category == JSON && right.category == JSON:
		return operand{category: JSON, words: "a jsonb value"}
	}
	return operand{category: value, words: "a computed value"}
}

// cannot reports whether an operator evidently has no meaning for its sides. A
// quoted literal takes the type that it needs, so it is never evident.
func cannot(name string, a, b operand) bool {
	certain := func(o operand) bool { return o.quoted == nil && o.category != Unknown && o.category != value }
	if !certain(a) || !certain(b) {
		return false
	}
	if name == "||" {
		joins := func(c Category) bool { return c == String || c == JSON || c == Bytes }
		return !joins(a.category) && !joins(b.category)
	}
	switch {
	case a.category == Number && b.category == Number:
		return false
	case a.category == Time && b.category == Time:
		return name != "-"
	case a.category == Time && b.category == Number, a.category == Number && b.category == Time:
		return a.instant || b.instant || name != "+" && name != "-" // a date may have days added
	case a.category == JSON:
		return name != "-"
	}
	return true
}

// common returns the category that all nodes share.
func (w *walker) common(nodes []*pg.Node, words string) operand {
	found := operand{words: words}
	for _, n := range nodes {
		o := w.operand(n)
		if n.GetAConst().GetIsnull() {
			continue
		}
		if o.category == Unknown || found.category != Unknown && found.category != o.category {
			return operand{words: words}
		}
		found.category = o.category
	}
	return found
}

func (w *walker) caseResult(c *pg.CaseExpr) operand {
	var results []*pg.Node
	for _, arg := range c.GetArgs() {
		results = append(results, arg.GetCaseWhen().GetResult())
	}
	if c.GetDefresult() != nil {
		results = append(results, c.GetDefresult())
	}
	return w.common(results, "the value of case")
}

// fits reports whether two values can be compared, or one assigned to the other.
func fits(a, b operand) bool {
	if a.quoted != nil {
		return literalFits(*a.quoted, b.category)
	}
	if b.quoted != nil {
		return literalFits(*b.quoted, a.category)
	}
	switch {
	case a.category == Unknown || b.category == Unknown:
		return true
	case a.category == value || b.category == value:
		return a.category != Boolean && b.category != Boolean
	}
	return a.category == b.category
}

// literalFits reports whether a quoted literal can be read as the category. A
// word such as 'now' is refused as a time: it is the server's clock in disguise.
func literalFits(text string, category Category) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	switch category {
	case Number:
		switch text {
		case "nan", "infinity", "-infinity", "+infinity", "inf", "-inf", "+inf":
			return true
		}
		if len(text) > 64 || strings.ContainsAny(text, "/p") {
			return false
		}
		// The exponent is not worked out: 1e999999999 would take for ever.
		mantissa, exponent, _ := strings.Cut(text, "e")
		_, okMantissa := new(big.Rat).SetString(mantissa)
		_, okExponent := new(big.Int).SetString("0"+strings.TrimLeft(exponent, "+-"), 10)
		return okMantissa && okExponent || numberPrefix(text)
	case Boolean:
		switch text {
		case "t", "tr", "tru", "true", "y", "ye", "yes", "on", "1", "f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0":
			return true
		}
		return false
	}
	return true
}

// numberPrefix reports whether the text is a number in another base, as 0x1f.
func numberPrefix(text string) bool {
	if len(text) < 3 || text[0] != '0' || !strings.ContainsRune("xob", rune(text[1])) {
		return false
	}
	_, ok := new(big.Int).SetString(text, 0)
	return ok
}

// clockWord reports whether a quoted literal names a time by the server's clock.
func clockWord(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "now", "today", "tomorrow", "yesterday":
		return true
	}
	return false
}
