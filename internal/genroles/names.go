package genroles

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Names says what the roles are called, where the tables are, and how the generated
// Go writes. The zero value asks for no roles.
type Names struct {
	Schema string
	// Migrator owns the tables. Writer may do what the machines' statements do, and
	// owns the functions that have them. App is the service, Support may force
	// corrections, Reader may look.
	Migrator, Writer, App, Support, Reader string
	// Functions says that the generated Go calls the functions, and that App may write
	// to the machines' tables in no other way.
	Functions bool
}

// Default is what the roles are called where nobody says otherwise.
func Default() Names {
	return Names{
		Schema: "public", Migrator: "pawl_migrator", Writer: "pawl_writer", App: "pawl_app",
		Support: "pawl_support", Reader: "pawl_reader",
	}
}

// Wanted reports whether there are to be roles at all.
func (n Names) Wanted() bool { return n.Schema != "" }

// Words that stand for a whole list.
const (
	defaults = "default"
	none     = "none"
)

// Values of the key "calls".
const (
	byStatements = "statements"
	byFunctions  = "functions"
)

// Parse reads "default", "none", or a list such as "app=shop_app,calls=functions" of
// what differs from the default. The error says what is wrong with it.
func Parse(text string) (Names, error) {
	n := Default()
	switch text {
	case none:
		return Names{}, nil
	case defaults:
		return n, nil
	}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return Names{}, fmt.Errorf("roles %q: %q is no pair such as app=shop_app; or say %s or %s", text, pair, defaults, none)
		}
		if err := n.set(key, value); err != nil {
			return Names{}, fmt.Errorf("roles %q: %w", text, err)
		}
	}
	if err := n.check(); err != nil {
		return Names{}, fmt.Errorf("roles %q: %w", text, err)
	}
	return n, nil
}

// field is a name with its key.
type field struct {
	key string
	at  *string
}

func (n *Names) fields() []field {
	return []field{
		{"schema", &n.Schema}, {"migrator", &n.Migrator}, {"writer", &n.Writer},
		{"app", &n.App}, {"support", &n.Support}, {"reader", &n.Reader},
	}
}

func (n *Names) set(key, value string) error {
	if key == "calls" {
		if value != byStatements && value != byFunctions {
			return fmt.Errorf("calls=%s: say %s or %s", value, byStatements, byFunctions)
		}
		n.Functions = value == byFunctions
		return nil
	}
	for _, f := range n.fields() {
		if f.key == key {
			*f.at = value
			return nil
		}
	}
	return fmt.Errorf("there is no key %q: there are schema, migrator, writer, app, support, reader and calls", key)
}

// simple are names that need no quotes anywhere, and are no name of PostgreSQL's own.
var simple = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

var errTwice = errors.New("two roles have the same name, and one would have the rights of both")

func (n Names) check() error {
	var roles []string
	for _, f := range n.fields() {
		name := *f.at
		if !simple.MatchString(name) || strings.HasPrefix(name, "pg_") || f.key != "schema" && name == "public" {
			return fmt.Errorf("%s=%s: a name has small letters, digits and _, at most 63, and is none of PostgreSQL's own", f.key, name)
		}
		if f.key == "schema" {
			continue
		}
		if slices.Contains(roles, name) {
			return errTwice
		}
		roles = append(roles, name)
	}
	return nil
}

// String is the list that Parse reads the same from.
func (n Names) String() string {
	if !n.Wanted() {
		return none
	}
	var b strings.Builder
	for _, f := range n.fields() {
		fmt.Fprintf(&b, "%s=%s,", f.key, *f.at)
	}
	calls := byStatements
	if n.Functions {
		calls = byFunctions
	}
	return b.String() + "calls=" + calls
}

// mark begins the line of the file by which it remembers what it was made for.
const mark = "-- fsmgen:roles "

// NamesOf returns what a file was made for, and the zero value for one that does not
// say so. The error is Parse's.
func NamesOf(file []byte) (Names, error) {
	for line := range strings.Lines(string(file)) {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return Parse(strings.TrimSpace(rest))
		}
	}
	return Names{}, nil
}
