package diag

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func sample() *List {
	var l List
	l.Addf(Position{"definitions/order.yaml", 12, 9}, "FSM012", Error, `event "pya" is not declared; did you mean "pay"?`)
	l.Addf(Position{"definitions/order.yaml", 3, 1}, "FSM030", Warning, "a & b < c")
	return &l
}

func TestText(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, sample().Text(&b))
	require.Equal(t, "definitions/order.yaml:3:1: FSM030 warning: a & b < c\n"+
		"definitions/order.yaml:12:9: FSM012 event \"pya\" is not declared; did you mean \"pay\"?\n", b.String())
}

func TestTextMakesControlCharactersHarmless(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"a\x1b[2Jb", `a\u001b[2Jb`},
		{"a\r\nb\x00", `a\u000d\u000ab\u0000`},
		{"bidi \u202e end", `bidi \u202e end`},
		{"c1 \u009b", `c1 \u009b`},
		{"tag \U000E0041", `tag \U000e0041`},
		{"bad \xff utf", `bad \xff utf`},
		{"待支付 é 🙂", "待支付 é 🙂"},
	} {
		var l List
		l.Addf(Position{File: "f\n.yaml"}, "FSM001", Error, "%s", c.in)
		var b strings.Builder
		require.NoError(t, l.Text(&b))
		require.Equal(t, `f\u000a.yaml: FSM001 `+c.want+"\n", b.String())
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	l := sample()
	l.Waive(Problem{Pos: Position{File: "definitions/order.yaml", Line: 4, Col: 2}, Code: "FSM077", Severity: Warning, Message: "money"}, "points are none")
	require.NoError(t, l.JSON(&b))
	require.Equal(t, `{
  "errors": 1,
  "warnings": 1,
  "problems": [
    {
      "file": "definitions/order.yaml",
      "line": 3,
      "col": 1,
      "code": "FSM030",
      "severity": "warning",
      "message": "a & b < c"
    },
    {
      "file": "definitions/order.yaml",
      "line": 12,
      "col": 9,
      "code": "FSM012",
      "severity": "error",
      "message": "event \"pya\" is not declared; did you mean \"pay\"?"
    }
  ],
  "waived": [
    {
      "file": "definitions/order.yaml",
      "line": 4,
      "col": 2,
      "code": "FSM077",
      "severity": "warning",
      "message": "money",
      "reason": "points are none"
    }
  ]
}
`, b.String())
}

func TestEmptyListPrints(t *testing.T) {
	t.Parallel()
	var l List
	var text, js, sarif strings.Builder
	require.NoError(t, l.Text(&text))
	require.NoError(t, l.JSON(&js))
	require.NoError(t, l.SARIF(&sarif, Tool{}, nil))
	require.Empty(t, text.String())
	require.JSONEq(t, `{"errors": 0, "warnings": 0, "problems": [], "waived": []}`, js.String())
	require.Contains(t, sarif.String(), `"rules": []`)
	require.NotContains(t, sarif.String(), `"version": ""`)
	require.NotContains(t, sarif.String(), "Uri\"")
	require.Contains(t, sarif.String(), `"results": []`)
}

func TestSARIF(t *testing.T) {
	t.Parallel()
	l := sample()
	l.Addf(Position{File: "my file.yaml"}, "FSM999", Error, "whole file")
	l.Addf(Position{}, "FSM030", Error, "nowhere")
	helpOf := func(c Code) string { return "https://example.com/" + string(c) }
	var b strings.Builder
	require.NoError(t, l.SARIF(&b, Tool{Version: "v1.2.3", Home: "https://example.com", RuleHelp: helpOf}, []Rule{
		{Code: "FSM012", Short: "unknown event", Cause: "c", Fix: "f"},
		{Code: "FSM030", Severity: Warning, Short: "odd"},
		{Code: "FSM012", Short: "again"},
	}))
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(b.String()), &got))
	require.Equal(t, "2.1.0", got["version"])
	run := got["runs"].([]any)[0].(map[string]any)
	require.Equal(t, "unicodeCodePoints", run["columnKind"])
	require.Contains(t, run["originalUriBaseIds"], "PROJECTROOT")
	driver := run["tool"].(map[string]any)["driver"].(map[string]any)
	require.Equal(t, "fsmgen", driver["name"])
	require.Equal(t, "v1.2.3", driver["version"])
	require.Equal(t, "https://example.com", driver["informationUri"])
	require.Len(t, driver["rules"], 2)
	require.Equal(t, map[string]any{
		"id":                   "FSM030",
		"shortDescription":     map[string]any{"text": "odd"},
		"helpUri":              "https://example.com/FSM030",
		"defaultConfiguration": map[string]any{"level": "warning"},
	}, driver["rules"].([]any)[1])

	place := func(uri string, region map[string]any) []any {
		physical := map[string]any{"artifactLocation": map[string]any{"uri": uri, "uriBaseId": "PROJECTROOT"}}
		if region != nil {
			physical["region"] = region
		}
		return []any{map[string]any{"physicalLocation": physical}}
	}
	require.Equal(t, []any{
		map[string]any{"ruleId": "FSM030", "ruleIndex": 1.0, "level": "error", "message": map[string]any{"text": "nowhere"}},
		map[string]any{"ruleId": "FSM030", "ruleIndex": 1.0, "level": "warning", "message": map[string]any{"text": "a & b < c"},
			"locations": place("definitions/order.yaml", map[string]any{"startLine": 3.0, "startColumn": 1.0})},
		map[string]any{"ruleId": "FSM012", "ruleIndex": 0.0, "level": "error",
			"message":   map[string]any{"text": `event "pya" is not declared; did you mean "pay"?`},
			"locations": place("definitions/order.yaml", map[string]any{"startLine": 12.0, "startColumn": 9.0})},
		map[string]any{"ruleId": "FSM999", "level": "error", "message": map[string]any{"text": "whole file"},
			"locations": place("my%20file.yaml", nil)},
	}, run["results"])
}
