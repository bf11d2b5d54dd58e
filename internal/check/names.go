package check

import (
	"go/build"
	"go/token"
	"go/types"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-go/pawl/internal/sqlname"
	"github.com/pawl-go/pawl/internal/syntax"
)

const (
	// maxName is the length of an identifier in PostgreSQL, in bytes.
	maxName = sqlname.MaxLength
	// maxBase leaves room for what is derived from machine and table names:
	// order_history_pkey, orders_deadline_idx, order_refuse_edge.
	maxBase = maxName - 20
)

// lowerName reports a name that is no plain lower-case one, or is too long.
func (c *checker) lowerName(s *syntax.Scalar, what string, limit int) bool {
	if !plainName(s.Text) {
		c.errorf(s.Pos, CodeBadName, "%s name %s must begin with a letter a–z and go on with a–z, 0–9 and _", what, quote(s.Text))
		return false
	}
	if len(s.Text) > limit {
		c.errorf(s.Pos, CodeBadName, "%s name %s has %d bytes; at most %d fit, with what is derived from it", what, quote(s.Text), len(s.Text), limit)
		return false
	}
	return true
}

func plainName(name string) bool {
	for i, r := range name {
		letter := 'a' <= r && r <= 'z'
		if !letter && (i == 0 || r != '_' && (r < '0' || '9' < r)) {
			return false
		}
	}
	return name != ""
}

// printableName reports a state or event name that could not be shown as it is.
func (c *checker) printableName(s *syntax.Scalar, what string) bool {
	switch {
	case len(s.Text) == 0 || len(s.Text) > maxName:
		c.errorf(s.Pos, CodeBadName, "%s name %s must have 1 to %d bytes", what, quote(s.Text), maxName)
		return false
	case strings.TrimSpace(s.Text) != s.Text:
		c.errorf(s.Pos, CodeBadName, "%s name %s must not begin or end with a space", what, quote(s.Text))
		return false
	}
	for _, r := range s.Text {
		if r != ' ' && !unicode.IsPrint(r) {
			c.errorf(s.Pos, CodeBadName, "%s name %s holds a character that cannot be printed", what, quote(s.Text))
			return false
		}
	}
	return true
}

var reservedPackages = map[string]bool{"db": true, "fsm": true, "main": true, "internal": true, "testdata": true}

// machineName takes the machine's name, and the package's from it.
func (c *checker) machineName(s *syntax.Scalar) {
	if !c.lowerName(s, "machine", maxBase) {
		return
	}
	m := c.machine
	m.Package = strings.ReplaceAll(s.Text, "_", "")
	m.Ident = c.exported(s, "machine")
	if strings.HasPrefix(s.Text, "pg_") || strings.HasPrefix(s.Text, "fsm_") {
		c.errorf(s.Pos, CodeReserved, "machine name %s is reserved: names beginning with pg_ or fsm_ are not yours to use; choose another", quote(s.Text))
	}
	if token.IsKeyword(m.Package) || types.Universe.Lookup(m.Package) != nil || reservedPackages[m.Package] {
		c.errorf(s.Pos, CodeReserved, "machine name %s is reserved: the generated Go package could not be called %s; choose another", quote(s.Text), m.Package)
	}
	if file := s.Text + ".sql.go"; !compiled(file) {
		c.errorf(s.Pos, CodeReserved, "machine name %s is reserved: Go takes the file %s for one of a certain operating system or processor, and leaves it out on others; choose another", quote(s.Text), file)
	}
}

// compiled reports whether Go compiles a file of that name wherever it runs: a
// last part such as _linux or _arm64 ties the file to a system, also before
// _test. Go itself is asked, on behalf of a system that does not exist.
func compiled(file string) bool {
	nowhere := build.Context{GOOS: "none", GOARCH: "none", Compiler: "gc", OpenFile: func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("package db\n")), nil
	}}
	match, err := nowhere.MatchFile("", file)
	return match && err == nil
}

var reservedTables = map[string]bool{
	"known": true, "locked": true, "fact": true, "moved": true, "history": true, "emitted": true, "created": true, "due": true, "asked": true, "taken": true,
}

func (c *checker) tableName(s *syntax.Scalar) {
	if !c.lowerName(s, "table", maxBase) {
		return
	}
	switch {
	case reservedTables[s.Text]:
		c.errorf(s.Pos, CodeReserved, "table name %s is reserved: generated statements use it for themselves; choose another", quote(s.Text))
	case strings.HasPrefix(s.Text, "pg_") || strings.HasPrefix(s.Text, "fsm_"):
		c.errorf(s.Pos, CodeReserved, "table name %s is reserved: names beginning with pg_ or fsm_ are not yours to use; choose another", quote(s.Text))
	case slices.Contains(sqlname.Goose(), s.Text):
		c.errorf(s.Pos, CodeReserved, "table name %s is reserved: goose keeps there what has been migrated; choose another", quote(s.Text))
	}
}

// systemColumns are those that every table of PostgreSQL has.
var systemColumns = []string{"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"}

// columnName checks the name of a column, declared, of the key or the machine's.
func (c *checker) columnName(s *syntax.Scalar) bool {
	if !c.innerName(s, "column") {
		return false
	}
	if slices.Contains(systemColumns, s.Text) {
		c.errorf(s.Pos, CodeReserved, "column name %s is reserved: PostgreSQL has a column of that name in every table; choose another", quote(s.Text))
		return false
	}
	return true
}

// innerName checks a column's or parameter's name.
func (c *checker) innerName(s *syntax.Scalar, what string) bool {
	c.clear(s) // and go on with what was meant
	if !c.lowerName(s, what, maxName) {
		return false
	}
	if strings.HasPrefix(s.Text, "fsm_") {
		c.errorf(s.Pos, CodeReserved, "%s name %s is reserved: names beginning with fsm_ are not yours to use; choose another", what, quote(s.Text))
		return false
	}
	return true
}
