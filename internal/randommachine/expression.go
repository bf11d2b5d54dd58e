package randommachine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"pgregory.net/rapid"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// Field is a column or a parameter that an expression may use.
type Field struct {
	Name string
	Type model.Type
	// Param says that it is written @name.
	Param bool
	// Optional says that it may be NULL.
	Optional bool
	// Constants are the only SQL constants that it may be compared with; nil for any.
	Constants []string
}

// SQL is the field as an expression has it.
func (f Field) SQL() string {
	if f.Param {
		return "@" + f.Name
	}
	return sqlname.Ident(f.Name)
}

// Expressions draws expressions over some fields. Each is accepted by internal/check
// where the fields are what they say.
type Expressions struct {
	Fields []Field
	// Clock says that now() may be used.
	Clock bool
}

// one draws one of several things.
func one[T any](t *rapid.T, label string, from ...T) T {
	return rapid.SampledFrom(from).Draw(t, label)
}

// chance draws true about n times of a hundred.
func chance(t *rapid.T, label string, n int) bool {
	return rapid.IntRange(0, 99).Draw(t, label) >= 100-n // shrinks to false
}

// of lists the fields of some kinds.
func (x Expressions) of(kinds ...model.Kind) []Field {
	return slices.DeleteFunc(slices.Clone(x.Fields), func(f Field) bool { return !slices.Contains(kinds, f.Type.Kind) || f.Constants != nil })
}

var (
	wholeKinds  = []model.Kind{model.KindInt16, model.KindInt32, model.KindInt64}
	numberKinds = append(slices.Clone(wholeKinds), model.KindNumeric)
)

// Condition draws a condition of at most that many levels.
func (x Expressions) Condition(t *rapid.T, depth int) string {
	if depth > 0 {
		switch rapid.IntRange(0, 11).Draw(t, "form") {
		case 0, 1:
			return "(" + x.joined(t, depth-1, " AND ") + ")"
		case 2, 3:
			return "(" + x.joined(t, depth-1, " OR ") + ")"
		case 4:
			return "NOT (" + x.Condition(t, depth-1) + ")"
		case 5:
			return "(" + x.Condition(t, depth-1) + ") " + one(t, "test", "IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE", "IS UNKNOWN", "IS NOT UNKNOWN")
		case 6:
			return "CASE WHEN " + x.Condition(t, depth-1) + " THEN " + x.Condition(t, depth-1) + " ELSE " + x.Condition(t, depth-1) + " END"
		}
	}
	for range 20 {
		if atom := x.atom(t); atom != "" {
			return atom
		}
	}
	return x.null(t)
}

// joined draws two conditions, the second mostly of other fields.
func (x Expressions) joined(t *rapid.T, depth int, by string) string {
	a := x.Condition(t, depth)
	return a + by + x.mostlyWithout(t, a).Condition(t, depth)
}

// mostlyWithout leaves out the fields of a condition, as long as some are left: two
// conditions on the same are often never true together, which lint refuses.
func (x Expressions) mostlyWithout(t *rapid.T, condition string) Expressions {
	if rest := x.without(condition); len(rest.Fields) > 0 && !chance(t, "of the same", 15) {
		return rest
	}
	return x
}

// atom draws a condition without another one in it, empty where the fields have
// nothing for what was drawn.
func (x Expressions) atom(t *rapid.T) string {
	switch rapid.IntRange(0, 9).Draw(t, "atom") {
	case 0, 1, 2:
		return x.numbers(t)
	case 3, 4:
		return x.texts(t)
	case 5:
		return x.null(t)
	case 6:
		return x.times(t)
	case 7:
		if f := x.of(model.KindBool); len(f) > 0 {
			return pick(t, "boolean", f).SQL()
		}
	case 8:
		return x.uuids(t)
	case 9:
		return x.constants(t)
	}
	return ""
}

// null asks for NULL, of what may be NULL if there is anything; what never is would
// make conditions that are never true.
func (x Expressions) null(t *rapid.T) string {
	optional := slices.DeleteFunc(slices.Clone(x.Fields), func(f Field) bool { return !f.Optional })
	switch {
	case len(optional) > 0:
		return pick(t, "optional field", optional).SQL() + one(t, "null", " IS NULL", " IS NOT NULL")
	case len(x.Fields) > 0:
		return pick(t, "field", x.Fields).SQL() + " IS NOT NULL"
	}
	return "true"
}

var order = []string{"=", "<>", "<", "<=", ">", ">="}

