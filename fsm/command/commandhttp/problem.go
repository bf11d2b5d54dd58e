package commandhttp

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command"
)

// problem is a refusal as RFC 9457 has it. The type is "about:blank"; Code tells a
// program what the status alone does not.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Code   string `json:"code"`
}

func badKey(what string) problem {
	return problem{Status: http.StatusBadRequest, Code: "key", Detail: "the header " + KeyHeader + " " + what}
}

// problemOf says what the sender is told about an error. It shows no text of the
// error: that may hold values. began says that the handler was called under a lease:
// what it did is not undone.
func problemOf(err error, began bool) problem {
	done := "nothing was done"
	if began {
		done = "what was done before that may stay"
	}
	var large *http.MaxBytesError
	var connect *pgconn.ConnectError
	switch {
	case errors.As(err, &large):
		return problem{Status: http.StatusRequestEntityTooLarge, Code: "body",
			Detail: "the body is over " + strconv.FormatInt(large.Limit, 10) + " bytes"}
	case errors.Is(err, errCaller):
		return problem{Status: http.StatusUnauthorized, Code: "caller", Detail: "it is not known who sends this"}
	case errors.Is(err, errBodyLost):
		return problem{Status: http.StatusBadRequest, Code: "body", Detail: "the body could not be read"}
	case errors.Is(err, command.ErrBody):
		return problem{Status: http.StatusBadRequest, Code: "body", Detail: "the body is not JSON, or repeats a name, perhaps in another case"}
	case errors.Is(err, command.ErrMismatch):
		return problem{Status: http.StatusUnprocessableEntity, Code: "mismatch", Detail: "the key was used for another request"}
	case errors.Is(err, command.ErrInProgress), errors.Is(err, command.ErrLeaseLost):
		return problem{Status: http.StatusConflict, Code: "in_progress", Detail: "an equal request is in progress; send this one again later"}
	case errors.Is(err, fsm.ErrArgument):
		return problem{Status: http.StatusBadRequest, Code: "key", Detail: "the caller or the key is of no use as such"}
	case errors.Is(err, command.ErrReply):
		return problem{Status: http.StatusInternalServerError, Code: "reply", Detail: "the answer cannot be kept; " + done}
	case errors.Is(err, fsm.ErrUnknown):
		return problem{Status: http.StatusServiceUnavailable, Code: "unknown",
			Detail: "whether this took effect is not known; the same request again is safe"}
	case fsm.Retryable(err), errors.As(err, &connect),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return problem{Status: http.StatusServiceUnavailable, Code: "again", Detail: "it failed for the moment, and " + done + "; send the same request again"}
	}
	return problem{Status: http.StatusInternalServerError, Code: "failed", Detail: "the request failed, and " + done}
}

// cutNote stands for the body of an answer that is over the cap, where the work is
// done: it is empty where it is over the cap itself.
func cutNote(status, limit int) []byte {
	text, err := json.Marshal(problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: "reply_cut",
		Detail: "the answer is over " + strconv.Itoa(limit) + " bytes and was not kept; its status stands"})
	if err != nil || len(text) > limit {
		return nil
	}
	return text
}

// write sends p. What is worth another try says when.
func (p problem) write(w http.ResponseWriter, again time.Duration) {
	p.Type, p.Title = "about:blank", http.StatusText(p.Status)
	text, err := json.Marshal(p)
	if err != nil {
		text = nil // a problem has nothing that cannot be encoded
	}
	if p.Status == http.StatusConflict || p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(again.Seconds()))))
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(p.Status)
	_, _ = w.Write(text)
}
