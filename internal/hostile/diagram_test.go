package hostile

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the lines of a diagram can be. A text in them holds no sign that its format
// reads as anything else: what Mermaid and PlantUML could is written as a code.
var (
	mermaidText = "(?:[^\"#;%\\\\{}<>&\n]|#[0-9]+;|<br/>)*"
	plantText   = "(?:[^\"<>#\\\\\n@!']|<U\\+[0-9A-F]+>|\\\\n)*"
	dotText     = `"(?:[^"\\\n]|\\.)*"`

	lines = map[string][]*regexp.Regexp{
		".mmd": compiled(
			`%% (?:Code|Source)[^{}]*`, `%%\{init: \{[-"a-zA-Z0-9:,#{} ]*\}\}%%`, `stateDiagram-v2`, `  accTitle: `+mermaidText, `  direction (?:LR|TB)`,
			`  state "`+mermaidText+`" as s[0-9]+`, `  s[0-9]+ : `+mermaidText, `  (?:\[\*\]|s[0-9]+) --> (?:\[\*\]|s[0-9]+)(?: : `+mermaidText+`)?`,
			`  note left of s[0-9]+ : (?:[^"#;%{}<>&]|#[0-9]+;|<br/>)*`, `  classDef [a-z]+ [-a-z0-9:#,. ]+`, `  class [s0-9,]+ [a-z]+`, ``),
		".puml": compiled(
			`' (?:Code|Source).*`, `@startuml`, `@enduml`, `hide empty description`, `title `+plantText, `skinparam [A-Za-z]+ [#a-z0-9]+`,
			`state "`+plantText+`" as s[0-9]+ [#a-z0-9]+ ##[\[\]a-z0-9]+`, `s[0-9]+ : `+plantText, `(?:\[\*\]|s[0-9]+) -(?:\[[#a-z0-9,=]+\])?-> (?:\[\*\]|s[0-9]+)(?: : `+plantText+`)?`,
			`legend left`, `endlegend`, plantText, ``),
		".dot": compiled(
			`// (?:Code|Source).*`, `digraph machine \{`, `\}`, `  (?:graph|node|edge|initial|s[0-9]+|(?:initial|s[0-9]+) -> s[0-9]+) \[(?:[a-z]+=(?:`+dotText+`|[A-Za-z0-9.]+)(?:, )?)*\]`, ``),
	}
)

func compiled(all ...string) []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(all))
	for i, text := range all {
		out[i] = regexp.MustCompile("^" + text + "$")
	}
	return out
}

// holdsDiagram looks at every line of a diagram for other programs.
func holdsDiagram(t testing.TB, name string, content []byte) {
	t.Helper()
	known, ok := lines[path.Ext(name)]
	if !ok {
		return
	}
	for line := range strings.SplitSeq(string(content), "\n") {
		fits := false
		for _, l := range known {
			fits = fits || l.MatchString(line)
		}
		require.True(t, fits, "%s has the line %q", name, line)
	}
}
