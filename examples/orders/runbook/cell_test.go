package runbook_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/command"
)

// A body that is JSON is shown as such, to be read and to be pasted, and still
// controls no terminal.
func TestInspectBodiesThatAreJSON(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := &command.Command{Name: "export"}
	keep := func(key, scope, body string) {
		t.Helper()
		_, err := c.Do(t.Context(), d.pool, command.Request{Scope: scope, Key: key, Method: "POST", Path: "/export"}, func(context.Context, pgx.Tx) (command.Reply, error) {
			return command.Reply{Status: http.StatusOK, Body: []byte(body)}, nil
		})
		require.NoError(t, err)
	}
	const body = "{\"id\": 12345678901234567890,\n \"to\": [\"naïve\", \"\u202e\u009b31m \U000e0001\"]}\n"
	keep("one", "ann", body)
	text, err := d.run("inspect", "command", "one")
	require.NoError(t, err)
	const block = `{
  "id": 12345678901234567890,
  "to": [
    "naïve",
    "\u202e\u009b31m \udb40\udc01"
  ]
}`
	require.Contains(t, text, "\nbody\n"+block+"\n")
	require.JSONEq(t, body, block)

	keep("one", "bob", `{"id": 2}`)
	text, err = d.run("inspect", "command", "one")
	require.NoError(t, err)
	require.Contains(t, text, `  {"id":12345678901234567890,"to":["naïve","\u202e\u009b31m \udb40\udc01"]}`+"\n")
	require.Contains(t, text, `  {"id":2}`+"\n")

	for key, body := range map[string]string{"text": "a\nb", "half": `{"a": "` + "\n" + `"}`, "word": `"a"`, "none": "{}"} {
		keep(key, "ann", body)
	}
	d.says(`body         "a\nb"`+"\n", "inspect", "command", "text")
	d.says(`body         "{\"a\": \"\n\"}"`+"\n", "inspect", "command", "half")
	d.says(`body         "a"`+"\n", "inspect", "command", "word")
	d.says("body         {}\n", "inspect", "command", "none")

	letter := d.letter()
	text, err = d.run("inspect", "letter", letter)
	require.NoError(t, err)
	_, payload, ok := strings.Cut(sections(text)["letter"], "\npayload\n")
	require.True(t, ok, text)
	require.True(t, json.Valid([]byte(payload)))
	require.JSONEq(t, `{"to":"ann"}`, payload)
}
