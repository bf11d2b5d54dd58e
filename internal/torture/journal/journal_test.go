package journal

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func all(t *testing.T, path string) (entries []Entry) {
	t.Helper()
	require.NoError(t, Read(path, func(e Entry) error {
		entries = append(entries, e)
		return nil
	}))
	return entries
}

// What was asked and told is read as it was written; what was in flight has no answer.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	w, err := Create(path)
	require.NoError(t, err)
	first := &Call{ID: "1", Machine: "order", Event: "pay", Key: "k", Params: map[string]any{"no": "P"}, Then: true}
	second := &Call{ID: "2", Machine: "order", Event: "ship", Key: "k"}
	w.Ask(first, second)
	answer := &Answer{ID: "1", Outcome: "Applied", Version: 2, Made: Made{Event: "pay", Version: 2}}
	w.Tell(answer)
	w.Note("used", "a token")
	require.LessOrEqual(t, first.At, answer.At)
	require.Equal(t, []Entry{{Call: first, Answer: answer}, {Note: &Note{"used", "a token"}}, {Call: second}}, all(t, path))
	require.NoError(t, w.Close())
	_, err = Create(path)
	require.ErrorIs(t, err, os.ErrExist)
}

// A kill may tear the last line; another one that is torn is an error.
func TestTornLines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	const call = `{"q":{"id":"1","m":"order"}}` + "\n"
	require.NoError(t, os.WriteFile(path, []byte(call+`{"a":{"id":"1","o":"App`), 0o600))
	entries := all(t, path)
	require.Len(t, entries, 1)
	require.Nil(t, entries[0].Answer)
	for _, bad := range []string{"{\n" + call, `{"a":{"id":"9"}}` + "\n"} {
		require.NoError(t, os.WriteFile(path, []byte(bad), 0o600))
		require.ErrorContains(t, Read(path, func(Entry) error { return nil }), path+":1: ")
	}
}
