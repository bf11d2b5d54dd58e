package check

import "slices"

// Block is one kind of mapping of the language: what may be written in it.
type Block struct {
	// Name is the kind, as Key.Shape names it: "state".
	Name string
	// What is the kind in a message: "a state".
	What string
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
	// Words are the only values of a ShapeWord.
	Words []string
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
	// ShapeTypeOrBlock, ShapeNameOrBlock, ShapeBlockOrList are one or the other.
	ShapeTypeOrBlock
	ShapeNameOrBlock
	ShapeBlockOrList
)

// Language returns every block, the whole definition first. The caller may keep
// and change it.
func Language() []Block { return slices.Clone(blocks) }

// keysOf returns what a message calls the block, and its keys.
func keysOf(name string) (what string, keys []string) {
	for _, b := range blocks {
		if b.Name == name {
			for _, k := range b.Keys {
				keys = append(keys, k.Name)
			}
			return b.What, keys
		}
	}
	panic("no block of the language is called " + name)
}
