package linear_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/linear"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

// machineOf reads a definition that has no mistake.
func machineOf(t testing.TB, yaml string) *model.Machine {
	t.Helper()
	var problems diag.List
	m := check.Run(syntax.Parse("m.yaml", []byte(yaml), &problems), &problems)
	require.NotNil(t, m, "%v", problems.Sorted())
	return m
}

// order is the machine of this repository's orders.
func order(t testing.TB) *model.Machine {
	t.Helper()
	text, err := os.ReadFile("../../definitions/order.yaml")
	require.NoError(t, err)
	return machineOf(t, string(text))
}

// keyA and keyB are the rows of the histories; a and b stand for them.
const (
	keyA = "00000000-0000-4000-8000-00000000000a"
	keyB = "00000000-0000-4000-8000-00000000000b"
)

// born are two orders of 100, created before all else.
const born = `
	1-2 s a create {"customer_id":"c","sku":"tea","quantity":1,"total_cents":100} | Applied PENDING 1 | create >PENDING 1
	3-4 s b create {"customer_id":"c","sku":"tea","quantity":1,"total_cents":100} | Applied PENDING 1 | create >PENDING 1
`

// lines writes a history from a short form. Each line is
//
//	FROM-TO CLIENT KEY EVENT PARAMS | ANSWER | TRANSITION
//
// where PARAMS, TRANSITION and what is behind the last bar may be missing. An ANSWER
// is OUTCOME STATE VERSION, perhaps with a further word that is snapshot@TIME or
// expects@VERSION; the word of an error, not found perhaps with the former; nothing for a call that was never answered.
// A TRANSITION is EVENT FROM>TO VERSION OUTCOME, the last Applied if missing, or none.
// An EVENT read has what was seen as JSON in the place of the answer, row the same for a
// row from before.
func lines(t testing.TB, machine, text string) []byte {
	t.Helper()
	type event struct {
		at    int
		write map[string]any
	}
	var events []event
	for n, l := range strings.Split(text, "\n") {
		if l = strings.TrimSuffix(strings.TrimSpace(l), " |"); l == "" {
			continue
		}
		parts := strings.Split(l, " | ")
		words := strings.SplitN(parts[0], " ", 5)
		require.GreaterOrEqual(t, len(words), 4, l)
		var from, to int
		_, err := fmt.Sscanf(words[0], "%d-%d", &from, &to)
		require.NoError(t, err, l)
		key := map[string]string{"a": keyA, "b": keyB}[words[2]]
		if key == "" {
			key = words[2]
		}
		id := strconv.Itoa(n)
		call := map[string]any{"type": "call", "id": id, "at": from, "client": words[1], "machine": machine, "key": key, "event": words[3]}
		if len(words) > 4 {
			call["params"] = json.RawMessage(words[4])
		}
		answer := ""
		if len(parts) > 1 {
			answer = strings.TrimSpace(parts[1])
		}
		switch words[3] {
		case "read", "row":
			seen := map[string]any{}
			require.NoError(t, json.Unmarshal([]byte(answer), &seen), l)
			seen["type"], seen["machine"], seen["key"], seen["since"], seen["at"] = words[3], machine, key, from, to
			events = append(events, event{to, seen})
			continue
		}
		back := map[string]any{"type": "return", "id": id, "at": to}
		told(t, answer, call, back)
		if len(parts) > 2 {
			back["transition"] = made(t, strings.TrimSpace(parts[2]))
		}
		events = append(events, event{from, call})
		if answer != "" {
			events = append(events, event{to, back})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	var b bytes.Buffer
	for _, e := range events {
		require.NoError(t, json.NewEncoder(&b).Encode(e.write))
	}
	return b.Bytes()
}

func told(t testing.TB, answer string, call, back map[string]any) {
	t.Helper()
	words := strings.Fields(answer)
	if failed, at, found := strings.Cut(answer, " snapshot@"); found && failed == "not found" {
		since, err := strconv.Atoi(at)
		require.NoError(t, err, answer)
		back["error"], call["since"] = failed, since
		return
	}
	if len(words) < 3 || words[0] != strings.ToUpper(words[0][:1])+words[0][1:] {
		back["error"] = answer
		return
	}
	version, err := strconv.Atoi(words[2])
	require.NoError(t, err, answer)
	back["outcome"], back["state"], back["version"] = words[0], words[1], version
	for _, more := range words[3:] {
		what, n, _ := strings.Cut(more, "@")
		at, err := strconv.Atoi(n)
		require.NoError(t, err, answer)
		switch what {
		case "snapshot":
			back["snapshot"], call["since"] = true, at
		case "expects":
			call["expect"] = at
		default:
			require.Fail(t, "no such word", more)
		}
	}
}

func made(t testing.TB, text string) map[string]any {
	t.Helper()
	if text == "none" {
		return map[string]any{}
	}
	words := strings.Fields(text)
	from, to, ok := strings.Cut(words[1], ">")
	require.True(t, ok, text)
	version, err := strconv.Atoi(words[2])
	require.NoError(t, err, text)
	outcome := "Applied"
	if len(words) > 3 {
		outcome = words[3]
	}
	return map[string]any{"event": words[0], "from": from, "to": to, "version": version, "outcome": outcome}
}

// judged checks a history in the short form.
func judged(t testing.TB, m *model.Machine, text string, o linear.Options) *linear.Verdict {
	t.Helper()
	v, err := checked(m, lines(t, m.Name, text), o)
	require.NoError(t, err)
	return v
}

func checked(m *model.Machine, text []byte, o linear.Options) (*linear.Verdict, error) {
	h, err := linear.NewHistory(m)
	if err != nil {
		return nil, err
	}
	if err := h.Read(bytes.NewReader(text), "h.jsonl"); err != nil {
		return nil, err
	}
	return linear.Check(context.Background(), h, o)
}

// oneLine joins the lines of one operation.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
