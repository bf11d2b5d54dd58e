package command

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"mime"
	"strings"
)

// fingerprint is the SHA-256 of what a request asks.
type fingerprint [sha256.Size]byte

// currentAlgorithm is what new records get. A record keeps the number of its own,
// and a request is compared by that one: a change here must be a new number, with
// the old one kept for as long as its records are.
//
// Algorithm 1 leaves the condition out: a request is equal to one of its records
// whatever its condition is.
const currentAlgorithm = 2

// fingerprintBy computes the request's fingerprint by an algorithm, ErrAlgorithm
// for one that does not exist, and ErrBody for a body that is not what it says.
func (r *Request) fingerprintBy(algorithm int16) (fingerprint, error) {
	if algorithm < 1 || algorithm > currentAlgorithm {
		return fingerprint{}, fmt.Errorf("%w: number %d", ErrAlgorithm, algorithm)
	}
	body, kind := r.Body, "raw"
	if len(body) > 0 && isJSON(r.ContentType) {
		canonical, err := canonicalJSON(body)
		if err != nil {
			return fingerprint{}, err
		}
		body, kind = canonical, "json"
	}
	parts := []string{r.Principal, r.Method, r.Path, kind, string(body)}
	if algorithm > 1 {
		parts = append(parts, r.Condition)
	}
	// Each part goes in behind its length, so that no two lists of parts are one text.
	text := binary.BigEndian.AppendUint16(nil, uint16(algorithm))
	for _, part := range parts {
		text = binary.BigEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	return sha256.Sum256(text), nil
}

// isJSON reports whether the content type is JSON's, or one on top of it.
func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
}
