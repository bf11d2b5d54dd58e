package commandhttp

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeyOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{"8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"},
		{`"8e03978e-40d5-43dd-bc93-6894a57f9324"`, "8e03978e-40d5-43dd-bc93-6894a57f9324"},
		{"  a \t", "a"},
		{`"a b, c; d"`, "a b, c; d"},
		{`"a\"b\\c"`, `a"b\c`},
		{`a\b`, `a\b`},
		{strings.Repeat("k", 255), strings.Repeat("k", 255)},
	} {
		key, present, problem := keyOf(http.Header{KeyHeader: {tc.in}})
		require.Empty(t, problem, tc.in)
		require.True(t, present)
		require.Equal(t, tc.want, key)
	}
	_, present, problem := keyOf(http.Header{})
	require.False(t, present)
	require.Empty(t, problem)
}

func TestImproperKeys(t *testing.T) {
	t.Parallel()
	for _, values := range [][]string{
		{""}, {"  "}, {`""`}, {"a", "a"}, {strings.Repeat("k", 256)}, {strings.Repeat("k", 10_000)},
		{"a\x00b"}, {"a\nb"}, {"a\x7f"}, {"ключ"}, {"\xff"}, {`"a` + "\t" + `b"`}, {"a b"}, {"a,b"}, {"a;b"}, {`a"b`},
		{`"a`}, {`"`}, {`"a"b`}, {`"a";p=1`}, {`"a\`}, {`"a\x"`}, {`"a", "b"`},
	} {
		key, present, problem := keyOf(http.Header{KeyHeader: values})
		require.NotEmpty(t, problem, "%q", values)
		require.True(t, present)
		require.Empty(t, key)
	}
}
