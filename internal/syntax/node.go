// Package syntax turns the YAML text of a definition into a tree in which
// every key and value keeps its position.
//
// It refuses whatever would make one text mean two things: repeated keys,
// aliases, anchors, tags, merge keys, further documents, invisible characters.
// It gives no meaning to keys and values; that is the checker's job.
package syntax

import (
	"math"
	"strconv"

	"github.com/pawl-go/pawl/internal/diag"
)

// Kind tells what a node is.
type Kind int

// The kinds of nodes.
const (
	KindScalar Kind = iota + 1
	KindSequence
	KindMapping
)

// String returns words for a message: "a single value", "a list", "a mapping",
// and "nothing" for the zero Kind.
func (k Kind) String() string {
	switch k {
	case KindScalar:
		return "a single value"
	case KindSequence:
		return "a list"
	case KindMapping:
		return "a mapping"
	}
	return "nothing"
}

// Node is one value. Of Scalar, Sequence and Mapping exactly the one that Kind
// names is set. A tree is safe for concurrent reading.
type Node struct {
	Kind     Kind
	Pos      diag.Position
	Scalar   *Scalar
	Sequence *Sequence
	Mapping  *Mapping
}

// AsScalar returns the scalar, or nil when the node is nil or something else.
func (n *Node) AsScalar() *Scalar {
	if n == nil {
		return nil
	}
	return n.Scalar
}

// AsSequence returns the list, or nil when the node is nil or something else.
func (n *Node) AsSequence() *Sequence {
	if n == nil {
		return nil
	}
	return n.Sequence
}

// AsMapping returns the mapping, or nil when the node is nil or something else.
func (n *Node) AsMapping() *Mapping {
	if n == nil {
		return nil
	}
	return n.Mapping
}

// IsNull reports whether the node is nil, or a value left out or written as
// null.
func (n *Node) IsNull() bool {
	return n == nil || n.Scalar != nil && n.Scalar.IsNull()
}

// Sequence is a list in the order written.
type Sequence struct {
	Pos   diag.Position
	Items []*Node
}

// Entry is one key and its value. Value is never nil.
type Entry struct {
	Key   *Scalar
	Value *Node
}

// Mapping has its entries in the order written, each key once.
type Mapping struct {
	Pos     diag.Position
	Entries []Entry
	// index is nil while the entries are few, which most mappings are: then
	// looking at each is faster, and takes no memory.
	index map[string]int
}

const manyEntries = 16

// add appends an entry whose key is not there yet.
func (m *Mapping) add(entry Entry) {
	m.Entries = append(m.Entries, entry)
	switch {
	case m.index != nil:
		m.index[entry.Key.Text] = len(m.Entries) - 1
	case len(m.Entries) > manyEntries:
		m.index = make(map[string]int)
		for i, e := range m.Entries {
			m.index[e.Key.Text] = i
		}
	}
}

// Get returns the value of a key, or nil when the mapping is nil or has no
// such key.
func (m *Mapping) Get(key string) *Node {
	entry, _ := m.Entry(key)
	return entry.Value
}

// Entry returns key and value, and whether the key is there.
func (m *Mapping) Entry(key string) (Entry, bool) {
	if m == nil {
		return Entry{}, false
	}
	if m.index != nil {
		if i, ok := m.index[key]; ok {
			return m.Entries[i], true
		}
		return Entry{}, false
	}
	for _, entry := range m.Entries {
		if entry.Key.Text == key {
			return entry, true
		}
	}
	return Entry{}, false
}

// Keys returns the texts of the keys in the order written.
func (m *Mapping) Keys() []string {
	if m == nil {
		return nil
	}
	keys := make([]string, len(m.Entries))
	for i, entry := range m.Entries {
		keys[i] = entry.Key.Text
	}
	return keys
}

// Scalar is one key or single value.
type Scalar struct {
	Pos diag.Position
	// Text is the value as text. A plain scalar keeps its spelling: 010 is
	// "010", and no is "no".
	Text string
	// Quoted is true for quoted scalars and for block scalars, which are
	// text whatever they hold.
	Quoted bool
	// Ambiguous is true for a plain scalar that some version of YAML reads as
	// something other than text: no, on, null, 1.5, 2020-01-01, or nothing.
	Ambiguous bool

	style style
	src   *source
}

// IsNull reports whether the value was left out or written as null or ~.
func (s *Scalar) IsNull() bool {
	if s == nil {
		return true
	}
	switch s.Text {
	case "", "~", "null", "Null", "NULL":
		return !s.Quoted
	}
	return false
}

// Bool returns the value of an unquoted true or false, and whether it is one.
// The older spellings yes, no, on and off are not.
func (s *Scalar) Bool() (value, ok bool) {
	if s == nil || s.Quoted {
		return false, false
	}
	switch s.Text {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// Int returns the value of an unquoted decimal whole number, and whether it is
// one that fits. A leading zero, which older YAML reads as octal, is refused.
func (s *Scalar) Int() (value int, ok bool) {
	if s == nil || s.Quoted {
		return 0, false
	}
	value, err := strconv.Atoi(s.Text)
	if err != nil || value > math.MaxInt32 || value < math.MinInt32 || strconv.Itoa(value) != s.Text {
		return 0, false
	}
	return value, true
}
