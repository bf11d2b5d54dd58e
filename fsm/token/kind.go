package token

import (
	"fmt"
	"regexp"
	"time"

	"github.com/pawl-go/pawl/fsm"
)

// The limits of a Kind that does not say AnyTTL: less is over before a person has
// filled in a form, more is a password.
const (
	MinTTL = 5 * time.Minute
	MaxTTL = 2 * time.Hour
)

// Kind says what all tokens of one kind have in common.
type Kind struct {
	// Name is the prefix of the token's text, so that one who finds it in a log
	// knows what it is: 1 to 16 lower-case letters and digits, a letter first.
	Name string
	// TTL is how long a token may be used, from MinTTL to MaxTTL.
	TTL time.Duration
	// AnyTTL allows any TTL of a millisecond and more.
	AnyTTL bool
	// Keep is how long the reply of the use is kept for later uses, from the use
	// on. It must be longer than TTL: then a client that tries until its token is
	// over always learns what the first try did.
	Keep time.Duration
}

var kindName = regexp.MustCompile(`^[a-z][a-z0-9]{0,15}$`)

// Check returns nil for a kind that can be issued, and otherwise fsm.ErrArgument
// with the reason.
func (k Kind) Check() error {
	switch {
	case !kindName.MatchString(k.Name):
		return fmt.Errorf("%w: the name of a kind has 1 to 16 lower-case letters and digits, a letter first", fsm.ErrArgument)
	case k.TTL < time.Millisecond:
		return fmt.Errorf("%w: the TTL of kind %s is not positive", fsm.ErrArgument, k.Name)
	case !k.AnyTTL && (k.TTL < MinTTL || k.TTL > MaxTTL):
		return fmt.Errorf("%w: the TTL of kind %s is not from %v to %v", fsm.ErrArgument, k.Name, MinTTL, MaxTTL)
	case k.Keep <= k.TTL:
		return fmt.Errorf("%w: kind %s keeps replies no longer than its tokens live", fsm.ErrArgument, k.Name)
	}
	return nil
}