func (x Expressions) numbers(t *rapid.T) string {
	if len(x.of(numberKinds...)) == 0 {
		return ""
	}
	a, b := x.apart(t, func(x Expressions) string { return x.Number(t, 1) })
	if !strings.ContainsFunc(a, unicode.IsLetter) {
		return "" // two constants decide for good
	}
	switch rapid.IntRange(0, 7).Draw(t, "comparison") {
	case 0:
		return a + one(t, "in", " IN (", " NOT IN (") + b + ", " + x.without(a).Number(t, 0) + ")"
	case 1, 2:
		return a + one(t, "between", " BETWEEN ", " NOT BETWEEN ", " BETWEEN SYMMETRIC ") + b + " AND " + x.without(a+b).Number(t, 0)
	case 3:
		return a + one(t, "distinct", " IS DISTINCT FROM ", " IS NOT DISTINCT FROM ") + b
	}
	return a + " " + one(t, "operator", order...) + " " + b
}

// apart draws two terms, of which the second has none of the fields of the first:
// what is compared with itself is always true, or never.
func (x Expressions) apart(t *rapid.T, draw func(Expressions) string) (a, b string) {
	a = draw(x)
	return a, draw(x.without(a))
}

// without leaves out the fields that a term has in it.
func (x Expressions) without(term string) Expressions {
	x.Fields = slices.DeleteFunc(slices.Clone(x.Fields), func(f Field) bool { return strings.Contains(term, f.SQL()) })
	return x
}

// Number draws a number. Whatever is computed has a column in it, or else PostgreSQL
// works it out before it has seen the row, and fails where the row would not have
// asked.
func (x Expressions) Number(t *rapid.T, depth int) string {
	fields := x.of(numberKinds...)
	leaf := func() string {
		if len(fields) == 0 || chance(t, "constant", 40) {
			return x.whole(t)
		}
		return pick(t, "number", fields).SQL()
	}
	columns := slices.DeleteFunc(slices.Clone(fields), func(f Field) bool { return f.Param })
	if depth == 0 || len(columns) == 0 || !chance(t, "computed", 45) {
		return leaf()
	}
	column := pick(t, "column", columns)
	fields = x.without(column.SQL()).of(numberKinds...)
	switch rapid.IntRange(0, 9).Draw(t, "computation") {
	case 0, 1, 2, 3:
		return "(" + column.SQL() + " " + one(t, "sign", "+", "-", "*") + " " + leaf() + ")"
	case 4:
		return "coalesce(" + column.SQL() + ", " + leaf() + ")"
	case 5:
		return one(t, "extreme", "greatest(", "least(") + column.SQL() + ", " + leaf() + ")"
	case 6:
		return "nullif(" + column.SQL() + ", " + leaf() + ")"
	case 7:
		return "CASE WHEN " + x.null(t) + " THEN " + leaf() + " ELSE " + column.SQL() + " END"
	case 8:
		if texts := x.of(model.KindText); len(texts) > 0 {
			return "length(" + pick(t, "text", texts).SQL() + ")"
		}
		return "abs(" + column.SQL() + ")"
	}
	if slices.Contains(wholeKinds, column.Type.Kind) {
		return "(" + column.SQL() + one(t, "division", " / ", " % ") + one(t, "divisor", "2", "3", "7") + ")"
	}
	return column.SQL() + one(t, "cast", "::bigint", "::integer", "::numeric")
}

func (x Expressions) whole(t *rapid.T) string {
	if chance(t, "bound", 4) {
		return one(t, "bound", "32767", "2147483647", "9223372036854775807", "1.5")
	}
	return strconv.Itoa(rapid.IntRange(-2, 9).Draw(t, "whole"))
}

// Texts are the texts that constants and values are drawn from: few, so that some are
// equal, and such as are easily mistaken for something else.
var Texts = []string{"a", "b", "", "it's", `back\slash`, "NULL", "100%", "支付", `"q"`, "x_y", "a b", "$1", "--", "; DROP"}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func (x Expressions) texts(t *rapid.T) string {
	fields := x.of(model.KindText)
	if len(fields) == 0 {
		return ""
	}
	a := pick(t, "text", fields).SQL()
	others := x.without(a).of(model.KindText)
	b := func() string {
		if len(others) > 0 && chance(t, "other", 40) {
			return pick(t, "other text", others).SQL()
		}
		return quoted(one(t, "constant", Texts...))
	}
	switch rapid.IntRange(0, 7).Draw(t, "comparison") {
	case 0:
		return a + one(t, "in", " IN (", " NOT IN (") + b() + ", " + b() + ")"
	case 1:
		return a + " = ANY (ARRAY[" + quoted(one(t, "constant", Texts...)) + ", " + quoted(one(t, "constant", Texts...)) + "])"
	case 2:
		return a + one(t, "like", " LIKE ", " NOT LIKE ") + one(t, "pattern", "'a%'", "'%'", "'_'", "'%_b'", "'x\\_y'", "''")
	case 3:
		return a + one(t, "distinct", " IS DISTINCT FROM ", " IS NOT DISTINCT FROM ") + b()
	case 4:
		return "coalesce(" + a + ", '') " + one(t, "equal", "=", "<>") + " " + b()
	case 5:
		return a + " || 'x' = " + b()
	}
	return a + " " + one(t, "equal", "=", "<>") + " " + b()
}

