package token

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"strings"
)

// bits of randomness in a token, as bytes.
const randomBytes = 32

// encoding is strict: of two texts that differ in unused bits one is refused.
var encoding = base64.RawURLEncoding.Strict()

// Token is a token's text. It prints as a placeholder, by every verb of fmt, in
// JSON and in log/slog, also as a field of something that is printed; Reveal
// alone gives the text. The zero value is a token that nobody has issued.
type Token struct {
	// A pointer, since fmt prints the insides of unexported fields of others,
	// without asking them, but follows no pointers there.
	text *string
}

// New draws a token of the kind: its name, an underscore, and 256 bits of
// crypto/rand in base64url. It is known to no store yet; [Issue] is what a
// program calls. The error is that of Kind.Check.
func New(k Kind) (Token, error) {
	if err := k.Check(); err != nil {
		return Token{}, err
	}
	random := make([]byte, randomBytes)
	_, _ = rand.Read(random) // never fails, by its documentation
	return From(k.Name + "_" + encoding.EncodeToString(random)), nil
}

// From is the token of a text that somebody presents. Any text will do: [Use]
// says what it is worth.
func From(text string) Token { return Token{&text} }

// Reveal returns the text, to be sent to its principal and nowhere else.
func (t Token) Reveal() string {
	if t.text == nil {
		return ""
	}
	return *t.text
}

// Hash returns the SHA-256 of the text, which is what stores know of a token. ok
// is false for a text that New cannot have made; no store needs to be asked then.
func (t Token) Hash() (hash [sha256.Size]byte, ok bool) {
	name, random, _ := strings.Cut(t.Reveal(), "_")
	if !kindName.MatchString(name) || len(random) != encoding.EncodedLen(randomBytes) {
		return hash, false
	}
	if _, err := encoding.DecodeString(random); err != nil || strings.ContainsAny(random, "\r\n") {
		return hash, false
	}
	return sha256.Sum256([]byte(t.Reveal())), true
}

const placeholder = "[token]"

// String returns a placeholder.
func (t Token) String() string { return placeholder }

// Format prints a placeholder, whatever the verb.
func (t Token) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(placeholder)) }

// MarshalText returns a placeholder, which encoding/json uses too: an answer that
// is to carry the token says so by Reveal.
func (t Token) MarshalText() ([]byte, error) { return []byte(placeholder), nil }

// LogValue returns a placeholder.
func (t Token) LogValue() slog.Value { return slog.StringValue(placeholder) }
