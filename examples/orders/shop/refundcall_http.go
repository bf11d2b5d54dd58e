package shop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/webhook"
)

// RefundProvider gives money back, once for each key. Its errors say what is
// known, in the words of package attempt: attempt.Refuse, ErrPending, ErrNotSent
// and, of Find, ErrNotThere; any other error means that the outcome is not known.
// They are kept and logged, so they must hold no secrets.
type RefundProvider interface {
	// Refund asks for {refund_no, order_id, payment_no, amount_cents}. A key that
	// is known already is answered as before, and nothing is given twice.
	Refund(ctx context.Context, key string, request json.RawMessage) (attempt.Result, error)
	// Find looks up what became of a key.
	Find(ctx context.Context, key string) (attempt.Result, error)
}

// RefundAPI is a RefundProvider by HTTP; the package comment has its protocol. It
// prints as its address, by every verb of fmt, in JSON and in log/slog.
type RefundAPI struct {
	base   string
	token  webhook.Secret
	client *http.Client
}

// maxAnswer is the greatest size of a provider's answer that is read, in bytes.
const maxAnswer = 64 << 10

// NewRefundAPI returns a client of the provider at base, an http or https URL
// without a user, query and fragment. The token is sent with every request and
// shown to nobody.
func NewRefundAPI(base string, token webhook.Secret) (*RefundAPI, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.ContainsAny(base, "?#") {
		return nil, &SettingError{"PROVIDER_URL", "is not a URL such as https://provider.example/v1"}
	}
	if token.Reveal() == "" {
		return nil, &SettingError{"PROVIDER_TOKEN", "is not set, and PROVIDER_URL is: both or neither"}
	}
	if text := token.Reveal(); strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, &SettingError{"PROVIDER_TOKEN", "is not a token of visible ASCII characters"}
	}
	// Another address is not a provider that we know: it gets neither token nor request.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &RefundAPI{base: strings.TrimRight(base, "/"), token: token, client: &http.Client{CheckRedirect: stay}}, nil
}

// String names the provider by its address.
func (p *RefundAPI) String() string {
	if p == nil {
		return "no provider"
	}
	return "provider at " + p.base
}

// Format prints String, whatever the verb.
func (p *RefundAPI) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, p.String()) }

// MarshalText returns String, for JSON too.
func (p *RefundAPI) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// LogValue returns String.
func (p *RefundAPI) LogValue() slog.Value { return slog.StringValue(p.String()) }

// Refund sends POST /refunds.
func (p *RefundAPI) Refund(ctx context.Context, key string, request json.RawMessage) (attempt.Result, error) {
	return p.ask(ctx, http.MethodPost, "/refunds", key, request)
}

// Find sends GET /refunds/{key}.
func (p *RefundAPI) Find(ctx context.Context, key string) (attempt.Result, error) {
	return p.ask(ctx, http.MethodGet, "/refunds/"+url.PathEscape(key), key, nil)
}

func (p *RefundAPI) ask(ctx context.Context, method, path, key string, body []byte) (attempt.Result, error) {
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, bytes.NewReader(body))
	if err != nil {
		return attempt.Result{}, fmt.Errorf("%w: %w", attempt.ErrNotSent, err)
	}
	req.Header.Set("Authorization", "Bearer "+p.token.Reveal())
	if method == http.MethodPost {
		req.Header.Set("Idempotency-Key", key)
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := attempt.Do(p.client, req)
	if err != nil {
		return attempt.Result{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	var said struct{ ID, Code string }
	unread := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&said)
	if err := judge(method, resp.StatusCode); err != nil {
		switch refused := errors.Is(err, attempt.ErrRefused); {
		case refused && unread == nil && printable(said.Code):
			err = attempt.Refuse(said.Code)
		case refused && method == http.MethodGet: // the look-up was refused, perhaps, and not the refund
			err = fmt.Errorf("http %d without a code", resp.StatusCode)
		}
		return attempt.Result{}, err
	}
	if unread != nil || !printable(said.ID) {
		// It may be the page of somebody in between; the look-up will tell.
		return attempt.Result{}, fmt.Errorf("http %d without a refund's id", resp.StatusCode)
	}
	return attempt.Result{Ref: said.ID}, nil
}

// judge is what a status says of the refund. Only 422 refuses it: any other 4xx,
// 404 of a send too, may come from a wrong address or token, which will be mended.
func judge(method string, status int) error {
	switch {
	case status == http.StatusAccepted:
		return attempt.ErrPending
	case status == http.StatusNotFound && method == http.MethodGet:
		return attempt.ErrNotThere
	case status == http.StatusUnprocessableEntity, status < 400, status >= 500:
		return attempt.FromStatus(status)
	}
	return fmt.Errorf("http %d", status)
}
