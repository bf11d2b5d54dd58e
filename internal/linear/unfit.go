package linear

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pawl-go/pawl/internal/model"
)

// maxIdentity is how long an identity may be, and each part of it, in bytes.
const maxIdentity = 1024

// unfit says what is wrong with the arguments of a call, so that it certainly ended in
// an error and did nothing, whatever the row was; empty for nothing. Its parameters
// have been read.
func (op *operation) unfit(m *model.Machine) string {
	if problem := unfitKey(m.Table.Keys, op.key); problem != "" {
		return problem
	}
	for _, p := range op.takes(m) {
		switch v := op.values[p.name].(type) {
		case string:
			if p.typ.Kind == model.KindText && strings.ContainsRune(v, 0) {
				return p.name + " holds a NUL, which no text of PostgreSQL does"
			}
		case float64:
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return p.name + " is not a finite number"
			}
		}
	}
	if op.kind != fires {
		return ""
	}
	for _, p := range op.event.Params {
		if v, told := op.values[p.Name]; told && v == nil && !p.Optional {
			return p.Name + " is NULL"
		}
	}
	return op.unfitFact()
}

// unfitFact says what keeps the call from being a fact.
func (op *operation) unfitFact() string {
	size := 0
	for i, p := range slices.Concat(op.event.Identity, op.event.Fingerprint) {
		v, _ := op.values[p.Name].(string)
		switch {
		case p.Type.Kind != model.KindText:
			continue
		case v == "":
			return p.Name + " is empty"
		case len(v) > maxIdentity:
			return p.Name + " is too long"
		case strings.ContainsFunc(v, unicode.IsControl):
			return p.Name + " holds a control character"
		}
		if i < len(op.event.Identity) {
			size += len(v)
		}
	}
	if size > maxIdentity {
		return "the identity is too long"
	}
	return ""
}

// unfitKey says why no row can have the key.
func unfitKey(columns []*model.Column, key string) string {
	parts := []string{key}
	if len(columns) > 1 {
		var values []any
		if json.Unmarshal([]byte(key), &values) != nil || len(values) != len(columns) {
			return "the key is no array of " + strconv.Itoa(len(columns)) + " values"
		}
		parts = nil
		for _, v := range values {
			text, _ := v.(string) // what is none fits
			parts = append(parts, text)
		}
	}
	for i, c := range columns {
		switch {
		case strings.ContainsRune(parts[i], 0):
			return c.Name + " holds a NUL, which no text of PostgreSQL does"
		case c.Type.Kind == model.KindUUID:
			if _, err := asKey(c.Type, parts[i]); err != nil {
				return c.Name + " is no uuid"
			}
		}
	}
	return ""
}
