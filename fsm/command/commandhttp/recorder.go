package commandhttp

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/pawl-go/pawl/fsm/command"
)

// errTooLarge is what a handler's Write returns once its answer is over the cap.
var errTooLarge = errors.New("the answer is larger than the command keeps")

// recorder is the ResponseWriter of a handler. It holds the answer back.
type recorder struct {
	limit    int
	cuts     bool // what is over the limit, rather than fail
	cut      bool
	header   http.Header // the handler's, until it is sent
	status   int         // 0 until it is sent
	sent     http.Header // as it was at WriteHeader
	body     bytes.Buffer
	tooLarge bool
	sealed   bool // the reply is in a transaction
}

func newRecorder(c *command.Command, cuts bool) *recorder {
	limit := c.MaxReply
	if limit == 0 {
		limit = command.DefaultMaxReply
	}
	return &recorder{limit: limit, cuts: cuts, header: http.Header{}}
}

func (r *recorder) Header() http.Header { return r.header }

// WriteHeader takes the first status, as net/http does, and none of 1xx. Behind a
// sealed reply it takes a failure: the transaction with the reply did not commit.
func (r *recorder) WriteHeader(status int) {
	failure := r.sealed && r.status < 500 && status >= 500
	if status < 200 || r.status != 0 && !failure {
		return
	}
	if failure {
		r.body.Reset()
		r.cut = false
	}
	r.status, r.sent = status, r.header.Clone()
}

// Write buffers, up to the cap. What is cut is taken and dropped, so that the handler
// goes on to complete its work.
func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	switch {
	case r.sealed && r.status < 500:
		return 0, errors.New("the reply is complete already")
	case r.cuts && (r.cut || r.body.Len()+len(p) > r.limit):
		r.cutOff()
		return len(p), nil
	case r.body.Len()+len(p) > r.limit:
		r.tooLarge = true
		return 0, errTooLarge
	}
	if r.sent.Get("Content-Type") == "" && r.body.Len() == 0 && len(p) > 0 {
		r.sent.Set("Content-Type", http.DetectContentType(p)) // so that a replay has it as well
	}
	return r.body.Write(p)
}

// cutOff puts a note in place of the body.
func (r *recorder) cutOff() {
	if r.cut {
		return
	}
	r.cut = true
	r.body.Reset()
	r.body.Write(cutNote(r.status, r.limit))
	r.sent.Del("Content-Encoding")
	if r.sent.Del("Content-Type"); r.body.Len() > 0 {
		r.sent.Set("Content-Type", "application/problem+json")
	}
}

// reply is the answer so far; without any it is an empty 200, as net/http has it.
func (r *recorder) reply() command.Reply {
	r.WriteHeader(http.StatusOK)
	return command.Reply{Status: r.status, Header: r.sent, Body: r.body.Bytes()}
}

// failed reports an answer that may be another one next time, and is not kept: a
// server's failure, and refusals that are about the moment.
func (r *recorder) failed() bool {
	switch r.status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return r.status >= 500
}
