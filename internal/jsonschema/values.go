package jsonschema

import (
	"fmt"
	"slices"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/syntax"
)

// property is the schema of a key's value, with what an editor shows of it.
func (w *writer) property(k check.Key) (object, error) {
	if k.Of != "" && !w.has(k.Of) {
		return nil, fmt.Errorf("there is no block %q", k.Of)
	}
	value, err := w.value(k)
	if err != nil || k.Shape == check.ShapeBlock || k.Names == check.NamesRule {
		return value, err // what is referred to has the words: none beside a $ref is looked at
	}
	told := told(k)
	if k.Example != "" {
		example, err := parsed(k.Example)
		if err != nil {
			return nil, fmt.Errorf("its example: %w", err)
		}
		told = told.with("examples", []any{example})
	}
	return append(told, value...), nil
}

// told describes a key.
func told(k check.Key) object {
	text := k.Doc
	if k.Example != "" {
		line := k.Example
		if k.Name != "" {
			line = k.Name + ": " + line
		}
		text += "\n\n```yaml\n" + line + "\n```"
	}
	return object{{"description", k.Doc}, {"markdownDescription", text}}
}

// value is what the value of a key may look like. A value that is optional may
// be empty, but for flags, numbers, types and SQL.
func (w *writer) value(k check.Key) (object, error) {
	empty := []string{"null"}
	if k.Required {
		empty = nil
	}
	switch k.Shape {
	case check.ShapeText:
		if k.Required {
			return text(), nil
		}
		return kinds(empty, scalars...), nil
	case check.ShapeName:
		return append(kinds(empty, "string"), name(k.Names)...), nil
	case check.ShapeNames:
		return names(k, empty), nil
	case check.ShapeFlag:
		return object{{"type", "boolean"}}, nil
	case check.ShapeCount:
		return object{{"type", "integer"}}, nil
	case check.ShapeWord:
		words := []any{}
		for _, word := range k.Words {
			words = append(words, word)
		}
		if !k.Required {
			words = append(words, nil)
		}
		return object{{"enum", words}}, nil
	case check.ShapeType:
		return types(k.Words), nil
	case check.ShapeDuration:
		return append(kinds(empty, "string"), pattern(duration, "a time is written as 30m, 24h or 1d12h, and is at least 1s")...), nil
	case check.ShapeSQL:
		return text(), nil
	case check.ShapeNamed:
		return w.named(k, empty)
	case check.ShapeBlock:
		return ref(k.Of), nil
	case check.ShapeList:
		return kinds(empty, "array").with("items", ref(k.Of)), nil
	case check.ShapeNameOrBlock:
		either := []object{append(kinds(empty, "string"), name(k.Names)...), ref(k.Of)}
		return object{{"anyOf", either}}, nil
	case check.ShapeBlockOrList:
		list := object{{"type", "array"}, {"items", ref(k.Of)}, {"minItems", 1}}
		return object{{"anyOf", []object{ref(k.Of), list}}}, nil
	}
	return nil, fmt.Errorf("shape %d has no schema", k.Shape)
}

func ref(block string) object { return object{{"$ref", "#/definitions/" + block}} }

// kinds is the type of a value: one, or several.
func kinds(empty []string, kinds ...string) object {
	if kinds = slices.Concat(kinds, empty); len(kinds) == 1 {
		return object{{"type", kinds[0]}}
	}
	return object{{"type", kinds}}
}

// scalars are what the checker takes for a text: it reads 0 as it is written.
var scalars = []string{"string", "number", "boolean"}

// text is a text that says something.
func text() object { return kinds(nil, scalars...).with("minLength", 1) }

// names is one name or a list of them. What is said of texts and of lists
// stands in one schema, so that an editor names the one thing that is wrong.
func names(k check.Key, empty []string) object {
	one := name(k.Names)
	list := append(kinds(empty, "string", "array"), one...)
	list = list.with("items", append(object{{"type", "string"}}, one...)).with("uniqueItems", true)
	if k.Required {
		list = list.with("minItems", 1)
	}
	return list
}

// named is a mapping of the user's names, or of the codes of rules, which is
// the same wherever it may stand.
func (w *writer) named(k check.Key, empty []string) (object, error) {
	if k.Names == check.NamesRule {
		w.waive = append(told(k), w.waivers(kinds(empty, "object"))...)
		return ref(waiveName), nil
	}
	o := kinds(empty, "object")
	if k.Required {
		o = o.with("minProperties", 1)
	}
	o = o.with("propertyNames", name(k.Names))
	if k.Of == "" {
		return o.with("additionalProperties", text()), nil
	}
	if k.Short == "" {
		return o.with("additionalProperties", ref(k.Of)), nil
	}
	short, err := w.key(k.Of, k.Short)
	if err != nil {
		return nil, err
	}
	value, err := w.value(short)
	if err != nil {
		return nil, err
	}
	return o.with("additionalProperties", object{{"anyOf", []object{value, ref(k.Of)}}}), nil
}

// waiveName is where the schema of waivers stands.
const waiveName = "waive"

// waivers has a property for each rule that can be waived: an editor then
// offers them, and says what each is about.
func (w *writer) waivers(o object) object {
	var properties object
	for _, r := range w.rules {
		if r.Waivable {
			properties = properties.with(string(r.Code), append(waiver(r), text()...))
		}
	}
	return o.with("properties", properties).with("additionalProperties", false)
}

func waiver(r diag.Rule) object {
	return object{{"description", r.Short + ": " + r.Cause}, {"markdownDescription", "**" + r.Short + "**\n\n" + r.Cause + "\n\n" + r.Fix}}
}

// parsed is a value as YAML writes it, as JSON has it.
func parsed(yaml string) (any, error) {
	problems := &diag.List{}
	file := syntax.Parse("", []byte("value: "+yaml+"\n"), problems)
	if found := problems.Sorted(); len(found) > 0 {
		return nil, fmt.Errorf("%s", found[0].Message)
	}
	return plain(file.AsMapping().Get("value")), nil
}

func plain(n *syntax.Node) any {
	if m := n.AsMapping(); m != nil {
		o := object{}
		for _, e := range m.Entries {
			o = o.with(e.Key.Text, plain(e.Value))
		}
		return o
	}
	if list := n.AsSequence(); list != nil {
		values := []any{}
		for _, item := range list.Items {
			values = append(values, plain(item))
		}
		return values
	}
	s := n.AsScalar()
	if b, ok := s.Bool(); ok {
		return b
	}
	if i, ok := s.Int(); ok {
		return i
	}
	return s.Text
}
