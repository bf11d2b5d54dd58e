package syntax

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/pawl-go/pawl/internal/diag"
)

// What is wrong at one place, wherever the value began that it stands in.
const (
	tabWords    = "a tab is used as indentation; use spaces"
	followWords = "this cannot follow what stands before it on the line; quote the whole text, or begin a new line"
)

// rewordings say in a definition author's words what the library says in those
// of its scanner. The first whose parts are all in the library's context and
// message is used.
var rewordings = []struct{ context, message, words string }{
	{"", "mapping values are not allowed", `a ":" cannot stand here; check the indentation, or quote the text that holds the colon`},
	{"", "mapping keys are not allowed", "a key cannot stand here; check the indentation"},
	{"", "block sequence entries are not allowed", `a "-" cannot stand here; put it on a line of its own, indented`},
	{"", "could not find expected ':'", `a ":" is missing after the key`},
	{"", "tab character", tabWords},
	{"quoted scalar", "unexpected end of stream", "this quoted text is never closed"},
	{"quoted scalar", "document indicator", "this quoted text is never closed"},
	{"quoted scalar", "unknown escape", `a "\" in double quotes must begin a known escape; use single quotes, or write "\\"`},
	{"quoted scalar", "hexdecimal", `this "\" escape needs hexadecimal digits`},
	{"quoted scalar", "Unicode", "this escape names no character"},
	{"flow sequence", "',' or ']'", `a "," or "]" is missing in a list`},
	{"flow mapping", "',' or '}'", `a "," or "}" is missing in a mapping`},
	{"block collection", "", `this line is not part of the list that it stands in; check the indentation`},
	{"block mapping", "", `this line is not part of the mapping that it stands in; check the indentation`},
	{"block scalar", "", `only an indentation number and "+" or "-" may follow "|" or ">"`},
	{"", "cannot start any token", "a value cannot begin with this character; quote the value"},
	{"", "comment without preceding whitespace", `a comment needs a space before "#"`},
	{"anchor", "", `text that begins with "&" must be quoted`},
	{"alias", "", `text that begins with "*" must be quoted, as in '*'`},
	{"tag", "", `text that begins with "!" must be quoted`},
	{"", "document start", "this stands after the end of the definition; check the indentation"},
	{"", "node content", "a value is missing here"},
}

// loadError reports what stopped the library, and whether it is put aside so
// that reading may go on.
func (r *reporter) loadError(s *source, err error, tooDeep bool) bool {
	pos := diag.Position{File: s.file}
	var detail *yaml.LoadError
	if !errors.As(err, &detail) {
		r.add(pos, CodeSyntax, "this text cannot be read as YAML: %s", short(err.Error()))
		return false
	}
	if detail.Mark.Line > 0 {
		pos = s.position(s.offset(detail.Mark.Line, detail.Mark.Column))
	}
	switch detail.ContextMsg {
	case "while scanning an anchor", "while scanning an alias", "while scanning a tag", "while parsing a tag":
		// Shown is its first character, and not where it could not go on.
		pos = s.position(s.offset(detail.ContextMark.Line, detail.ContextMark.Column))
	}
	if tooDeep {
		r.add(pos, CodeTooDeep, "values are nested more than %d levels deep", maxDepth)
		return false
	}
	if detail.Stage == yaml.ComposerStage && strings.Contains(detail.Message, "unknown anchor") {
		r.add(pos, CodeAlias, `the alias %s is not allowed; write the value out, or quote text that begins with "*"`, short(s.word(pos)))
		return false
	}
	if strings.Contains(detail.Message, "cannot start any token") && s.standIn(s.offset(pos.Line, pos.Col)) {
		first := string(s.stoodIn[s.offset(pos.Line, pos.Col)])
		r.add(pos, CodeSyntax, "a value cannot begin with %s; quote it: '%s'", first, first+short(s.word(pos))[1:])
		return true
	}
	words := reworded(s, pos, detail)
	// An unclosed bracket or quote is noticed far from where it was opened.
	if begun := detail.ContextMark.Line; begun > 0 && begun < pos.Line && words != tabWords && words != followWords {
		r.add(pos, CodeSyntax, "%s (begun at line %d)", words, begun)
		return false
	}
	r.add(pos, CodeSyntax, "%s", words)
	return false
}

// reworded says what is wrong at a place.
func reworded(s *source, pos diag.Position, detail *yaml.LoadError) string {
	switch {
	case strings.Contains(detail.Message, "cannot start any token") && strings.HasPrefix(s.word(pos), "\t"):
		return tabWords
	case strings.Contains(detail.ContextMsg, "block mapping") && !s.first(pos):
		return followWords
	}
	for _, known := range rewordings {
		if strings.Contains(detail.ContextMsg, known.context) && strings.Contains(detail.Message, known.message) {
			return known.words
		}
	}
	return "this text cannot be read as YAML: " + short(detail.Message)
}
