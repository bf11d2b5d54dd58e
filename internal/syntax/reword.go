package syntax

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/pawl-go/pawl/internal/diag"
)

// rewordings say in a definition author's words what the library says in those
// of its scanner. The first whose parts are all in the library's context and
// message is used.
var rewordings = []struct{ context, message, words string }{
	{"", "mapping values are not allowed", `a ":" cannot stand here; check the indentation, or quote the text that holds the colon`},
	{"", "mapping keys are not allowed", "a key cannot stand here; check the indentation"},
	{"", "block sequence entries are not allowed", `a "-" cannot stand here; put it on a line of its own, indented`},
	{"", "could not find expected ':'", `a ":" is missing after the key`},
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
	{"", "tab", "a tab is used as indentation; use spaces"},
	{"", "cannot start any token", "a value cannot begin with this character; quote the value"},
	{"", "comment without preceding whitespace", `a comment needs a space before "#"`},
	{"anchor", "", "a name of letters and digits must follow"},
	{"alias", "", "a name of letters and digits must follow"},
	{"tag", "", "this tag is malformed, and tags are not used here"},
	{"", "document start", "this stands after the end of the definition; check the indentation"},
	{"", "node content", "a value is missing here"},
}

// loadError reports what stopped the library.
func (r *reporter) loadError(s *source, err error, tooDeep bool) {
	pos := diag.Position{File: s.file}
	var detail *yaml.LoadError
	if !errors.As(err, &detail) {
		r.add(pos, CodeSyntax, "this text cannot be read as YAML: %s", short(err.Error()))
		return
	}
	if detail.Mark.Line > 0 {
		pos = s.position(s.offset(detail.Mark.Line, detail.Mark.Column))
	}
	if tooDeep {
		r.add(pos, CodeTooDeep, "values are nested more than %d levels deep", maxDepth)
		return
	}
	if detail.Stage == yaml.ComposerStage && strings.Contains(detail.Message, "unknown anchor") {
		r.add(pos, CodeAlias, `an alias is not allowed; write the value out, or quote text that begins with "*"`)
		return
	}
	words := "this text cannot be read as YAML: " + short(detail.Message)
	if pos.Line > 0 && strings.Contains(detail.Message, "cannot start any token") && startsWith(s, pos, '\t') {
		words = "a tab is used as indentation; use spaces"
	} else {
		for _, known := range rewordings {
			if strings.Contains(detail.ContextMsg, known.context) && strings.Contains(detail.Message, known.message) {
				words = known.words
				break
			}
		}
	}
	// An unclosed bracket or quote is noticed far from where it was opened.
	if begun := detail.ContextMark.Line; begun > 0 && begun < pos.Line {
		r.add(pos, CodeSyntax, "%s (begun at line %d)", words, begun)
		return
	}
	r.add(pos, CodeSyntax, "%s", words)
}

func startsWith(s *source, pos diag.Position, b byte) bool {
	at := s.offset(pos.Line, pos.Col)
	return at < len(s.text) && s.text[at] == b
}
