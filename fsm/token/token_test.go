package token_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/token"
)

func TestTextOfAToken(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		tok, err := token.New(pay)
		require.NoError(t, err)
		prefix, random, ok := strings.Cut(tok.Reveal(), "_")
		require.True(t, ok)
		require.Equal(t, "pay", prefix)
		raw, err := base64.RawURLEncoding.DecodeString(random)
		require.NoError(t, err)
		require.Len(t, raw, 256/8)
		require.False(t, seen[tok.Reveal()])
		seen[tok.Reveal()] = true
	}
}

// Nothing that prints a value, or something that has one inside, prints the text.
func TestTokenPrintsAsPlaceholder(t *testing.T) {
	t.Parallel()
	tok, err := token.New(pay)
	require.NoError(t, err)
	type open struct{ T token.Token }
	type closed struct{ t token.Token }
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "token", tok, "open", open{tok}, "closed", closed{tok})
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "token", tok, "open", open{tok}, "closed", closed{tok})
	asJSON, err := json.Marshal(map[string]any{"a": tok, "b": open{tok}})
	require.NoError(t, err)
	require.JSONEq(t, `{"a": "[token]", "b": {"T": "[token]"}}`, string(asJSON))
	printed := logged.String() + string(asJSON)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		require.Equal(t, "[token]", fmt.Sprintf(verb, tok))
		printed += fmt.Sprintf(verb, open{tok}) + fmt.Sprintf(verb, closed{tok}) + fmt.Sprintf(verb, []any{tok, &tok})
	}
	random := strings.TrimPrefix(tok.Reveal(), "pay_")
	require.NotContains(t, printed, random)
	require.NotContains(t, printed, fmt.Sprintf("%x", random))
}

func TestHashRefusesWhatNoTokenIs(t *testing.T) {
	t.Parallel()
	good := "pay_" + strings.Repeat("A", 43)
	_, ok := token.From(good).Hash()
	require.True(t, ok)
	for _, bad := range []string{
		"", "pay", "pay_", "_" + strings.Repeat("A", 43), strings.Repeat("A", 43),
		"pay_" + strings.Repeat("A", 42), "pay_" + strings.Repeat("A", 44), "Pay_" + strings.Repeat("A", 43),
		"pay_" + strings.Repeat("A", 42) + "=", "pay_" + strings.Repeat("A", 42) + "+", "pay_" + strings.Repeat("A", 42) + "\n",
		"pay_" + strings.Repeat("A", 42) + "\x00", "pay_" + strings.Repeat("A", 42) + "B", // bits that say nothing
		strings.Repeat("x", 10_000), "pay_" + strings.Repeat("A", 42) + "\xff",
	} {
		_, ok := token.From(bad).Hash()
		require.False(t, ok, "%q", bad)
	}
	_, ok = token.Token{}.Hash()
	require.False(t, ok)
}

func TestKindsThatCanBe(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		kind token.Kind
		ok   bool
	}{
		{"five minutes", token.Kind{Name: "a", TTL: 5 * time.Minute, Keep: time.Hour}, true},
		{"two hours", token.Kind{Name: "a1", TTL: 2 * time.Hour, Keep: 3 * time.Hour}, true},
		{"less", token.Kind{Name: "a", TTL: 5*time.Minute - 1, Keep: time.Hour}, false},
		{"more", token.Kind{Name: "a", TTL: 2*time.Hour + 1, Keep: 3 * time.Hour}, false},
		{"less, and meant", token.Kind{Name: "a", TTL: time.Minute, AnyTTL: true, Keep: time.Hour}, true},
		{"more, and meant", token.Kind{Name: "a", TTL: 24 * time.Hour, AnyTTL: true, Keep: 25 * time.Hour}, true},
		{"none", token.Kind{Name: "a", AnyTTL: true, Keep: time.Hour}, false},
		{"negative", token.Kind{Name: "a", TTL: -time.Hour, AnyTTL: true, Keep: time.Hour}, false},
		{"reply that goes with the token", token.Kind{Name: "a", TTL: time.Hour, Keep: time.Hour}, false},
		{"no name", token.Kind{TTL: time.Hour, Keep: 2 * time.Hour}, false},
		{"underscore", token.Kind{Name: "a_b", TTL: time.Hour, Keep: 2 * time.Hour}, false},
		{"long name", token.Kind{Name: strings.Repeat("a", 17), TTL: time.Hour, Keep: 2 * time.Hour}, false},
		{"newline", token.Kind{Name: "a\n", TTL: time.Hour, Keep: 2 * time.Hour}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := token.New(tc.kind)
			if tc.ok {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, fsm.ErrArgument)
		})
	}
}

// badTexts are principals and purposes that cannot be.
var badTexts = map[string]string{
	"empty":         "",
	"10,000":        strings.Repeat("sesame", 10_000/6),
	"NUL":           "sesame\x00",
	"newline":       "sesame\n",
	"C1 control":    "sesame\u0085",
	"invalid UTF-8": "sesame\xff",
}

func TestBindingsThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, text := range badTexts {
		for _, err := range []error{token.CheckBinding(text, order42), token.CheckBinding(ann, text)} {
			require.ErrorIs(t, err, fsm.ErrArgument, name)
			require.NotContains(t, err.Error(), "sesame", "no value is repeated")
		}
	}
	require.NoError(t, token.CheckBinding(strings.Repeat("é", 128), "支付订单 42"))
}
