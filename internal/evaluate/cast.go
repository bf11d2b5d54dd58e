package evaluate

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/pawl-go/pawl/internal/model"
)

// castKinds are the types that a cast may name, as the grammar calls them.
var castKinds = map[string]kind{
	"bool": bools, "int2": int2s, "int4": int4s, "int8": int8s, "numeric": numerics, "float8": float8s,
	"text": texts, "varchar": texts, "uuid": uuids, "timestamptz": moments, "date": dates, "interval": spans,
	"smallint": int2s, "integer": int4s, "bigint": int8s, "boolean": bools,
}

// cast reads x::type.
func (r *reader) cast(c *pg.TypeCast) (term, error) {
	arg, err := r.read(c.GetArg())
	if err != nil {
		return term{}, err
	}
	names, name := c.GetTypeName().GetNames(), ""
	if len(names) > 0 {
		name = names[len(names)-1].GetString_().GetSval()
	}
	k, known := castKinds[name]
	if !known || len(c.GetTypeName().GetArrayBounds()) > 0 {
		return term{}, unsupported("a cast to %s", name)
	}
	var mods []int
	for _, m := range c.GetTypeName().GetTypmods() {
		if m.GetAConst().GetIval() == nil {
			return term{}, unsupported("a cast to %s of a size", name)
		}
		mods = append(mods, int(m.GetAConst().GetIval().GetIval()))
	}
	if arg.kind == unknown {
		if arg, err = arg.as(k); err != nil {
			return term{}, err
		}
	}
	if arg, err = explicit(arg, k); err != nil {
		return term{}, err
	}
	switch {
	case len(mods) == 0:
		return arg, nil
	case k == numerics && len(mods) <= 2:
		return fitted(arg, mods[0], append(mods, 0)[1]), nil
	case name == "varchar" && len(mods) == 1:
		return strict1(texts, func(v any) (any, error) { return firstRunes(v.(string), mods[0]), nil }, arg), nil
	}
	return term{}, unsupported("a cast to %s of a size", name)
}

func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// explicit makes a term of a type that it is cast to.
func explicit(t term, k kind) (term, error) {
	if t.kind == k {
		return t, nil
	}
	if f := conversion(t.kind, k); f != nil {
		return strict1(k, f, t), nil
	}
	if t.kind == texts && k != others {
		return strict1(k, func(v any) (any, error) { return parse(k, v.(string)) }, t), nil
	}
	if c, err := implicit(t, k); err == nil {
		return c, nil
	}
	return term{}, unsupported("a cast from %s to %s", t.kind, k)
}

// conversion is a cast that does not come without being asked; nil for none.
func conversion(from, to kind) func(any) (any, error) {
	switch {
	case from.integer() && to.integer():
		return func(v any) (any, error) { return bounded(to, v.(int64)) }
	case from == numerics && to.integer():
		return func(v any) (any, error) { return boundedBig(to, rounded(v.(*big.Rat), 0).Num()) }
	case from == float8s && to.integer():
		return func(v any) (any, error) {
			f := math.RoundToEven(v.(float64))
			if math.IsNaN(f) || f < -(1<<63) || f >= 1<<63 {
				return nil, failure(outOfRange, "%s out of range", to)
			}
			return bounded(to, int64(f))
		}
	case from == bools && to == int4s:
		return func(v any) (any, error) {
			if v.(bool) {
				return int64(1), nil
			}
			return int64(0), nil
		}
	case from == int4s && to == bools:
		return func(v any) (any, error) { return v.(int64) != 0, nil }
	case from.integer() && to == texts:
		return func(v any) (any, error) { return strconv.FormatInt(v.(int64), 10), nil }
	case from == bools && to == texts:
		return func(v any) (any, error) { return strconv.FormatBool(v.(bool)), nil }
	case from == uuids && to == texts:
		return func(v any) (any, error) { return v, nil }
	case from == moments && to == dates:
		return func(v any) (any, error) { return dayOf(v.(time.Time)), nil }
	}
	return nil
}

// rounded rounds to so many decimal places, half away from zero.
func rounded(r *big.Rat, places int) *big.Rat {
	out, _ := new(big.Rat).SetString(r.FloatString(places)) // which rounds so
	return out
}

// fitted rounds to numeric(precision, scale), and refuses what has more digits.
func fitted(t term, precision, scale int) term {
	limit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision-scale)), nil))
	return strict1(numerics, func(v any) (any, error) {
		r := rounded(v.(*big.Rat), scale)
		if new(big.Rat).Abs(r).Cmp(limit) >= 0 {
			return nil, failure(outOfRange, "numeric field overflow")
		}
		return r, nil
	}, t)
}

// assigned makes a term what a column of the type holds.
func assigned(t term, to model.Type) (term, error) {
	k := kindOf(to)
	t, err := t.as(k)
	if err != nil {
		return term{}, err
	}
	if t.kind != k {
		if t.kind == texts || k == bools || t.kind == bools && k != texts {
			return term{}, failure("42804", "column of type %s but expression of type %s", k, t.kind)
		}
		if t, err = explicit(t, k); err != nil {
			return term{}, err
		}
	}
	switch {
	case to.Kind == model.KindNumeric && to.Precision > 0:
		return fitted(t, to.Precision, to.Scale), nil
	case to.Length > 0:
		return strict1(texts, func(v any) (any, error) { return short(v.(string), to.Length) }, t), nil
	}
	return t, nil
}

// short cuts spaces off that varchar(n) has no room for, and refuses anything else.
func short(text string, n int) (any, error) {
	head := firstRunes(text, n)
	if strings.Trim(text[len(head):], " ") != "" {
		return nil, failure(tooLong, "%d characters are too long for varchar(%d)", utf8.RuneCountInString(text), n)
	}
	return head, nil
}
