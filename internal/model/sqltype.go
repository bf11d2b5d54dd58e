package model

import (
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// Type is a PostgreSQL type that columns and parameters may have, with what
// the renderers must know of it.
type Type struct {
	// SQL is the type as written in SQL, in PostgreSQL's own spelling: "bigint",
	// "character varying(20)", "timestamptz", "numeric(12,2)".
	SQL string
	// Base is SQL without a length or precision, for look-ups.
	Base string
	// Kind groups types by what their values are to Go.
	Kind Kind
	// Precision and Scale are those of numeric(p,s); 0 for a numeric without.
	Precision, Scale int
	// Length is the n of varchar(n); 0 for every other type.
	Length int
}

// Kind groups PostgreSQL types by what their values are to Go.
type Kind int

const (
	// KindText is text and varchar: string.
	KindText Kind = iota
	// KindUUID is uuid: string, in any spelling PostgreSQL reads.
	KindUUID
	// KindInt16 is smallint.
	KindInt16
	// KindInt32 is integer.
	KindInt32
	// KindInt64 is bigint.
	KindInt64
	// KindBool is boolean.
	KindBool
	// KindNumeric is numeric, exact: pgtype.Numeric.
	KindNumeric
	// KindFloat64 is double precision.
	KindFloat64
	// KindTime is timestamptz: time.Time.
	KindTime
	// KindDate is date: pgtype.Date.
	KindDate
	// KindJSON is jsonb: json.RawMessage's bytes.
	KindJSON
	// KindBytes is bytea: []byte.
	KindBytes
)

// Identifying reports whether values of the type have one canonical text, so
// that they may be part of an identity or a fingerprint: text, uuid, integers
// and boolean.
func (t Type) Identifying() bool {
	switch t.Kind {
	case KindText, KindUUID, KindInt16, KindInt32, KindInt64, KindBool:
		return true
	}
	return false
}

// Keyable reports whether the type may be a column of a table's key: its values
// must have one text, whatever the session's settings, and a Go value that is
// compared with == as PostgreSQL compares. numeric has several spellings of one
// number and rounds to its column, a timestamptz in Go has a zone and more
// digits than a column keeps, bytea is a slice, and equal jsonb or double
// precision values may differ in text.
func (t Type) Keyable() bool {
	switch t.Kind {
	case KindText, KindUUID, KindInt16, KindInt32, KindInt64, KindBool, KindDate:
		return true
	}
	return false
}

// aliases has the base types by the names that a definition may use.
var aliases = map[string]Type{
	"text":                     {SQL: "text", Kind: KindText},
	"varchar":                  {SQL: "character varying", Kind: KindText},
	"character varying":        {SQL: "character varying", Kind: KindText},
	"uuid":                     {SQL: "uuid", Kind: KindUUID},
	"smallint":                 {SQL: "smallint", Kind: KindInt16},
	"int2":                     {SQL: "smallint", Kind: KindInt16},
	"integer":                  {SQL: "integer", Kind: KindInt32},
	"int":                      {SQL: "integer", Kind: KindInt32},
	"int4":                     {SQL: "integer", Kind: KindInt32},
	"bigint":                   {SQL: "bigint", Kind: KindInt64},
	"int8":                     {SQL: "bigint", Kind: KindInt64},
	"boolean":                  {SQL: "boolean", Kind: KindBool},
	"bool":                     {SQL: "boolean", Kind: KindBool},
	"numeric":                  {SQL: "numeric", Kind: KindNumeric},
	"decimal":                  {SQL: "numeric", Kind: KindNumeric},
	"double precision":         {SQL: "double precision", Kind: KindFloat64},
	"float8":                   {SQL: "double precision", Kind: KindFloat64},
	"timestamptz":              {SQL: "timestamptz", Kind: KindTime},
	"timestamp with time zone": {SQL: "timestamptz", Kind: KindTime},
	"date":                     {SQL: "date", Kind: KindDate},
	"jsonb":                    {SQL: "jsonb", Kind: KindJSON},
	"bytea":                    {SQL: "bytea", Kind: KindBytes},
}

// TypeNames returns the names that ParseType reads, sorted, without lengths
// and precisions.
func TypeNames() []string {
	names := make([]string, 0, len(aliases))
	for name := range aliases {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// typeText is a type's name with its length or precision.
var typeText = regexp.MustCompile(`^([a-z][a-z0-9 ]*?) ?(?:\( ?([0-9]{1,8}) ?(?:, ?([0-9]{1,4}) ?)?\))?$`)

// ParseType reads a type as a definition writes it, in any letter case. ok is
// false, and the Type zero, for one that is not known, and for a length or
// precision that PostgreSQL does not take.
func ParseType(text string) (t Type, ok bool) {
	m := typeText.FindStringSubmatch(strings.ToLower(strings.Join(strings.Fields(text), " ")))
	if m == nil {
		return Type{}, false
	}
	if t, ok = aliases[m[1]]; !ok {
		return Type{}, false
	}
	t.Base = t.SQL
	if m[2] == "" {
		if t.Base == "character varying" {
			return Type{}, false // without a length it is text, which says so
		}
		return t, true
	}
	// The digits fit an int, by the pattern.
	first, _ := strconv.Atoi(m[2])
	second, _ := strconv.Atoi(m[3])
	switch {
	case t.Base == "character varying" && m[3] == "" && 1 <= first && first <= maxVarchar:
		t.SQL, t.Length = fmt.Sprintf("%s(%d)", t.Base, first), first
	case t.Kind == KindNumeric && 1 <= first && first <= maxPrecision && second <= first:
		t.SQL = fmt.Sprintf("%s(%d,%d)", t.Base, first, second)
		t.Precision, t.Scale = first, second
	default:
		return Type{}, false
	}
	return t, true
}

// Limits of PostgreSQL: see "Character Types" and "Numeric Types" in its manual.
const (
	maxVarchar   = 10_485_760
	maxPrecision = 1000
)
