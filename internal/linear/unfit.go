package linear

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// isUnfit reports whether a call with these arguments certainly ended in an error and
// did nothing, whatever the row was. Its parameters have been read.
func (op *operation) isUnfit(m *model.Machine) bool {
	if unfitKey(m.Table.Keys, op.key) {
		return true
	}
	for _, p := range op.takes(m) {
		switch v := op.values[p.name].(type) {
		case string:
			if p.typ.Kind == model.KindText && hasNUL(v) {
				return true
			}
		case float64:
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return true
			}
		}
	}
	if op.kind != fires {
		return false
	}
	for _, p := range op.event.Params {
		if v, told := op.values[p.Name]; told && v == nil && !p.Optional {
			return true
		}
	}
	_, fault := oracle.Unfit(op.event, op.values)
	return fault != ""
}

// unfitKey reports whether no row can have the key.
func unfitKey(columns []*model.Column, key string) bool {
	parts := []string{key}
	if len(columns) > 1 {
		var values []any
		if json.Unmarshal([]byte(key), &values) != nil || len(values) != len(columns) {
			return true
		}
		parts = nil
		for _, v := range values {
			text, _ := v.(string) // what is none fits
			parts = append(parts, text)
		}
	}
	for i, c := range columns {
		if hasNUL(parts[i]) {
			return true
		}
		if _, err := asKey(c.Type, parts[i]); err != nil { // of a uuid alone
			return true
		}
	}
	return false
}

// hasNUL reports whether a text is none of PostgreSQL's.
func hasNUL(text string) bool { return strings.ContainsRune(text, 0) }
