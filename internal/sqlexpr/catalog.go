package sqlexpr

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// catalogText has what PostgreSQL 15 knows of types, casts, and of the operators
// and functions that a fragment may use, a line each. A test compares it with
// the server's own catalog and, asked to, writes it anew. Later versions take
// all of it.
//
//go:embed catalog.txt
var catalogText string

// signature is one function or operator of a name.
type signature struct {
	args   []string
	result string
	// variadic is the type of the arguments that may follow, else empty.
	variadic string
	// defaults is how many of the last arguments may be left out.
	defaults int
	// names are the names of the arguments, or nil.
	names []string
}

// kindOfType is what PostgreSQL's resolution asks of a type.
type kindOfType struct {
	category   string
	preferred  bool
	collatable bool
}

// Contexts of a cast, from the narrowest.
const (
	implicit = iota
	assigned
	explicit
)

type catalog struct {
	types     map[string]kindOfType
	casts     map[[2]string]int
	operators map[string][]signature
	functions map[string][]signature
}

var readCatalog = sync.OnceValue(func() *catalog {
	c := &catalog{map[string]kindOfType{}, map[[2]string]int{}, map[string][]signature{}, map[string][]signature{}}
	for line := range strings.Lines(catalogText) {
		f := strings.Fields(line)
		list := func(s string) []string {
			if s == "-" {
				return nil
			}
			return strings.Split(s, ",")
		}
		switch {
		case len(f) == 5 && f[0] == "type":
			c.types[f[1]] = kindOfType{f[2], f[3] == "t", f[4] == "t"}
		case len(f) == 4 && f[0] == "cast":
			c.casts[[2]string{f[1], f[2]}] = strings.Index("iae", f[3])
		case len(f) == 4 && f[0] == "operator":
			c.operators[f[1]] = append(c.operators[f[1]], signature{args: list(f[2]), result: f[3]})
		case len(f) == 7 && f[0] == "function":
			s := signature{args: list(f[2]), result: f[3], names: list(f[6])}
			if f[4] != "-" {
				s.variadic = f[4]
			}
			s.defaults, _ = strconv.Atoi(f[5])
			c.functions[f[1]] = append(c.functions[f[1]], s)
		}
	}
	return c
})

// The types that are no plain ones here: unknown is a quoted literal or NULL,
// which takes the type of what it meets; uncertain is what nobody told; record
// is a row. An enum of the user is written enum:NAME, an array _ELEMENT.
const (
	unknownType = "unknown"
	uncertain   = ""
	recordType  = "record"
	enumPrefix  = "enum:"
)

func isEnum(t string) bool { return strings.HasPrefix(t, enumPrefix) }

func (c *catalog) kind(t string) kindOfType {
	switch {
	case isEnum(t):
		return kindOfType{category: "E"}
	case element(t) != "":
		return kindOfType{category: "A", collatable: c.types[element(t)].collatable}
	case t == unknownType:
		return kindOfType{category: "X"}
	}
	return c.types[t]
}

// element returns the type of an array's elements, empty for another type.
func element(t string) string {
	if strings.HasPrefix(t, "_") {
		return t[1:]
	}
	return ""
}

// typeNamed returns PostgreSQL's own name of the type that a field is of, as
// people write it: "character varying(20)" is varchar.
func typeNamed(written string) string {
	name, _, _ := strings.Cut(written, "(")
	name = strings.TrimSpace(name)
	switch name {
	case "smallint":
		return "int2"
	case "integer":
		return "int4"
	case "bigint":
		return "int8"
	case "boolean":
		return "bool"
	case "double precision":
		return "float8"
	case "character varying":
		return "varchar"
	}
	if _, known := readCatalog().types[name]; known {
		return name
	}
	return uncertain
}

// spoken returns the name of a type as people write it.
func spoken(t string) string {
	switch t {
	case "int2":
		return "smallint"
	case "int4":
		return "integer"
	case "int8":
		return "bigint"
	case "bool":
		return "boolean"
	case "float8":
		return "double precision"
	case "float4":
		return "real"
	case "bpchar":
		return "char"
	case unknownType:
		return "a quoted text"
	case recordType:
		return "a row of values"
	}
	if e := element(t); e != "" {
		return spoken(e) + "[]"
	}
	return strings.TrimPrefix(t, enumPrefix)
}
