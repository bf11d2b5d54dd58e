package record

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/pawl-go/pawl/fsm"
)

// keyText is the text of a key: of several columns, which a generated package has as a
// struct, a JSON array.
func keyText(key any) (string, error) {
	v := reflect.ValueOf(key)
	if v.Kind() != reflect.Struct {
		part, err := keyPart(v)
		return fmt.Sprint(part), err
	}
	parts := make([]any, v.NumField())
	for i := range parts {
		var err error
		if parts[i], err = keyPart(v.Field(i)); err != nil {
			return "", err
		}
	}
	return fsm.KeyText(parts...), nil
}

func keyPart(v reflect.Value) (any, error) {
	switch v.Kind() {
	case reflect.String:
		return v.String(), nil
	case reflect.Int, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), nil
	case reflect.Bool:
		return v.Bool(), nil
	}
	if !v.IsValid() {
		return nil, errors.New("a key is missing")
	}
	return nil, fmt.Errorf("%s is no key", v.Type())
}

// paramsOf are the parameters by name: those of a struct by the names of its fields,
// which whoever reads the history knows. The key of a creation is no parameter.
func paramsOf(event string, params any) (map[string]any, error) {
	switch p := params.(type) {
	case nil:
		return nil, nil
	case map[string]any:
		return p, nil
	}
	v := reflect.Indirect(reflect.ValueOf(params))
	if v.Kind() != reflect.Struct {
		return nil, fmt.Errorf("parameters are a struct or a map[string]any, not %T", params)
	}
	all := make(map[string]any, v.NumField())
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && (f.Name != "Key" || event != eventCreate) {
			all[f.Name] = plain(v.Field(i))
		}
	}
	return all, nil
}

// plain is a value that JSON has, with PostgreSQL's words for numbers that are none.
func plain(v reflect.Value) any {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	if f := reflect.Indirect(v); f.Kind() == reflect.Float64 {
		switch n := f.Float(); {
		case math.IsNaN(n):
			return "NaN"
		case math.IsInf(n, 0):
			return map[bool]string{true: "Infinity", false: "-Infinity"}[n > 0]
		}
	}
	return v.Interface()
}
