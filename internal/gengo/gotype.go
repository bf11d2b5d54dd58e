package gengo

import (
	"github.com/pawl-go/pawl/internal/genfile"
	"github.com/pawl-go/pawl/internal/model"
)

// goType is the Go type that sqlc gives a value of the type, a pointer where
// it may be NULL and the type has no NULL of its own.
func goType(f *genfile.File, t model.Type, null bool) any {
	var name any
	switch t.Kind {
	case model.KindText, model.KindUUID:
		name = "string"
	case model.KindInt16:
		name = "int16"
	case model.KindInt32:
		name = "int32"
	case model.KindInt64:
		name = "int64"
	case model.KindBool:
		name = "bool"
	case model.KindFloat64:
		name = "float64"
	case model.KindTime:
		name = f.Import("time", "Time")
	case model.KindNumeric:
		return f.Import("github.com/jackc/pgx/v5/pgtype", "Numeric")
	case model.KindDate:
		return f.Import("github.com/jackc/pgx/v5/pgtype", "Date")
	case model.KindJSON, model.KindBytes:
		return "[]byte"
	}
	if null {
		return pointer{name}
	}
	return name
}

// pointer prints as * and its type.
type pointer struct{ to any }

// printType prints a type that goType returned.
func printType(t any) []any {
	if p, ok := t.(pointer); ok {
		return []any{"*", p.to}
	}
	return []any{t}
}

// field prints a struct field.
func field(f *genfile.File, name string, t any) {
	f.P(append([]any{name, " "}, printType(t)...)...)
}
