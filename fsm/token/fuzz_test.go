package token

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// issuable is what New makes, by its own words.
var issuable = regexp.MustCompile(`\A[a-z][a-z0-9]{0,15}_[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]\z`)

// FuzzToken: a text is asked for in a store only if it may have been issued, another
// text is another token, and no way of printing one shows it.
func FuzzToken(f *testing.F) {
	const genuine = "reset_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
	for _, text := range []string{
		genuine, "", "_", "reset_", "reset", genuine + "\n", genuine[:len(genuine)-1] + "9", "reset_" + genuine, strings.ToUpper(genuine), " " + genuine, "r\u0435set" + genuine[5:],
		"reset_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBka\nGxwdHh", "reset_+/ECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
	} {
		f.Add(text, uint16(9), byte(1))
	}
	f.Fuzz(func(t *testing.T, text string, at uint16, bit byte) {
		token := From(text)
		hash, ok := token.Hash()
		require.Equal(t, issuable.MatchString(text), ok, "%q", text)
		if !ok {
			require.Zero(t, hash)
		}
		require.Equal(t, text, token.Reveal())
		if text != "" && bit != 0 {
			changed := []byte(text)
			changed[int(at)%len(text)] ^= bit
			if other, also := From(string(changed)).Hash(); also && ok {
				require.NotEqual(t, hash, other)
			}
		}
		if len(text) > len(placeholder)+8 {
			encoded, err := json.Marshal(map[string]any{"token": token})
			require.NoError(t, err)
			for _, shown := range []string{fmt.Sprint(token), fmt.Sprintf("%#v %+v %s %q %x %d", token, token, token, token, token, token), fmt.Sprintf("%v", struct{ t Token }{token}), string(encoded), token.LogValue().String()} {
				require.NotContains(t, shown, text)
			}
		}
	})
}