func (x Expressions) times(t *rapid.T) string {
	if days := x.of(model.KindDate); len(days) > 0 && (!x.Clock || chance(t, "day", 50)) {
		a := pick(t, "date", days).SQL()
		others := append([]string{"date '2026-01-01'", "date '2024-02-29'"}, sqlOf(x.without(a).of(model.KindDate))...)
		return a + " " + one(t, "operator", order...) + " " + one(t, "other", others...)
	}
	moments := x.of(model.KindTime)
	if len(moments) == 0 {
		return ""
	}
	a := pick(t, "time", moments).SQL()
	others := append([]string{"timestamptz '2026-01-01 00:00:00+00'"}, sqlOf(x.without(a).of(model.KindTime))...)
	if x.Clock {
		others = append(others, "now()", "now()", "now() - interval '90 minutes'", "now() + interval '1 day'")
	}
	if !strings.HasPrefix(a, "@") && chance(t, "sum", 30) {
		a = "(" + a + one(t, "sign", " + ", " - ") + "interval " + one(t, "interval", "'1 day'", "'1 month'", "'2 hours'", "'90 minutes'") + ")"
	}
	return a + " " + one(t, "operator", order...) + " " + one(t, "other", others...)
}

func (x Expressions) uuids(t *rapid.T) string {
	fields := x.of(model.KindUUID)
	if len(fields) == 0 {
		return ""
	}
	a := pick(t, "uuid", fields).SQL()
	others := append([]string{quoted(UUIDs[0]) + "::uuid"}, sqlOf(x.without(a).of(model.KindUUID))...)
	return a + " " + one(t, "equal", "=", "<>") + " " + one(t, "other", others...)
}

// constants compares a field with what alone it may be compared with.
func (x Expressions) constants(t *rapid.T) string {
	fields := slices.DeleteFunc(slices.Clone(x.Fields), func(f Field) bool { return f.Constants == nil })
	if len(fields) == 0 {
		return ""
	}
	f := pick(t, "state", fields)
	if chance(t, "several", 40) {
		return fmt.Sprintf("%s%s(%s, %s)", f.SQL(), one(t, "in", " IN ", " NOT IN "), one(t, "constant", f.Constants...), one(t, "constant", f.Constants...))
	}
	return f.SQL() + one(t, "equal", " = ", " <> ") + one(t, "constant", f.Constants...)
}

// Value draws what may be assigned to a column, or be its default where there are no
// fields.
func (x Expressions) Value(t *rapid.T, to model.Type, optional bool) string {
	same := x.of(to.Kind)
	if len(same) > 0 && chance(t, "field", 50) {
		return pick(t, "value", same).SQL()
	}
	if optional && chance(t, "nothing", 10) {
		return "NULL"
	}
	switch to.Kind {
	case model.KindInt16, model.KindInt32, model.KindInt64, model.KindNumeric:
		if len(x.Fields) == 0 {
			return strconv.Itoa(rapid.IntRange(0, 9).Draw(t, "whole"))
		}
		return x.Number(t, 1)
	case model.KindBool:
		if len(x.Fields) > 0 && chance(t, "condition", 60) {
			return x.Condition(t, 1)
		}
		return one(t, "boolean", "false", "true")
	case model.KindText:
		texts := x.of(model.KindText)
		if len(texts) > 0 && chance(t, "joined", 30) {
			return pick(t, "text", texts).SQL() + " || " + quoted(one(t, "constant", Texts...))
		}
		return quoted(one(t, "constant", Texts...))
	case model.KindTime:
		if x.Clock && chance(t, "clock", 60) {
			return one(t, "clock", "now()", "now() + interval '1 hour'")
		}
		return "timestamptz '2026-01-01 00:00:00+00'"
	case model.KindDate:
		return "date '2026-01-01'"
	case model.KindUUID:
		return quoted(UUIDs[0]) + "::uuid"
	case model.KindFloat64:
		return one(t, "float", "0.5", "-2.25", "3")
	}
	if len(same) > 0 {
		return same[0].SQL()
	}
	return "NULL"
}
