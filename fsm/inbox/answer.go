package inbox

import (
	"encoding/json"
	"net/http"
)

// Answer is what a provider is told.
type Answer struct {
	Status      int
	ContentType string // none without a body
	Body        string
}

// write sends the answer.
func (a Answer) write(w http.ResponseWriter) {
	if a.ContentType != "" {
		w.Header().Set("Content-Type", a.ContentType)
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(a.Status)
	_, _ = w.Write([]byte(a.Body)) // nobody is left to be told
}

// Answers are a provider's ways of being told.
type Answers struct {
	// Accepted says that the provider has done its part.
	Accepted Answer
	// Failed says that it has not, with an HTTP status and a few words.
	Failed func(status int, words string) Answer
}

const plainText = "text/plain; charset=utf-8"

func plainly(status int, words string) Answer {
	return Answer{Status: status, ContentType: plainText, Body: words + "\n"}
}

// PlainAnswers accept by an empty 200 and tell failures by the status.
func PlainAnswers() Answers {
	return Answers{Accepted: Answer{Status: http.StatusOK}, Failed: plainly}
}

// AdyenAnswers accept by [accepted].
func AdyenAnswers() Answers {
	return Answers{Accepted: Answer{Status: http.StatusOK, ContentType: plainText, Body: "[accepted]"}, Failed: plainly}
}

// AlipayAnswers are exactly the letters success, or fail.
func AlipayAnswers() Answers {
	return Answers{
		Accepted: Answer{Status: http.StatusOK, ContentType: plainText, Body: "success"},
		Failed: func(status int, _ string) Answer {
			return Answer{Status: status, ContentType: plainText, Body: "fail"}
		},
	}
}

// WeChatAnswers accept by an empty 204 and fail by a 4xx or 5xx with the code
// FAIL: a 200 with it would not come again.
func WeChatAnswers() Answers {
	return Answers{
		Accepted: Answer{Status: http.StatusNoContent},
		Failed: func(status int, words string) Answer {
			body, _ := json.Marshal(struct { // two texts always encode
				Code    string `json:"code"`
				Message string `json:"message"`
			}{"FAIL", words})
			return Answer{Status: status, ContentType: "application/json", Body: string(body)}
		},
	}
}
