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
	limit  int
	cuts   bool        // what is over the limit, rather than fail
	header http.Header // the handler's, until it is sent
	answer             // what is being written
	// kept is what the last completion put into its transaction, which may have
	// been rolled back since: the lease knows. Nil before.
	kept *answer
	// again says that CompleteTx was called, so what is written now is either of
	// the transaction's next run, or says that it failed.
	again bool
}

// answer is what a handler has written of one answer.
type answer struct {
	cut      bool        // a note stands in place of the body
	status   int         // 0 until it is sent
	sent     http.Header // as it was at WriteHeader
	body     bytes.Buffer
	tooLarge bool
}

func newRecorder(c *command.Command, cuts bool) *recorder {
	limit := c.MaxReply
	if limit == 0 {
		limit = command.DefaultMaxReply
	}
	return &recorder{limit: limit, cuts: cuts, header: http.Header{}}
}

// Header returns the header that the handler fills. What it holds at WriteHeader is sent.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader takes the first status, as net/http does, and none of 1xx. Behind a
// completion a failure takes the place of whatever was written since: the
// transaction with the reply did not commit.
func (r *recorder) WriteHeader(status int) {
	failure := r.again && r.status < 500 && status >= 500
	if status < 200 || r.status != 0 && !failure {
		return
	}
	r.answer = answer{status: status, sent: r.header.Clone()}
}

// Write buffers, up to the cap. What is cut is taken and dropped, so that the handler
// goes on to complete its work.
func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	switch {
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

// complete ends the answer so far with what became of its completion, and begins
// another: a transaction that runs again writes all of its answer again.
func (r *recorder) complete(err error) {
	if err == nil {
		kept := r.answer
		r.kept = &kept
	}
	r.answer, r.again = answer{}, true
	clear(r.header)
}

// last is the answer that the handler ended with: what it completed, unless it has
// said since that this failed.
func (r *recorder) last() *answer {
	if r.kept != nil && !r.failed() {
		return r.kept
	}
	r.WriteHeader(http.StatusOK) // without any it is an empty 200, as net/http has it
	return &r.answer
}

func (a *answer) reply() command.Reply {
	return command.Reply{Status: a.status, Header: a.sent, Body: a.body.Bytes()}
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

// failed reports an answer that may be another one next time, and is not kept: a
// server's failure, and refusals that are about the moment.
func (a *answer) failed() bool {
	switch a.status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return a.status >= 500
}
