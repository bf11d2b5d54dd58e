package gendiagram_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/genfile"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

// machine reads a definition; one with warnings will do. It panics on any other.
func machine(source, text string) *model.Machine {
	var problems diag.List
	m := check.Run(syntax.Parse(source, []byte(text), &problems), &problems)
	if m == nil {
		panic(fmt.Sprint(problems.Sorted()))
	}
	return m
}

// definitions are the repository's own, and those of real systems. All corpora
// are read once: a check takes longer than a drawing.
var definitions = sync.OnceValue(func() []*model.Machine {
	var machines []*model.Machine
	for _, pattern := range []string{"../../definitions/*.yaml", "../check/testdata/lifecycles/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			panic("no files are " + pattern)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				panic(err)
			}
			machines = append(machines, machine("definitions/"+filepath.Base(file), string(text)))
		}
	}
	return machines
})

// hostile are texts that are something to Mermaid, dot, PlantUML, their markup,
// a browser or a preprocessor.
var hostile = []string{
	"end", "default", "State", "note", "fork", "choice", "in transit", "pre-auth", "a::b", "a;b", "a;{b}", "order:paid", "send note", "end note",
	"<script>alert(1)</script>", "%%{init}%%", `a\nb`, `C:\new`, `say "hi"`, "`tick`", "it's", "x#quot;]-->EVIL[y", "$5", "$$x^2$$",
	"node", "Edge", "graph", "strict", "subgraph", "digraph", `\N`, `\l`, `tail\`, "{", "}", "{a|<p>b}", "/* c */", "// c", "' comment", "#1", "#35;", "#",
	"待支付", "已 支付", "😀 done", "👍🏽", "حالة", "שלום (x)", strings.Repeat("x", 60), strings.Repeat("支", 20), "é", "𝕏", "ﬂ", "ß¶", "direction tb x", "the Direction  RL", "[*]", "[H]", "[H*]", "-->", "--", "->", "==", "..", "::",
	"1. one", "1) one", "- dash", "+ plus", "# head", "> quote", "*bold*", "**b**", "_under_", "__u__", "~~gone~~", "[link](x)", "![i](x)", "www.x.com", "https://x.y/z?a=b&c=d", "a@b.co", "| a | b |", "---", "===", "    code",
	"&amp;", "&lt;b&gt;", "&#65;", "&", "<b>x</b>", "<br/>", "<", ">", "<U+0041>", "<&home>", "<$sprite>", "<color:red>x</color>", "<<choice>>", "<<fork>>", "//it//", `""mono""`, "__", "~tilde", "~", "=head", "|table|",
	"@enduml", "@startuml", "!include x", "!exit", "%date()", "%n", `\t`, `\u0041`, "skinparam x", "legend", "endlegend", "title", "hide", "concurrent", "history",
	"s1", "initial", "root", "root_start", "machine", "class x y", "direction LR", "classDef x fill:red", "style s1 fill", "click s1", "accTitle", "accTitle: x", "accDescr {", "fa:fa-car", "%%", "%% c", "NO", "y", "null", "true",
	"one two three", "status = 'a:b'", `!x && y < 'z "q"'`, ",", "a,b", "!", "?", "=", "/", "(", ")", "()", "^", "$", "@", "%20", "100%", "a  b", "a.b.", "1.5", "x_", "_x", "a-", "-a",
}

// named makes the texts names of states or events, as far as the language
// lets them be: one without a letter gets some, and so does one whose Go name is
// taken.
func named(texts []string) []string {
	taken := map[string]bool{}
	names := make([]string, len(texts))
	for i, text := range texts {
		name := strings.TrimSpace(text)
		if strings.IndexFunc(name, letter) < 0 || taken[genfile.Exported(name)] {
			name += fmt.Sprintf(" q%d", i)
		}
		taken[genfile.Exported(name)] = true
		names[i] = name
	}
	return names
}

// eventName keeps off the few names that generated packages use for themselves.
func eventName(name string) string {
	switch name {
	case "State", "history", "initial", "machine":
		return "on " + name
	}
	return name
}

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// quoted is a YAML text.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// ring is a machine of a state for each text: the states, events and guards are
// called so where labels is false, and have it as a label or description
// where it is true.
func ring(texts []string, labels bool) *model.Machine {
	var b strings.Builder
	b.WriteString("machine: ring\ntable:\n  name: rings\n  key: {column: id, type: uuid}\n  columns: {amount: {type: integer, default: 0}}\nstates:\n")
	names := named(texts)
	for i, name := range names {
		if labels {
			fmt.Fprintf(&b, "  S%d: {initial: %t, resting: %t, label: {en: %s}}\n", i, i == 0, i%3 == 1, quoted(texts[i]))
		} else {
			fmt.Fprintf(&b, "  %s: {initial: %t, resting: %t}\n", quoted(name), i == 0, i%3 == 1)
		}
	}
	b.WriteString("guards:\n")
	for i := range texts {
		fmt.Fprintf(&b, "  g%d: {sql: 'amount > %d', describe: %s}\n", i, i, quoted(texts[i]+"\n\nin two lines"))
	}
	b.WriteString("events:\n")
	for i, name := range names {
		if labels {
			fmt.Fprintf(&b, "  E%d: {expect: version, label: {en: %s}, waive: {FSM066: none}}\n", i, quoted(texts[i]))
		} else {
			fmt.Fprintf(&b, "  %s: {expect: version}\n", quoted(eventName(name)))
		}
	}
	b.WriteString("transitions:\n")
	state := func(i int) string {
		if labels {
			return fmt.Sprintf("S%d", i%len(texts))
		}
		return quoted(names[i%len(texts)])
	}
	for i, name := range names {
		event := fmt.Sprintf("E%d", i)
		if !labels {
			event = quoted(eventName(name))
		}
		fmt.Fprintf(&b, "  - {event: %s, from: %s, to: %s, guard: g%d}\n", event, state(i), state(i+1), i)
		fmt.Fprintf(&b, "  - {event: %s, from: %s, to: %s, guard: g%d}\n", event, state(i+1), state(i+1), i)
	}
	return machine(`definitions/%%{init: "x"}%% */ @enduml.yaml`, b.String())
}

// hostileNames and hostileLabels are machines that are drawn whole, which have
// all hostile texts between them.
var (
	hostileNames  = sync.OnceValue(func() []*model.Machine { return rings(false) })
	hostileLabels = sync.OnceValue(func() []*model.Machine { return rings(true) })
)

func rings(labels bool) []*model.Machine {
	var machines []*model.Machine
	const size = 20
	for i := 0; i < len(hostile); i += size {
		machines = append(machines, ring(hostile[i:min(i+size, len(hostile))], labels))
	}
	return machines
}

// line is a machine of n states in a row, each of which can also be cancelled,
// go back one and be looked at.
func line(n int) *model.Machine {
	var b strings.Builder
	b.WriteString("machine: line\nstates:\n")
	for i := range n {
		fmt.Fprintf(&b, "  S%d: {initial: %t, final: %t}\n", i, i == 0, i == n-1)
	}
	b.WriteString("  Cancelled: {final: true}\nevents:\n  next: {expect: version}\n  back: {expect: version}\n  look: {expect: version}\n  cancel: {}\ntransitions:\n")
	for i := range n - 1 {
		fmt.Fprintf(&b, "  - {event: next, from: S%d, to: S%d}\n  - {event: cancel, from: S%[1]d, to: Cancelled}\n  - {event: look, from: S%[1]d, to: S%[1]d}\n", i, i+1)
		if i > 0 {
			fmt.Fprintf(&b, "  - {event: back, from: S%d, to: S%d}\n", i, i-1)
		}
	}
	return machine("definitions/line.yaml", b.String())
}
