package randommachine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/pawl-go/pawl/internal/model"
)

// Definition draws the text of a definition.
func Definition(t *rapid.T) string {
	d := &drawing{T: t}
	d.states()
	d.table()
	d.events()
	d.deadlines()
	return d.text()
}

// drawing is a definition as far as it is drawn.
type drawing struct {
	*rapid.T
	machine, name string
	keys, columns []column
	storage       int // of the state: text, an enum, codes
	own           ownNames
	history       string
	createEmit    []string

	all []state
	ev  []event
}

// state is one of the definition's.
type state struct {
	name           string
	code           int
	final, resting bool
	deadline       string // after, event and max, as YAML
}

// column is the key's, or a declared one.
type column struct {
	Field
	typ           string
	check, preset string
}

// event is one of the definition's, with its transitions.
type event struct {
	name                  string
	callback, expect      bool
	params                []column
	identity, fingerprint []string
	otherwise             []string
	moves                 []move
	timer                 bool
}

// move is a transition.
type move struct {
	from  []int
	to    int
	guard string
	set   [][2]string
	emit  []string
}

// ownNames are those of the machine's own columns.
type ownNames struct{ status, version, deadline, runs string }

// Names that are easily mistaken for something else, all of which the language takes.
var (
	stateNames = []string{
		"NEW", "OPEN", "PAID", "DONE", "GONE", "it's over", "待支付", "a b", `say "x"`, "select", "null", "x;--drop", "100%", `back\slash`, "Ünï", "true", "S@1", "$1 state",
	}
	eventNames = []string{
		"go_on", "pay", "close", "select", "order", "it's", "支付 now", "user", "drop table", "null_", "func", "a.b", `q"q`, "update", "stay", "expire", "Ask",
	}
	columnNames = []string{
		"amount", "order", "user", "select", "note", "limit", "group", "total_cents", "check", "type", "value", "end", "at", "m", "o", "l", "c", "f", "k", "h", "x1", "topic", "fact",
		"identity", "payload", "event", "actor", "reason", "outcome",
	}
	keyNames   = []string{"id", "shop_id", "no", "row", "at_day", "tenant", "part"}
	paramNames = []string{
		"p", "ref", "amount_given", "order", "select", "note", "user", "limit", "n", "when", "flag", "id", "status", "version", "now", "key", "deadline_at",
	}
	topicNames = []string{"moved", "refund_due", "order", "select", "t1", "paid_again"}
	keyTypes   = []string{"bigint", "integer", "smallint", "text", "varchar(12)", "uuid", "boolean", "date"}
	// types are those of columns and parameters, the frequent ones several times.
	types = []string{
		"bigint", "bigint", "integer", "smallint", "text", "text", "varchar(8)", "boolean", "numeric", "numeric(6,2)", "timestamptz", "date", "uuid", "double precision", "jsonb", "bytea",
	}
	identityTypes = []string{"text", "bigint", "uuid", "integer", "boolean", "varchar(8)", "smallint"}
)

// distinct draws so many different ones.
func distinct(t *rapid.T, label string, from []string, least, most int) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(from), least, most, rapid.ID[string]).Draw(t, label)
}

func (d *drawing) states() {
	d.storage = one(d.T, "storage", 0, 0, 1, 2)
	names := stateNames
	if d.storage == 1 { // no label of an enum
		names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return strings.ContainsAny(n, "\"\\") })
	}
	for i, name := range distinct(d.T, "states", names, 2, 6) {
		d.all = append(d.all, state{name: name, code: 10*i - 10})
	}
}

