package fsmtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValuesAreTriedOneByOneAndThenInPairs(t *testing.T) {
	t.Parallel()
	list := []guess{{0, "a", []string{"1", "2"}}, {1, "b", []string{"3"}}}
	var seen [][]Values
	n := tries([]Values{{"c": "9"}, nil}, list, func(v []Values) bool {
		seen = append(seen, v)
		return true
	})
	require.Equal(t, [][]Values{
		{{"c": "9"}, nil},
		{{"c": "9", "a": "1"}, nil}, {{"c": "9", "a": "2"}, nil}, {{"c": "9"}, {"b": "3"}},
		{{"c": "9", "a": "1"}, {"b": "3"}}, {{"c": "9", "a": "2"}, {"b": "3"}},
	}, seen)
	require.Equal(t, 6, n)
	require.Equal(t, 2, tries([]Values{nil, nil}, list, func(v []Values) bool { return v[0] == nil }), "no further than one that suits")

	// The last value of one is paired after the first ones of all.
	var pairs []Values
	tries([]Values{nil}, []guess{{0, "a", []string{"1", "2"}}, {0, "b", []string{"1", "2"}}, {0, "c", []string{"1"}}}, func(v []Values) bool {
		if len(v[0]) == 2 {
			pairs = append(pairs, v[0])
		}
		return true
	})
	require.Equal(t, []Values{
		{"a": "1", "b": "1"}, {"a": "1", "c": "1"}, {"b": "1", "c": "1"},
		{"a": "2", "b": "1"}, {"a": "1", "b": "2"}, {"a": "2", "c": "1"}, {"b": "2", "c": "1"}, {"a": "2", "b": "2"},
	}, pairs)

	many := guess{0, "a", make([]string, 2*maxGuesses)}
	require.Equal(t, maxGuesses, tries([]Values{nil}, []guess{many}, func([]Values) bool { return true }))
}

func TestGuessesAreOfWhatExpressionsRead(t *testing.T) {
	t.Parallel()
	e := &engine{m: &Machine{Columns: []Column{
		{Name: "size", Type: "integer", Check: "o.size > 0"}, {Name: "size_of", Type: "integer"}, {Name: "select", Type: "text"},
	}}, values: map[string][]string{"size": {"41"}, "@by": {"'z'"}}}
	event := &Event{Params: []Column{{Name: "by", Type: "text"}, {Name: "at", Type: "date"}},
		Transitions: []Transition{{Guard: "p.by <> 'x'", Set: []Assignment{{"select", `o."select" || 'x'`}}}}}
	list := e.guesses([]string{"size"}, event)
	require.Equal(t, "@by, size, select", names(list), "a name that begins like another is another")
	require.Equal(t, "@by, select", names(e.guesses(nil, event)), "no CHECK of what the call leaves alone")
	require.Equal(t, "'z'", list[0].values[0], "the user's come first")
	require.Equal(t, "41", list[1].values[0])
}

func TestTheUsersValuesAreRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := &Machine{Name: "tag", Before: filepath.Join(dir, "before.sql"), Events: []Event{{Params: []Column{{Name: "text", Type: "text"}}}}}
	values, err := readValues(m)
	require.NoError(t, err)
	require.Empty(t, values, "no file")
	file := filepath.Join(dir, valuesFile)
	require.NoError(t, os.WriteFile(file, []byte(`{"tag": {"@text": ["'zebra'"]}, "other": {"x": ["1"]}}`), 0o600))
	values, err = readValues(m)
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"@text": {"'zebra'"}}, values)
	for text, want := range map[string]string{
		`{"tag": ["zebra"]}`:                   "values.json:1:9: json: cannot unmarshal array",
		"{\n  \"tag\": {\"@text\": 'z'}\n}":    "values.json:2:20: invalid character",
		`{"tag": {"@txet": ["'z'"]}}`:          `tag has no column or, with @, parameter "@txet"`,
		`{"tag": {"text": ["'z'"]}}`:           `tag has no column or, with @, parameter "text"`,
		`{"tag": {"@text": ["'z'"]}`:           "values.json:1:26: unexpected end",
		`{"tag": {"@text": ["'z'"]}} {"a": 1}`: "values.json:1:29: invalid character",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, err = readValues(m)
		require.ErrorContains(t, err, want, text)
	}
}
