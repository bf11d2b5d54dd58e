package inbox

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Handler serves one provider's endpoint, or returns ErrProvider. It reads the
// body up to the provider's bound and answers as the provider wants it: another
// method is 405, a content type that is clearly another 415, too large a body 413, a
// delivery that is not believed 401, and a genuine one that is not understood 422.
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
	if anotherKind(r.Header.Values("Content-Type"), p.ContentType) {
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

// anotherKind tells whether a header says clearly that the body is not of the media
// type wanted in UTF-8. What it says is no part of any signature, and providers say
// it carelessly: Alipay sends "application/x-www-form-urlencoded; text/html;
// charset=utf-8", others "utf8" or nothing. So what is not clear passes, and the
// signature and Parse judge the body.
func anotherKind(types []string, want string) bool {
	for _, text := range types {
		media, parameters, _ := strings.Cut(strings.ReplaceAll(text, ",", ";"), ";")
		if media = plain(media); media != "" && media != plain(want) && !(isJSON(media) && isJSON(plain(want))) {
			return true
		}
		for parameter := range strings.SplitSeq(parameters, ";") {
			name, value, _ := strings.Cut(parameter, "=")
			if plain(name) == "charset" && !isUTF8(plain(value)) {
				return true
			}
		}
	}
	return false
}

// plain is a word of a header in lower case, without quotes and space around it.
func plain(word string) string {
	return strings.ToLower(strings.Trim(word, " \t\"'"))
}

// isJSON knows the media types whose body is JSON.
func isJSON(media string) bool {
	return media == jsonType || media == "text/json" || strings.HasSuffix(media, "+json")
}

// isUTF8 knows the names of UTF-8, of ASCII, which is part of it, and of nothing.
func isUTF8(charset string) bool {
	switch strings.NewReplacer("-", "", "_", "").Replace(charset) {
	case "", "utf8", "usascii", "ascii":
		return true
	}
	return false
}
