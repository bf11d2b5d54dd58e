package genroles

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/internal/sqlname"
)

// Statement is a query of a machine: its text with parameters $1 and so on, their
// types, and what it returns.
type Statement struct {
	Name, SQL string
	Params    []string
	Columns   []Column
	// Forces says that it is the correction, free of the edges.
	Forces bool
}

// Column is a column of what a statement returns.
type Column struct{ Name, Type string }

// digits of a fingerprint tell two texts of one name apart.
const digits = 10

// function is what the function of a statement is called. The fingerprint of its
// text is part of it: a program and the functions it calls cannot mean different
// statements, and those of two programs stand side by side.
func (s Statement) function() string {
	sum := sha256.Sum256([]byte(s.SQL + "\x00" + strings.Join(s.Params, "\x00") + "\x00" + fmt.Sprint(s.Columns)))
	name := "fsm_" + snake(s.Name)
	name = name[:min(len(name), sqlname.MaxLength-digits-1)]
	return name + "_" + hex.EncodeToString(sum[:])[:digits]
}

// snake is a name of sqlc's with small letters and _. Names are ASCII.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// call is the statement that a program sends in the place of s.
func (s Statement) call(n Names) string {
	args := make([]string, len(s.Params))
	for i, p := range s.Params {
		args[i] = fmt.Sprintf("$%d::%s", i+1, p)
	}
	return fmt.Sprintf("SELECT * FROM %s.%s(%s)", sqlname.Ident(n.Schema), sqlname.Ident(s.function()), strings.Join(args, ", "))
}

// signature names the function with the types of its parameters.
func (s Statement) signature(n Names) string {
	return fmt.Sprintf("%s.%s(%s)", sqlname.Ident(n.Schema), sqlname.Ident(s.function()), strings.Join(s.Params, ", "))
}

// define is the function, and who may call it. PL/pgSQL keeps a plan for each
// session, as a prepared statement does, where SQL would plan again for each call.
// It takes a new snapshot, which is what makes the answer of a statement that waited
// for another the same inside a function as outside.
//
// What a session may set counts for nothing that the text says, see [pins]. The error
// is of a statement that cannot be read.
func (s Statement) define(n Names) (string, error) {
	settings, err := s.settings(n)
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.Name, err)
	}
	columns := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		columns[i] = sqlname.Ident(c.Name) + " " + c.Type
	}
	quote := quoteFor(s.SQL)
	callers := n.App
	if s.Forces {
		callers = n.Support
	}
	return strings.Join([]string{
		"CREATE OR REPLACE FUNCTION " + s.signature(n),
		"RETURNS TABLE (" + strings.Join(columns, ", ") + ")",
		"LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET " + strings.Join(settings, " SET ") + " AS " + quote,
		"#variable_conflict use_column",
		"BEGIN",
		"  RETURN QUERY",
		s.SQL + ";",
		"END " + quote + ";",
		"ALTER FUNCTION " + s.signature(n) + " OWNER TO " + n.Writer + ";",
		"REVOKE ALL ON FUNCTION " + s.signature(n) + " FROM " + n.everyone() + " CASCADE;",
		"GRANT EXECUTE ON FUNCTION " + s.signature(n) + " TO " + callers + ";",
	}, "\n"), nil
}

// everyone is all but the owners: those from whom rights are taken before what each
// needs is given.
func (n Names) everyone() string {
	return strings.Join([]string{"PUBLIC", n.App, n.Support, n.Reader}, ", ")
}

// path is what a function that others call looks names up in. Temporary tables come
// last: a caller can make those.
func (n Names) path() string { return "pg_catalog, " + sqlname.Ident(n.Schema) + ", pg_temp" }

// quoteFor is a dollar quote that the text does not have.
func quoteFor(text string) string {
	quote := "$fsm$"
	for i := 1; strings.Contains(text, quote); i++ {
		quote = fmt.Sprintf("$fsm%d$", i)
	}
	return quote
}