func (d *drawing) table() {
	d.machine = one(d.T, "machine", "thing", "order", "user", "machine_of_random", "selects", "group", "case_file")
	d.name = one(d.T, "table", "things", "order", "user", "select", "group", "table", "analyse", "t", "o")
	taken := map[string]bool{}
	d.own = ownNames{"status", "version", "deadline_at", "deadline_runs"}
	if chance(d.T, "own names", 30) {
		d.own = ownNames{one(d.T, "status column", "state", "case", "status", "st"), one(d.T, "version column", "lock_version", "offset", "v"), one(d.T, "deadline column", "due_at", "when"), one(d.T, "runs column", "due_runs", "window")}
	}
	for _, name := range []string{d.own.status, d.own.version, d.own.deadline, d.own.runs} {
		taken[name] = true
	}
	for _, name := range distinct(d.T, "keys", keyNames, 1, 3) {
		d.keys = append(d.keys, d.column(name, one(d.T, "key type", keyTypes...)))
		taken[name] = true
		if !chance(d.T, "another key", 30) {
			break
		}
	}
	for _, name := range append([]string{"counter"}, distinct(d.T, "columns", columnNames, 0, 6)...) {
		if taken[name] {
			continue
		}
		typ := "bigint"
		if name != "counter" {
			typ = one(d.T, "column type", types...)
		}
		c := d.column(name, typ)
		c.Optional = chance(d.T, "optional", 40)
		d.columns = append(d.columns, c)
	}
	for i := range d.columns {
		c := &d.columns[i]
		if c.Type.Kind != model.KindJSON && c.Type.Kind != model.KindBytes && !c.Optional && chance(d.T, "default", 50) {
			c.preset = Expressions{}.Value(d.T, c.Type, false)
		}
		if chance(d.T, "check", 20) {
			c.check = d.check(*c)
		}
	}
	if chance(d.T, "partitioned", 10) {
		d.history = "{partition: " + one(d.T, "partition", "day", "week", "month") + one(d.T, "keep", "", ", keep: 400d") + "}"
	}
	if chance(d.T, "emits of the creation", 20) {
		d.createEmit = distinct(d.T, "topics", topicNames, 1, 2)
	}
}

func (d *drawing) column(name, typ string) column {
	parsed, ok := model.ParseType(typ)
	if !ok {
		d.Fatalf("%s is no type", typ)
	}
	return column{Field: Field{Name: name, Type: parsed}, typ: typ}
}

// check draws a check that most values pass, so that rows can be made at all.
func (d *drawing) check(c column) string {
	name := c.SQL()
	switch c.Type.Kind {
	case model.KindInt16, model.KindInt32, model.KindInt64, model.KindNumeric:
		for _, other := range d.columns {
			if slices.Contains(numberKinds, other.Type.Kind) && other.Name != c.Name && chance(d.T, "beside", 40) {
				return name + " <= " + other.SQL() + " + 9"
			}
		}
		return name + one(d.T, "bound", " >= -2", " > -100", " <> 5", " < 1000")
	case model.KindText:
		return name + one(d.T, "bound", " <> ''", " <> 'b'", " <> 'NULL'")
	case model.KindBool:
		return name + " OR counter > 0"
	case model.KindTime:
		return name + " > timestamptz '2000-01-01 00:00:00+00'"
	}
	return name + " IS NOT NULL"
}

// fields are what guards and assignments may use in an event.
func (d *drawing) fields(e *event) Expressions {
	x := Expressions{Clock: true}
	for _, c := range slices.Concat(d.keys, d.columns) {
		x.Fields = append(x.Fields, c.Field)
	}
	for _, p := range e.params {
		x.Fields = append(x.Fields, p.Field)
	}
	if version := (Field{Name: d.own.version, Type: model.Type{SQL: "bigint", Base: "bigint", Kind: model.KindInt64}}); chance(d.T, "version seen", 20) {
		x.Fields = append(x.Fields, version)
	}
	if chance(d.T, "status seen", 20) {
		status := Field{Name: d.own.status, Type: model.Type{SQL: "text", Base: "text", Kind: model.KindText}}
		for _, s := range d.all {
			constant := quoted(s.name)
			if d.storage == 2 {
				constant = fmt.Sprint(s.code)
			}
			status.Constants = append(status.Constants, constant)
		}
		x.Fields = append(x.Fields, status)
	}
	return x
}

// word writes a text as YAML reads it back.
func word(text string) string {
	b, _ := json.Marshal(text) // a string always has a JSON form, which is YAML
	return string(b)
}

func words(list []string) string {
	all := make([]string, len(list))
	for i, w := range list {
		all[i] = word(w)
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func mapping(pairs ...string) string { return "{" + strings.Join(pairs, ", ") + "}" }
