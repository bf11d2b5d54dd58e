package pipeline_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pipeline"
)

const languagePage = "../../docs/definition.md"

// marked is a place of the page that is written from the language: the line
// that marks it, and what follows up to the next empty line but one.
var marked = regexp.MustCompile(`(?m)^<!-- (keys of [a-z]+|rules) -->\n(\n(\|.*\n)+)?`)

// keyTable is the table of a block's keys; one without an example has a section.
func keyTable(b check.Block) string {
	var t strings.Builder
	t.WriteString("\n| key | meaning | example |\n| --- | --- | --- |\n")
	for _, k := range b.Keys {
		name, example := "a word", "`"+k.Example+"`"
		if k.Name != "" {
			name = "`" + k.Name + "`"
		}
		if k.Required {
			name += " (needed)"
		}
		if k.Example == "" {
			example = fmt.Sprintf("[below](#%s)", k.Name)
		}
		fmt.Fprintf(&t, "| %s | %s | %s |\n", name, strings.ReplaceAll(k.Doc, "|", `\|`), strings.ReplaceAll(example, "|", `\|`))
	}
	return t.String()
}

// ruleGroups sorts the rules by what they are about; the last code of each.
var ruleGroups = []struct {
	last diag.Code
	what string
}{
	{"FSM011", "the text of the file"}, {"FSM012", "names"}, {"FSM019", "the text of the file"}, {"FSM029", "keys, values and names"},
	{"FSM036", "states, and the ways between them"}, {"FSM048", "cells, facts and deadlines"}, {"FSM051", "the table"}, {"FSM057", "SQL"},
	{"FSM062", "machines side by side"}, {"FSM069", "the design of a lifecycle"}, {"FSM075", "hand-written SQL that goes around a machine"}, {"FSM077", "the design of a lifecycle"}, {"FSM079", "waivers"}, {"FSM086", "maps, former states and how states and history are kept"},
	{"FSM099", "migrations and hand-written SQL"},
}

// ruleTable lists the codes by group.
func ruleTable(t *testing.T) string {
	t.Helper()
	byGroup := map[string][]string{}
	var order []string
	for _, r := range pipeline.Rules() {
		group := ""
		for _, g := range ruleGroups {
			if r.Code <= g.last {
				group = g.what
				break
			}
		}
		require.NotEmpty(t, group, "%s has no group: add one to ruleGroups", r.Code)
		if byGroup[group] == nil {
			order = append(order, group)
		}
		byGroup[group] = append(byGroup[group], fmt.Sprintf("[%s](rules.md#%s)", r.Code, strings.ToLower(string(r.Code))))
	}
	var b strings.Builder
	b.WriteString("\n| about | codes |\n| --- | --- |\n")
	for _, group := range order {
		fmt.Fprintf(&b, "| %s | %s |\n", group, strings.Join(byGroup[group], " "))
	}
	return b.String()
}

// The page has every block of the language, in its order, with every key.
func TestLanguagePageFollowsTheLanguageAndTheRules(t *testing.T) {
	t.Parallel()
	have, err := os.ReadFile(languagePage)
	require.NoError(t, err)
	blocks := check.Language()
	var order []string
	want := marked.ReplaceAllStringFunc(string(have), func(place string) string {
		line, _, _ := strings.Cut(place, "\n")
		what := strings.TrimSuffix(strings.TrimPrefix(line, "<!-- "), " -->")
		if what == "rules" {
			return line + "\n" + ruleTable(t)
		}
		name := strings.TrimPrefix(what, "keys of ")
		order = append(order, name)
		for _, b := range blocks {
			if b.Name == name {
				return line + "\n" + keyTable(b)
			}
		}
		return place
	})
	var names []string
	for _, b := range blocks {
		names = append(names, b.Name)
	}
	require.Equal(t, names, order, "a block has no place in docs/definition.md: add a section with <!-- keys of NAME --> and an example")
	if *update {
		require.Empty(t, os.Getenv("CI"), "-update is not for CI")
		require.NoError(t, os.WriteFile(languagePage, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(have), "run go test ./internal/pipeline -run Rules -update")
	for _, at := range regexp.MustCompile(`\]\(#([a-z-]+)\)`).FindAllStringSubmatch(want, -1) {
		require.Regexp(t, `(?mi)^##+ `+strings.ReplaceAll(at[1], "-", " ")+`$`, want, "no section for the link")
	}
}

// sections cuts a definition at its top-level keys.
func sections(text string) map[string]string {
	found := map[string]string{}
	key := ""
	for _, line := range strings.SplitAfter(text, "\n") {
		if name, _, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "#") {
			key = name
		}
		found[key] += line
	}
	return found
}

// Every example of the page lints clean: the first as it is, the others with
// the rest from those that repeat nothing, which are one definition.
func TestExamplesOfTheLanguagePageAreClean(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(languagePage)
	require.NoError(t, err)
	whole := map[string]string{}
	var fragments []map[string]string
	for i, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		parts := sections(m[1])
		if i == 0 {
			clean(t, m[1])
			continue
		}
		fragments = append(fragments, parts)
		again := false
		for key := range parts {
			again = again || whole[key] != ""
		}
		if !again {
			maps.Copy(whole, parts)
		}
	}
	require.Greater(t, len(fragments), 10)
	for _, parts := range fragments {
		var b strings.Builder
		for _, k := range check.Language()[0].Keys {
			text, ok := parts[k.Name]
			if !ok {
				text = whole[k.Name]
			}
			b.WriteString(text)
		}
		clean(t, b.String())
	}
}

func clean(t *testing.T, text string) {
	t.Helper()
	var problems diag.List
	machines, err := pipeline.Lint(context.Background(), fstest.MapFS{"definitions/x.yaml": {Data: []byte(text)}}, []string{"definitions"}, &problems)
	require.NoError(t, err)
	require.Empty(t, problems.Sorted(), text)
	require.Len(t, machines, 1)
}
