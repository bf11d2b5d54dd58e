package check

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/syntax"
)

// quote shows a user's text in a message without letting it fill the screen.
func quote(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return strconv.Quote(s)
}

// mapping returns the node's mapping, or nil after reporting another kind.
func (c *checker) mapping(n *syntax.Node, what string) *syntax.Mapping {
	m := n.AsMapping()
	if m == nil {
		c.wrongKind(n, what, "a mapping of keys to values")
	}
	return m
}

func (c *checker) wrongKind(n *syntax.Node, what, wanted string) {
	if n == nil {
		return // the parser reported what was there
	}
	found := n.Kind.String()
	if n.IsNull() {
		found = "empty"
	}
	c.errorf(n.Pos, CodeWrongKind, "%s must be %s, but is %s", what, wanted, found)
}

// keys reports keys that the language does not have in the block.
func (c *checker) keys(m *syntax.Mapping, block string) {
	what, allowed := keysOf(block)
	for _, entry := range m.Entries {
		if slices.Contains(allowed, entry.Key.Text) {
			continue
		}
		hint := meant(entry.Key.Text, allowed)
		if hint == "" {
			hint = "; it has " + strings.Join(allowed, ", ")
		}
		c.errorf(entry.Key.Pos, CodeUnknownKey, "%s has no key %s%s", what, quote(entry.Key.Text), hint)
	}
}

// describe returns the text of the key describe, empty when there is none.
func (c *checker) describe(m *syntax.Mapping) string {
	n := m.Get("describe")
	if n.IsNull() {
		return ""
	}
	s := n.AsScalar()
	if s == nil {
		c.wrongKind(n, "\"describe\"", "text")
		return ""
	}
	return strings.TrimSpace(s.Text)
}

// owner returns the text of the key owner, empty when there is none.
func (c *checker) owner(m *syntax.Mapping) string {
	n := m.Get("owner")
	if n.IsNull() {
		return ""
	}
	s := n.AsScalar()
	if s == nil || strings.ContainsAny(s.Text, "\n\t") {
		c.errorf(n.Pos, CodeWrongKind, "\"owner\" must be one line of text")
		return ""
	}
	return strings.TrimSpace(s.Text)
}

// tags reads the words of a tags key.
func (c *checker) tags(m *syntax.Mapping) []string {
	var tags []string
	for _, s := range c.distinct(c.names(m.Get("tags"), "\"tags\""), "\"tags\"") {
		if c.lowerName(s, "tag", maxName) {
			tags = append(tags, s.Text)
		}
	}
	return tags
}

// nameValue returns a value that is a name, or nil after reporting why not.
func (c *checker) nameValue(n *syntax.Node, what string) *syntax.Scalar {
	s := n.AsScalar()
	if s == nil || n.IsNull() {
		c.wrongKind(n, what, "a name")
		return nil
	}
	c.clear(s) // and go on with what was meant
	return s
}

// clear reports a name that YAML reads as something else.
func (c *checker) clear(s *syntax.Scalar) bool {
	if s.Quoted || !s.Ambiguous {
		return true
	}
	c.errorf(s.Pos, CodeAmbiguous, "YAML may read %s as something else than text; quote it: '%s'", s.Text, s.Text)
	return false
}

// boolean returns the value of a flag, false when it is left out.
func (c *checker) boolean(m *syntax.Mapping, key string) bool {
	entry, ok := m.Entry(key)
	if !ok {
		return false
	}
	value, ok := entry.Value.AsScalar().Bool()
	if !ok {
		c.gaps = true // it may have been meant to be true
		c.errorf(entry.Value.Pos, CodeWrongKind, "%q must be true or false", key)
	}
	return value
}

// names returns the names of a value that is one name or a list of them. A
// value left out is no names.
func (c *checker) names(n *syntax.Node, what string) []*syntax.Scalar {
	if n.IsNull() {
		return nil
	}
	if n.AsScalar() != nil {
		if s := c.nameValue(n, what); s != nil {
			return []*syntax.Scalar{s}
		}
		return nil
	}
	list := n.AsSequence()
	if list == nil {
		c.wrongKind(n, what, "a name or a list of names")
		return nil
	}
	var names []*syntax.Scalar
	for _, item := range list.Items {
		if s := c.nameValue(item, "an item of "+what); s != nil {
			names = append(names, s)
		}
	}
	return names
}

// distinct drops and reports names that a list repeats.
func (c *checker) distinct(names []*syntax.Scalar, what string) []*syntax.Scalar {
	seen := make(map[string]bool)
	var kept []*syntax.Scalar
	for _, s := range names {
		if seen[s.Text] {
			c.errorf(s.Pos, CodeRepeated, "%s names %s twice; delete one", what, quote(s.Text))
			continue
		}
		seen[s.Text] = true
		kept = append(kept, s)
	}
	return kept
}

// topics reads the outbox topics of an emit key.
func (c *checker) topics(n *syntax.Node) []string {
	var topics []string
	for _, s := range c.distinct(c.names(n, "\"emit\""), "\"emit\"") {
		if c.lowerName(s, "topic", maxName) {
			topics = append(topics, s.Text)
		}
	}
	return topics
}

// section returns the entries of a top-level mapping, and whether it was read.
func (c *checker) section(top *syntax.Mapping, key, example string) ([]syntax.Entry, bool) {
	entry, ok := top.Entry(key)
	if !ok {
		if example != "" {
			c.errorf(top.Pos, CodeMissing, "key %q is missing; %s", key, example)
		}
		return nil, example == ""
	}
	if entry.Value.IsNull() && example == "" {
		return nil, true
	}
	m := c.mapping(entry.Value, strconv.Quote(key))
	if m == nil {
		return nil, false
	}
	if len(m.Entries) == 0 && example != "" {
		c.errorf(entry.Key.Pos, CodeMissing, "%q is empty; %s", key, example)
	}
	return m.Entries, true
}

// optionalMapping returns the mapping of a value that may be left out, never nil.
func (c *checker) optionalMapping(n *syntax.Node, what string) *syntax.Mapping {
	if n.IsNull() {
		return &syntax.Mapping{}
	}
	if m := c.mapping(n, what); m != nil {
		return m
	}
	return &syntax.Mapping{}
}

// keyPos returns the position of the key in the mapping, else other.
func keyPos(m *syntax.Mapping, key string, other diag.Position) diag.Position {
	if entry, ok := m.Entry(key); ok {
		return entry.Key.Pos
	}
	return other
}
