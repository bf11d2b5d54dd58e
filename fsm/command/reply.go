package command

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Reply is what a command answers. It is kept with the record, and given to
// everybody who sends the command again.
type Reply struct {
	// Status is an HTTP status from 200 to 499. From 400 on the reply is a
	// refusal, a business "no": it is kept as well, but what the work wrote is not.
	// Failures are errors, and never kept.
	Status int
	// Header holds what the command's allow-list names; the rest is not kept.
	Header http.Header
	Body   []byte
	// At is when the reply was first given, by the database's clock. The work
	// leaves it empty.
	At time.Time
}

// Refused reports whether the reply is a business "no".
func (r *Reply) Refused() bool { return r.Status >= 400 }

// Answer is what a call of a command returns.
type Answer struct {
	Reply
	// Replayed says that an earlier call did the work. The headers are then those
	// that were kept.
	Replayed bool
}

// maxHeaders is the greatest size of the headers that a reply keeps, in bytes.
const maxHeaders = 16 << 10

// NeverKept reports whether a header may not be kept with a reply: those that hold
// credentials or a session, those of one connection, and those that the message
// itself decides.
func NeverKept(name string) bool {
	switch name = http.CanonicalHeaderKey(name); name {
	case "Set-Cookie", "Set-Cookie2", "Cookie", "Authorization", "Authentication-Info", "Www-Authenticate",
		"Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Content-Length", "Date":
		return true
	}
	return strings.HasPrefix(name, "Proxy-")
}

// kept is a reply as its columns hold it.
type kept struct {
	status  int16
	headers []byte
	body    []byte
}

// keep makes of the work's reply what is kept, and returns ErrReply when it cannot
// be. Where the work is done already, headers that cannot be kept are left out: the
// reply without them is better than the work again.
func (c *Command) keep(r *Reply, done bool) (kept, error) {
	switch {
	case r.Status < 200 || r.Status > 499:
		return kept{}, fmt.Errorf("%w: its status is %d, not one from 200 to 499", ErrReply, r.Status)
	case len(r.Body) > c.maxReply():
		return kept{}, fmt.Errorf("%w: its body has %d bytes, more than %d", ErrReply, len(r.Body), c.maxReply())
	}
	headers, legible, err := c.keepHeaders(r.Header, done)
	if err != nil {
		return kept{}, err
	}
	body := r.Body
	if body == nil || !legible {
		body = []byte{} // NULL is for no reply at all
	}
	return kept{int16(r.Status), headers, body}, nil
}

// contentEncoding is a header that is kept whatever the list says: without it nobody
// can read the body.
const contentEncoding = "Content-Encoding"

// keepHeaders returns the headers on the list as JSON, with their names in order.
// leaveOut says to leave out what cannot be kept, the largest first where they are too
// large together, and not to fail. The body is legible unless the encoding it has is
// left out.
func (c *Command) keepHeaders(all http.Header, leaveOut bool) (text []byte, legible bool, err error) {
	header := http.Header{}
	for _, name := range append([]string{contentEncoding}, c.headers()...) {
		name = http.CanonicalHeaderKey(name)
		values := all.Values(name)
		switch wrong := slices.ContainsFunc(values, hasControl); {
		case wrong && !leaveOut:
			return nil, false, fmt.Errorf("%w: its header %s holds a control character", ErrReply, name)
		case !wrong && len(values) > 0:
			header[name] = slices.Clone(values)
		}
	}
	for {
		text, err := json.Marshal(header) // which sorts the names
		switch {
		case err != nil:
			return nil, false, fmt.Errorf("%w: %w", ErrReply, err)
		case len(text) <= maxHeaders:
			return text, len(all.Values(contentEncoding)) == len(header[contentEncoding]), nil
		case !leaveOut:
			return nil, false, fmt.Errorf("%w: its headers have %d bytes, more than %d", ErrReply, len(text), maxHeaders)
		}
		delete(header, largest(header))
	}
}

func hasControl(value string) bool { return strings.IndexFunc(value, unicode.IsControl) >= 0 }

// largest returns the name of the header with the most bytes of values, of equal ones
// the first; "" of none.
func largest(header http.Header) (name string) {
	most := -1
	for _, n := range slices.Sorted(maps.Keys(header)) {
		if size := len(strings.Join(header[n], "")); size > most {
			name, most = n, size
		}
	}
	return name
}
