package evaluate

import (
	"math/big"
	"strings"
	"time"

	"github.com/pawl-go/pawl/internal/model"
)

// Numeric is a number of type numeric: decimal digits without a needless zero, as
// in "12.5", so that equal numbers are equal texts.
type Numeric string

// Date is a day as in "2026-01-31".
type Date string

// UUID is a uuid as PostgreSQL writes it.
type UUID string

// Shown returns the Go value by which this package, and whoever asks it, knows a
// value of a type, so that equal values are == : string for text and varchar, [UUID],
// int16, int32 and int64 for the integers, bool, float64, [Numeric], time.Time in UTC
// and whole microseconds, [Date]. Of jsonb and bytea it is the value that was given.
// A nil value is NULL. The error says that the value is none of the type's.
func Shown(t model.Type, value any) (any, error) {
	k := kindOf(t)
	v, err := load(k, value)
	if err != nil {
		return nil, err
	}
	return shown(k, v), nil
}

// kind is what PostgreSQL calls a type, as far as expressions tell types apart.
type kind int

const (
	// unknown is a quoted literal, or NULL, that what stands beside it gives a type.
	unknown kind = iota
	bools
	int2s
	int4s
	int8s
	numerics
	float8s
	texts
	uuids
	moments
	dates
	spans
	others
)

var kindNames = [...]string{
	"a quoted literal", "boolean", "smallint", "integer", "bigint", "numeric", "double precision", "text", "uuid",
	"timestamptz", "date", "interval", "another type",
}

func (k kind) String() string { return kindNames[k] }

func (k kind) integer() bool { return k >= int2s && k <= int8s }

func (k kind) number() bool { return k >= int2s && k <= float8s }

// kindOf is the kind of a declared type.
func kindOf(t model.Type) kind {
	switch t.Kind {
	case model.KindText:
		return texts
	case model.KindUUID:
		return uuids
	case model.KindInt16:
		return int2s
	case model.KindInt32:
		return int4s
	case model.KindInt64:
		return int8s
	case model.KindBool:
		return bools
	case model.KindNumeric:
		return numerics
	case model.KindFloat64:
		return float8s
	case model.KindTime:
		return moments
	case model.KindDate:
		return dates
	}
	return others
}

func statusKind(s model.Status) kind {
	if s.Storage != model.StoredCode {
		return texts
	}
	switch s.Type {
	case "smallint":
		return int2s
	case "integer":
		return int4s
	}
	return int8s
}

// Inside, a value is nil for NULL, bool, int64 for the integers, *big.Rat, float64,
// string for text and uuid, time.Time, day or span.

// day counts days from 1970-01-01.
type day int64

const dateForm = "2006-01-02"

func (d day) time() time.Time { return time.Unix(int64(d)*24*60*60, 0).UTC() }

func dayOf(t time.Time) day {
	s := t.Unix()
	d := s / (24 * 60 * 60)
	if s%(24*60*60) < 0 {
		d--
	}
	return day(d)
}

// load turns a value as others know it into one of ours.
func load(k kind, value any) (any, error) {
	switch v := value.(type) {
	case nil:
		return nil, nil
	case bool:
		if k == bools {
			return v, nil
		}
	case int:
		return loadInt(k, int64(v))
	case int16:
		return loadInt(k, int64(v))
	case int32:
		return loadInt(k, int64(v))
	case int64:
		return loadInt(k, v)
	case float64:
		if k == float8s {
			return v, nil
		}
	case string:
		switch k {
		case texts, others:
			return v, nil
		case uuids, numerics, dates:
			return parse(k, v)
		}
	case UUID:
		if k == uuids {
			return parse(k, string(v))
		}
	case Numeric:
		if k == numerics {
			return parse(k, string(v))
		}
	case Date:
		if k == dates {
			return parse(k, string(v))
		}
	case time.Time:
		if k == moments {
			return v.UTC().Round(time.Microsecond), nil
		}
	}
	if k == others {
		return value, nil
	}
	return nil, unsupported("%T as a value of type %s", value, k)
}

func loadInt(k kind, v int64) (any, error) {
	if k == numerics {
		return new(big.Rat).SetInt64(v), nil
	}
	if k.integer() {
		return bounded(k, v)
	}
	return nil, unsupported("a whole number as a value of type %s", k)
}

// shown is a value as others know it.
func shown(k kind, v any) any {
	switch v := v.(type) {
	case int64:
		switch k {
		case int2s:
			return int16(v)
		case int4s:
			return int32(v)
		}
		return v
	case *big.Rat:
		return Numeric(decimal(v))
	case day:
		return Date(v.time().Format(dateForm))
	case string:
		if k == uuids {
			return UUID(v)
		}
	}
	return v
}

// decimal writes a number that has finitely many digits.
func decimal(r *big.Rat) string {
	places, exact := r.FloatPrec()
	if !exact {
		places = 40 // of no numeric that this package makes
	}
	text := r.FloatString(places)
	if strings.ContainsRune(text, '.') {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
