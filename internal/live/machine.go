package live

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// lifecycle is a machine with a table, and how its SQL is spelt.
type lifecycle struct{ *model.Machine }

func (l lifecycle) called() sqlname.Machine {
	return sqlname.Machine{Name: l.Name, Table: l.Table.Name, Existing: l.Table.Existing, Partitioned: l.Table.History != nil}
}

func (l lifecycle) history() string { return l.called().History() }
func (l lifecycle) facts() string   { return l.called().Facts() }

// keys are the names of the key's columns.
func (l lifecycle) keys() []string {
	names := make([]string, len(l.Table.Keys))
	for i, k := range l.Table.Keys {
		names[i] = k.Name
	}
	return names
}

// keyTexts selects the columns of the key as an array of texts, the same whatever
// the session's settings.
func (l lifecycle) keyTexts(alias string) string {
	texts := make([]string, len(l.Table.Keys))
	for i, k := range l.Table.Keys {
		column := alias + "." + ident(k.Name)
		texts[i] = sqlname.KeyText([]string{column}, k.Type.Kind == model.KindDate)
	}
	return "ARRAY[" + strings.Join(texts, ", ") + "]"
}

// keyText selects the key as the outbox has it.
func (l lifecycle) keyText(alias string) string {
	columns := make([]string, len(l.Table.Keys))
	for i, k := range l.Table.Keys {
		columns[i] = alias + "." + ident(k.Name)
	}
	return sqlname.KeyText(columns, l.Table.Keys[0].Type.Kind == model.KindDate)
}

// keyIs compares the key with the elements of a parameter, an array of texts, so
// that the primary key finds it.
func (l lifecycle) keyIs(alias, parameter string) string {
	conditions := make([]string, len(l.Table.Keys))
	for i, k := range l.Table.Keys {
		conditions[i] = alias + "." + ident(k.Name) + " = (" + parameter + "::text[])[" + strconv.Itoa(i+1) + "]::" + plainType(k.Type)
	}
	return strings.Join(conditions, " AND ")
}

// joined compares the keys of two of the machine's tables.
func (l lifecycle) joined(a, b string) string {
	conditions := make([]string, len(l.Table.Keys))
	for i, k := range l.Table.Keys {
		conditions[i] = a + "." + ident(k.Name) + " = " + b + "." + ident(k.Name)
	}
	return strings.Join(conditions, " AND ")
}

// plainType is the type without a length, which a cast would cut to.
func plainType(t model.Type) string {
	if t.Kind == model.KindText {
		return "text"
	}
	return t.Base
}

var (
	uuids = regexp.MustCompile(`^\{?[0-9a-fA-F]{4}(-?[0-9a-fA-F]{4}){7}\}?$`)
	dates = regexp.MustCompile(`^([0-9]{4}|[1-9][0-9]{4,6})-([0-9]{2})-([0-9]{2})( BC)?$`)
)

// castable reports whether the text is a value of the type. It may be stricter than
// PostgreSQL, never laxer, since a probe must not fail for a text that is no key.
func castable(t model.Type, text string) bool {
	if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
		return false
	}
	bits := map[model.Kind]int{model.KindInt16: 16, model.KindInt32: 32, model.KindInt64: 64}
	switch t.Kind {
	case model.KindText:
		return true
	case model.KindUUID:
		return uuids.MatchString(text) && strings.HasPrefix(text, "{") == strings.HasSuffix(text, "}")
	case model.KindInt16, model.KindInt32, model.KindInt64:
		_, err := strconv.ParseInt(text, 10, bits[t.Kind])
		return err == nil
	case model.KindBool:
		return text == "true" || text == "false"
	case model.KindDate:
		return text == "infinity" || text == "-infinity" || isDate(text)
	}
	return false
}

// The years of a date: https://www.postgresql.org/docs/current/datatype-datetime.html
const lastYear, firstYearBC = 5874897, 4713

