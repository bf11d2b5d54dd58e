package command

import (
	"fmt"

	"github.com/pawl-go/pawl/fsm"
)

// MaxText is the greatest size of a scope, a command's name and a key each, in
// bytes.
const MaxText = 255

// Request is one sending of a command: whose it is, the key that its sender chose,
// and what it asks. All but Scope and Key goes into the fingerprint, as it is.
type Request struct {
	// Scope is who the key belongs to: the authenticated principal, or its
	// tenant. It must not come from what a sender may choose freely.
	Scope string
	// Key is what the sender calls this command; equal keys are one command.
	Key string

	// Principal is who asks, where a scope has several.
	Principal string
	// Method is the HTTP method, and Path the concrete path with its query, as
	// /orders/17/pay?notify=1, not as a route's pattern.
	Method, Path string
	// Condition is what must hold for the command to be done, such as an If-Match with
	// its value; "" is none. With another one it is another request.
	Condition string
	// ContentType says what Body is. JSON (application/json, or +json) counts by
	// what it says, see [ErrBody]; anything else byte by byte.
	ContentType string
	Body        []byte
}

// check refuses what cannot be a key. It names what is wrong and never shows it.
func (r *Request) check() error {
	if err := checkText("scope", r.Scope); err != nil {
		return err
	}
	return checkText("key", r.Key)
}

// checkText refuses a text that is empty, over MaxText bytes, not UTF-8, or with a
// control character.
func checkText(name, value string) error {
	problem := fsm.TextProblem(value, MaxText)
	if problem == "" {
		return nil
	}
	return fmt.Errorf("%w: the %s %s", fsm.ErrArgument, name, problem)
}
