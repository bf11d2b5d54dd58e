package sheet

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTextsThatMayRunAreNeutralised(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                   "",
		"plain":              "plain",
		"a=b, 1+1, x@y":      "a=b, 1+1, x@y",
		"'quoted'":           "'quoted'",
		"待支付":                "待支付",
		"=1+1":               "'=1+1",
		"=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0",
		"+1":                 "'+1",
		"-1":                 "'-1",
		"@SUM(A1)":           "'@SUM(A1)",
		"\tx":                "'\tx",
		"\rx":                "'\rx",
		"\nx":                "'\nx",
		"\t=1":               "'\t'=1",
		"  =1":               "'  =1",
		`"=1`:                `'"=1`,
		"'=1":                "''=1",
		"' \"=1":             "'' \"=1",
		"\u00A0=1":           "'\u00A0=1",
		"\uFEFF=1":           "'\uFEFF=1",
		"\u200B=1":           "'\u200B=1",
		"\x00=1":             "'\x00=1",
		"\uFF1D1":            "'\uFF1D1", // full-width =
		"\uFF0B1":            "'\uFF0B1",
		"\uFF0D1":            "'\uFF0D1",
		"\uFF20A":            "'\uFF20A",
		"\uFE661":            "'\uFE661", // small =
		"a;=1":               "a;'=1",
		"a; =1":              "a;' =1",
		"a\t@x":              "a\t'@x",
		"a\n-b\r\n+c":        "a\n'-b\r\n'+c",
		"a;'=1":              "a;''=1",
		"a\n\nb":             "a\n\nb",
		"\xff=1":             "\xff=1", // no character at all: no program skips it
	} {
		require.Equal(t, want, Neutral(text), "%q", text)
		require.Equal(t, text, Original(want), "%q", text)
	}
}

func TestTextsThatNeedNothingAreGivenBackAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"'", "''", "'a", "it's", "'\"", "a;'b", "' "} {
		require.Equal(t, text, Neutral(text))
		require.Equal(t, text, Original(text))
	}
}

func FuzzNeutralIsReversible(f *testing.F) {
	for _, seed := range []string{"=1", "'=1", "\t'=", ";'';-", "'\r\n'@", "\uFEFF'\uFF1D"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		neutral := Neutral(text)
		require.Equal(t, text, Original(neutral))
		if neutral != "" {
			require.NotContains(t, "=+-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20", string([]rune(neutral)[:1]))
		}
	})
}
