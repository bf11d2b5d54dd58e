package inbox

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
)

// Handler serves one provider's endpoint, or returns ErrProvider. It reads the
// body up to the provider's bound and answers as the provider wants it: another
// method is 405, another content type 415, too large a body 413, a delivery that
// is not believed 401, and a genuine one that is not understood 422.
func (i *Inbox) Handler(provider string) (http.Handler, error) {
	p := i.providers[provider]
	if p == nil {
		return nil, fmt.Errorf("%w: %q", ErrProvider, provider)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.serve(w, r, p).write(w)
	}), nil
}

func (i *Inbox) serve(w http.ResponseWriter, r *http.Request, p *Provider) Answer {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return p.Answers.Failed(http.StatusMethodNotAllowed, "POST only")
	}
	types := r.Header.Values("Content-Type")
	if len(types) != 1 || !isType(types[0], p.ContentType) {
		receipt, _ := i.refuse(r.Context(), p, http.StatusUnsupportedMediaType, "content_type", errors.New("another content type"))
		return receipt.Answer
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, p.MaxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		receipt, _ := i.refuse(r.Context(), p, http.StatusRequestEntityTooLarge, "too_large", errTooLarge)
		return receipt.Answer
	case err != nil:
		return p.Answers.Failed(http.StatusBadRequest, "the body ended early")
	}
	receipt, err := i.Receive(r.Context(), p.Name, r.Header, body)
	if err != nil && i.Failed != nil && !errors.Is(err, ErrRefused) {
		i.Failed(err)
	}
	return receipt.Answer
}

// isType tells whether a content type is the media type wanted, in UTF-8.
func isType(text, want string) bool {
	media, parameters, err := mime.ParseMediaType(text)
	charset, given := parameters["charset"]
	return err == nil && media == want && (!given || strings.EqualFold(charset, "utf-8"))
}