// isDate reports whether the text is a day as PostgreSQL writes one in ISO.
func isDate(text string) bool {
	parts := dates.FindStringSubmatch(text)
	if parts == nil {
		return false
	}
	year, _ := strconv.Atoi(parts[1]) // digits, and few
	month, _ := strconv.Atoi(parts[2])
	day, _ := strconv.Atoi(parts[3])
	most := lastYear
	if parts[4] != "" {
		most = firstYearBC
	}
	if year < 1 || year > most {
		return false
	}
	if parts[4] != "" {
		year = 1 - year
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return int(t.Month()) == month && t.Day() == day
}

// KeyOf reads a key from its text, as outbox and audit have it: that of one column, or
// a JSON array for several. The result is one text a column, nil for what is no key.
func KeyOf(m *model.Machine, text string) []string {
	if m.Table == nil {
		return nil
	}
	texts := []string{text}
	if len(m.Table.Keys) > 1 {
		var values []json.RawMessage
		if json.Unmarshal([]byte(text), &values) != nil {
			return nil
		}
		texts = make([]string, len(values))
		for i, v := range values {
			if json.Unmarshal(v, &texts[i]) != nil {
				texts[i] = string(v)
			}
		}
	}
	if !IsKey(m, texts) {
		return nil
	}
	return texts
}

// between is what pages write between the columns of a key.
const between = " / "

// KeyShown is a key as people read it, which Find understands.
func KeyShown(key []string) string { return strings.Join(key, between) }

// maxMeant bounds the keys that one text may mean, and maxParted how often it is parted
// to find them.
const (
	maxMeant  = 64
	maxParted = 4096
)

// keysOf are the keys that a text may mean: that of KeyOf, and for several columns
// each that is shown so, of which there are more where a column's text has the same
// between its parts.
func keysOf(m *model.Machine, text string) [][]string {
	var all [][]string
	if key := KeyOf(m, text); key != nil {
		all = append(all, key)
	}
	if m.Table == nil || len(m.Table.Keys) < 2 {
		return all
	}
	parted := 0
	var split func(key, parts []string)
	split = func(key, parts []string) {
		if parted++; parted > maxParted {
			return
		}
		left := len(m.Table.Keys) - len(key)
		if left == 1 {
			if key = append(slices.Clone(key), strings.Join(parts, between)); IsKey(m, key) && len(all) < maxMeant {
				all = append(all, key)
			}
			return
		}
		for n := 1; n <= len(parts)-left+1 && len(all) < maxMeant; n++ {
			split(append(slices.Clone(key), strings.Join(parts[:n], between)), parts[n:])
		}
	}
	if parts := strings.Split(text, between); len(parts) >= len(m.Table.Keys) {
		split(nil, parts)
	}
	return all
}

// IsKey reports whether the texts can be a key of the machine, a column each.
func IsKey(m *model.Machine, texts []string) bool {
	if m.Table == nil || len(texts) != len(m.Table.Keys) {
		return false
	}
	for i, k := range m.Table.Keys {
		if texts[i] == "" && k.Type.Kind != model.KindText || !castable(k.Type, texts[i]) {
			return false
		}
	}
	return true
}

// state is the declared state that a table's status, or a name in the history, stands
// for, nil for none.
func (l lifecycle) state(text string, stored bool) *model.State {
	for _, s := range l.States {
		if stored && l.Table.Status.Text(s.Name, s.Code) == text || !stored && s.Name == text {
			return s
		}
	}
	if stored && l.Table.Status.Storage == model.StoredCode {
		return nil
	}
	i := slices.IndexFunc(l.States, func(s *model.State) bool { return s.Was != "" && s.Was == text })
	if i < 0 {
		return nil
	}
	return l.States[i]
}

// name is the name of today of a state, or the text itself where none is known.
func (l lifecycle) name(text string, stored bool) string {
	if s := l.state(text, stored); s != nil {
		return s.Name
	}
	return cut(text, maxValue)
}

// statusText is the SQL of a row's status, of which no more is read than is shown.
func (l lifecycle) statusText(alias string) string { return begun(alias, l.Table.Status.Column) }

// begun is the SQL of a column's text, or the beginning of it that is shown.
func begun(alias, column string) string {
	return fmt.Sprintf("left(%s.%s::text, %d)", alias, ident(column), maxValue+1)
}

// arrayText spells a JSON array of texts, numbers and booleans as jsonb does.
func arrayText(text string) (string, bool) {
	var values []json.RawMessage
	if !strings.HasPrefix(text, "[") || json.Unmarshal([]byte(text), &values) != nil {
		return "", false
	}
	spelt := make([]string, len(values))
	for i, v := range values {
		spelt[i] = strings.TrimSpace(string(v))
	}
	return "[" + strings.Join(spelt, ", ") + "]", true
}

func literal(text string) string { return sqlname.Literal(text) }
