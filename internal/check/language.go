package check

import "slices"

// Block is one kind of mapping of the language: what may be written in it.
type Block struct {
	// Name is the kind, as Key.Shape names it: "state".
	Name string
	// What is the kind in a message: "a state".
	What string
	// Keys are what may be written. One without a name stands for any number of
	// names of the user's own.
	Keys []Key
}

// Key is one key of a block.
type Key struct {
	Name     string
	Required bool
	Shape    Shape
	// Of is the block of a mapping, of the values of named entries, or of the
	// items of a list.
	Of string
	// Words are the only values of a ShapeWord, or the only types of a ShapeType.
	Words []string
	// Names says what the names of a ShapeName or ShapeNames look like, or those
	// before the colons of a ShapeNamed.
	Names Names
	// Short is the key of the block Of that a bare value stands for, among the
	// values of a ShapeNamed.
	Short string
	// Doc says in a sentence what the key is for.
	Doc string
	// Example is a value as a definition writes it.
	Example string
}

// Shape is what a value may look like.
type Shape int

// The shapes of values. A value that is optional may be left out, or empty.
const (
	// ShapeText is any text.
	ShapeText Shape = iota
	// ShapeName is one name.
	ShapeName
	// ShapeNames is one name or a list of names.
	ShapeNames
	// ShapeFlag is true or false.
	ShapeFlag
	// ShapeCount is a whole number.
	ShapeCount
	// ShapeWord is one of a few words.
	ShapeWord
	// ShapeType is a PostgreSQL type.
	ShapeType
	// ShapeDuration is a time such as 30m or 10d.
	ShapeDuration
	// ShapeSQL is an SQL expression.
	ShapeSQL
	// ShapeBlock is a mapping of the block Of.
	ShapeBlock
	// ShapeNamed is a mapping of the user's names to values: a block Of each,
	// or a text where Of is empty.
	ShapeNamed
	// ShapeList is a list of the block Of.
	ShapeList
	// ShapeNameOrBlock and ShapeBlockOrList are one or the other.
	ShapeNameOrBlock
	ShapeBlockOrList
)

// Names is what names may look like.
type Names int

// The kinds of names.
const (
	// NamesPrintable is any text that can be shown on one line: states, events.
	NamesPrintable Names = iota
	// NamesPlain begins with a-z and goes on with a-z, 0-9 and _.
	NamesPlain
	// NamesBase is a plain name that others are derived from, so it is shorter.
	NamesBase
	// NamesLanguage is a tag of a language: en, zh, pt-BR.
	NamesLanguage
	// NamesRule is the code of a rule that can be waived.
	NamesRule
)

// Longest returns how many bytes a printable, plain or base name has at most.
func (n Names) Longest() int {
	if n == NamesBase {
		return maxBase
	}
	return maxName
}

// Language returns every block, the whole definition first. The caller may keep
// and change it.
func Language() []Block { return slices.Clone(blocks) }

// keysOf returns what a message calls the block, and its keys.
func keysOf(name string) (what string, keys []string) {
	for _, b := range blocks {
		if b.Name == name {
			for _, k := range b.Keys {
				if k.Name != "" {
					keys = append(keys, k.Name)
				}
			}
			return b.What, keys
		}
	}
	panic("no block of the language is called " + name)
}
