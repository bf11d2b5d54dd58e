package linear

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-go/pawl/internal/evaluate"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// decode reads a value of a type from JSON, as the judge knows it. What Go and
// PostgreSQL have no common word for is oracle.Untold.
func decode(t model.Type, text []byte) (any, error) {
	if string(text) == "null" {
		return nil, nil
	}
	v, err := plain(t, text)
	if err != nil || v == any(oracle.Untold{}) {
		return v, err
	}
	if t.Kind == model.KindJSON || t.Kind == model.KindBytes {
		return v, nil
	}
	v, err = evaluate.Shown(t, v)
	var unsupported *evaluate.Unsupported
	if errors.As(err, &unsupported) {
		return oracle.Untold{}, nil
	}
	return v, err
}

func plain(t model.Type, text []byte) (any, error) {
	switch t.Kind {
	case model.KindBool:
		var b bool
		err := json.Unmarshal(text, &b)
		return b, err
	case model.KindJSON:
		return jsonb(text)
	}
	word := string(text)
	if text[0] == '"' {
		if err := json.Unmarshal(text, &word); err != nil {
			return nil, err
		}
	}
	switch t.Kind {
	case model.KindInt16, model.KindInt32, model.KindInt64:
		return strconv.ParseInt(word, 10, 64)
	case model.KindFloat64:
		return strconv.ParseFloat(strings.TrimSuffix(word, "inity"), 64)
	case model.KindTime:
		for _, layout := range []string{time.RFC3339Nano, meanTime} {
			if at, err := time.Parse(layout, word); err == nil {
				return at, nil
			}
		}
		return unheard(word)
	case model.KindDate:
		if _, err := time.Parse(time.DateOnly, word); err != nil {
			return unheard(word)
		}
		return word, nil
	case model.KindBytes:
		return octets(word)
	case model.KindNumeric:
		return word, nil
	}
	if text[0] != '"' {
		return nil, fmt.Errorf("%s is no %s", text, t.SQL)
	}
	return word, nil
}

// meanTime is a time in a zone whose offset has seconds, as those of local mean time.
const meanTime = "2006-01-02T15:04:05.999999999Z07:00:00"

// unheard takes the times that PostgreSQL has and Go has not for untold.
func unheard(word string) (any, error) {
	if strings.HasSuffix(word, "infinity") || strings.HasSuffix(word, " BC") || len(word) > 0 && strings.IndexByte(word, '-') > 4 {
		return oracle.Untold{}, nil
	}
	return nil, fmt.Errorf("%q is no time", word)
}

// octets are bytes, as base64 or as PostgreSQL writes them, in one spelling.
func octets(word string) (any, error) {
	if digits, ok := strings.CutPrefix(word, `\x`); ok {
		return digits, nil
	}
	b, err := base64.StdEncoding.DecodeString(word)
	return hex.EncodeToString(b), err
}

// jsonb is a document in one spelling: as it is, or the base64 of its bytes.
func jsonb(text []byte) (any, error) {
	var word string
	if json.Unmarshal(text, &word) == nil {
		if inside, err := base64.StdEncoding.DecodeString(word); err == nil && json.Valid(inside) {
			text = inside
		}
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	var v any
	if err := in.Decode(&v); err != nil {
		return nil, err
	}
	out, err := json.Marshal(v) // which sorts the keys
	return string(out), err
}

// named is what decodes a set of values: what they are called, and their types.
type named struct {
	name, ident string
	typ         model.Type
}

// valuesOf reads values by their names in the definition, or in Go. Those that are
// missing are untold, and a name that is none of them is an error.
func valuesOf(all []named, text []byte) (oracle.Values, error) {
	var given map[string]json.RawMessage
	if len(text) > 0 {
		if err := json.Unmarshal(text, &given); err != nil {
			return nil, err
		}
	}
	values := make(oracle.Values, len(all))
	read := 0
	for _, n := range all {
		values[n.name] = oracle.Untold{}
		for _, as := range []string{n.name, n.ident} {
			v, ok := given[as]
			if !ok {
				continue
			}
			value, err := decode(n.typ, v)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", n.name, err)
			}
			values[n.name] = value
			read++
			break
		}
	}
	if read < len(given) {
		return nil, fmt.Errorf("the parameters are %v, and more were given", names(all))
	}
	return values, nil
}

func names(all []named) []string {
	var words []string
	for _, n := range all {
		words = append(words, n.name)
	}
	return words
}

// takes are the parameters of an operation.
func (op *operation) takes(m *model.Machine) []named {
	var all []named
	switch op.kind {
	case fires:
		for _, p := range op.event.Params {
			all = append(all, named{p.Name, p.Ident, p.Type})
		}
	case creates:
		for _, c := range m.Created() {
			all = append(all, named{c.Name, c.Ident, c.Type})
		}
	}
	return all
}

// read reads the parameters of the operation.
func (op *operation) read(m *model.Machine) error {
	if op.values != nil || op.kind != fires && op.kind != creates {
		return nil
	}
	values, err := valuesOf(op.takes(m), op.params)
	if err != nil {
		return op.err("%w", err)
	}
	op.values = values
	return nil
}

// identity is the text that makes the call a fact, empty for an event without.
func (op *operation) identity(m *model.Machine) (string, error) {
	if op.kind != fires || len(op.event.Identity) == 0 {
		return "", nil
	}
	if err := op.read(m); err != nil {
		return "", err
	}
	for _, params := range [][]*model.Param{op.event.Identity, op.event.Fingerprint} {
		for _, p := range params {
			if v := op.values[p.Name]; v == nil || v == any(oracle.Untold{}) {
				return "", op.err("the event %s needs the parameter %s, which makes it a fact", op.event.Name, p.Name)
			}
		}
	}
	return op.event.Name + " " + oracle.Identity(op.event.Identity, op.values), nil
}

// canonicalKey is a key as PostgreSQL writes it.
func canonicalKey(columns []*model.Column, text string) string {
	if len(columns) == 1 {
		if v, err := asKey(columns[0].Type, text); err == nil {
			return v
		}
		return text
	}
	var parts []json.RawMessage
	if json.Unmarshal([]byte(text), &parts) != nil || len(parts) != len(columns) {
		return text
	}
	params, values := make([]*model.Param, len(columns)), oracle.Values{}
	for i, c := range columns {
		v, err := decode(c.Type, parts[i])
		if err != nil {
			return text
		}
		params[i], values[c.Name] = &model.Param{Name: c.Name, Type: c.Type}, v
	}
	return oracle.Identity(params, values)
}

var errNoKey = errors.New("no key")

func asKey(t model.Type, text string) (string, error) {
	if t.Kind != model.KindUUID {
		return text, nil
	}
	v, err := evaluate.Shown(t, text)
	if u, ok := v.(evaluate.UUID); ok && err == nil {
		return string(u), nil
	}
	return "", errNoKey
}
