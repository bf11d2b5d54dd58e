package simulate

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-go/pawl/internal/evaluate"
	"github.com/pawl-go/pawl/internal/example"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// read reads a value of a type.
func read(name string, t model.Type, text string) (any, *Problem) {
	why := ""
	switch {
	case !utf8.ValidString(text):
		why = "it is not UTF-8"
	case strings.ContainsRune(text, 0):
		why = "it has a zero byte"
	case t.Kind == model.KindJSON && !json.Valid([]byte(text)):
		why = "it is no JSON"
	case t.Kind == model.KindBytes && !hexText(text):
		why = `it is not hexadecimal, as in \x01ff`
	}
	if why == "" {
		v, err := evaluate.Read(t, text)
		if err == nil {
			return v, nil
		}
		why = reason(err)
	}
	return nil, &Problem{Code: BadValue, Name: name, Type: t.SQL, Why: why}
}

func hexText(text string) bool {
	digits, found := strings.CutPrefix(text, `\x`)
	_, err := hex.DecodeString(digits)
	return found && err == nil
}

// reason is an error of evaluate without its place.
func reason(err error) string {
	var failure *evaluate.Failure
	var unsupported *evaluate.Unsupported
	switch {
	case errors.As(err, &failure):
		return failure.Message
	case errors.As(err, &unsupported):
		return unsupported.Construct + " is not read here"
	}
	return err.Error()
}

// Shown is a value as text, in PostgreSQL's spelling. known is false for one that
// could not be worked out; null for NULL.
func Shown(v any) (text string, null, known bool) {
	switch v := v.(type) {
	case nil:
		return "", true, true
	case oracle.Untold:
		return "", false, false
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04:05.999999") + "+00", false, true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), false, true
	}
	return fmt.Sprint(v), false, true
}

// literal is a value as an example has it; one that is not known has no SQL.
func literal(name string, v any) example.Value {
	text, null, known := Shown(v)
	out := example.Value{Name: name, SQL: text, Text: text, Null: null}
	switch {
	case null:
		out.SQL = "NULL"
	case known:
		switch v.(type) {
		case bool, int16, int32, int64, float64, evaluate.Numeric:
		default:
			out.SQL = sqlname.Literal(text)
		}
	}
	return out
}

// arguments reads the parameters of a call.
func arguments(e *model.Event, args []Arg) (oracle.Values, *Problem) {
	names := make([]string, len(e.Params))
	values := oracle.Values{}
	for i, p := range e.Params {
		names[i] = p.Name
		text, given := find(args, p.Name)
		switch {
		case given:
			v, problem := read(p.Name, p.Type, text)
			if problem != nil {
				return nil, problem
			}
			values[p.Name] = v
		case !p.Optional:
			return nil, &Problem{Code: Missing, Name: p.Name, Type: p.Type.SQL}
		}
	}
	return values, strange(NoParam, args, names)
}

func find(args []Arg, name string) (string, bool) {
	s := Step{Args: args}
	return s.Arg(name)
}

// strange says which argument is none of those that can be given.
func strange(code Code, args []Arg, names []string) *Problem {
	for _, a := range args {
		if !slices.Contains(names, a.Name) {
			return unnamed(code, a.Name, names)
		}
	}
	return nil
}
