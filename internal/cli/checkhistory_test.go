package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A history of one order: created, then paid for, and what a ship was told.
const (
	bought = `{"type":"call","id":"1","at":1,"client":"a","machine":"order","key":"00000000-0000-4000-8000-000000000001","event":"create","params":{"customer_id":"c","sku":"tea","quantity":1,"total_cents":100}}
{"type":"return","id":"1","at":2,"outcome":"Applied","state":"PENDING","version":1}
{"type":"call","id":"2","at":3,"client":"a","machine":"order","key":"00000000-0000-4000-8000-000000000001","event":"pay"}
{"type":"return","id":"2","at":4,"outcome":"Applied","state":"PAYING","version":2}
{"type":"call","id":"3","at":5,"client":"b","machine":"order","key":"00000000-0000-4000-8000-000000000001","event":"pay"}
`
	replayed = `{"type":"return","id":"3","at":6,"outcome":"Replayed","state":"PAYING","version":2}` + "\n"
	again    = `{"type":"return","id":"3","at":6,"outcome":"Applied","state":"PAYING","version":2}` + "\n"
)

func TestCheckHistory(t *testing.T) {
	t.Parallel()
	dir := project(t, "good.jsonl", bought+replayed, "bad.jsonl", bought+again, "cut.jsonl", bought, "broken.jsonl", "{\n{}\n", "other.jsonl", strings.ReplaceAll(bought, `"order"`, `"parcel"`),
		"broken.yaml", broken, "lamp.yaml", lamp)
	at := func(name string) string { return filepath.Join(dir, name) }
	page := at("page.html")
	const definition = "definitions/order.yaml"
	for _, c := range []struct {
		args     []string
		code     int
		out, err string
	}{
		{[]string{definition, at("good.jsonl")}, 0, "", "order: accepted: 3 calls of 1 row\n"},
		{[]string{"definitions", at("good.jsonl")}, 0, "", "order: accepted"},
		{[]string{definition, at("cut.jsonl")}, 0, "", "1 call of unknown outcome"},
		{[]string{definition, at("bad.jsonl")}, 1, "call 3 was told: Applied PAYING 2.\n", "order: refused: 3 calls of 1 row; 1 part refused\n"},
		{[]string{definition, at("good.jsonl"), "--visualize", page}, 0, "", "nothing was refused, so"},
		{nil, 2, "", "needs a DEFINITION and at least one HISTORY"},
		{[]string{definition}, 2, "", "needs a DEFINITION and at least one HISTORY"},
		{[]string{definition, at("no.jsonl")}, 2, "", "no.jsonl"},
		{[]string{"no.yaml", at("good.jsonl")}, 2, "", "no.yaml"},
		{[]string{definition, at("broken.jsonl")}, 2, "", "broken.jsonl:1: "},
		{[]string{definition, at("other.jsonl")}, 2, "", "no line is of a machine of definitions/order.yaml"},
		{[]string{at("lamp.yaml"), at("good.jsonl")}, 2, "", "no line is of a machine of"},
		{[]string{at("broken.yaml"), at("good.jsonl")}, 2, "", "nothing to check against"},
		{[]string{definition, at("good.jsonl"), "--timeout", "soon"}, 2, "", "it is no duration"},
		{[]string{definition, at("good.jsonl"), "--format", "sarif"}, 2, "", `no format "sarif"`},
	} {
		code, out, err := run(append([]string{"check-history", "-C", "../.."}, c.args...)...)
		require.Equal(t, c.code, code, "%q: %s", c.args, out+err)
		require.Contains(t, out, c.out, "%q", c.args)
		require.Contains(t, err, c.err, "%q", c.args)
		require.NoFileExists(t, page)
	}

	code, out, err := run("check-history", "-C", "../..", definition, at("bad.jsonl"), "--format", "json", "--visualize", page)
	require.Equal(t, 1, code, err)
	require.Empty(t, err)
	var doc struct {
		Machines []struct {
			Machine, Result, Refusal string
			Operations, Rows         int
			Refused, Undecided       []string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &doc))
	require.Len(t, doc.Machines, 1)
	m := doc.Machines[0]
	require.Equal(t, []any{"order", "refused", 3, 1}, []any{m.Machine, m.Result, m.Operations, m.Rows})
	require.Equal(t, []string{"00000000-0000-4000-8000-000000000001"}, m.Refused)
	require.Equal(t, []string{}, m.Undecided)
	require.Contains(t, m.Refusal, "after call 2: Replayed PAYING 2, made so by pay PENDING→PAYING 2")
	drawn, failed := os.ReadFile(page)
	require.NoError(t, failed)
	require.True(t, strings.Contains(string(drawn), "</html>"))
	require.True(t, strings.Contains(string(drawn), "Applied PAYING 2"), "what was told is not in the page")
}
