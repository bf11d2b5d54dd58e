package storm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// requestTimeout is how long a caller waits for an answer.
const requestTimeout = 20 * time.Second

// client is everybody who tells the shop something, over real HTTP.
type client struct {
	http     *http.Client
	base     string
	provider *Provider
	now      func() time.Time
}

func newClient(base string, p *Provider, now func() time.Time, workers int) *client {
	transport := &http.Transport{MaxIdleConns: workers, MaxIdleConnsPerHost: workers, DisableCompression: true}
	return &client{http: &http.Client{Transport: transport, Timeout: requestTimeout}, base: base, provider: p, now: now}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// reply is an answer as the caller understands it. settled is false where the
// caller comes again.
type reply struct {
	told    fsm.Outcome
	settled bool
	took    time.Duration
}

// tell sends one request about a purchase. An error means that nothing was answered.
func (c *client) tell(ctx context.Context, a action, p purchase) (reply, error) {
	req, err := c.request(ctx, a, p)
	if err != nil {
		return reply{}, err
	}
	began := time.Now()
	resp, err := c.http.Do(req)
	if err != nil {
		return reply{}, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close() // it was read to its end, or err says why not
	if err != nil {
		return reply{}, err
	}
	r := understood(a, resp.StatusCode, body)
	r.took = time.Since(began)
	return r, nil
}

func (c *client) request(ctx context.Context, a action, p purchase) (*http.Request, error) {
	if a.callback() {
		path, header, body, err := c.provider.deliver(a, p.id, c.now())
		if err != nil {
			return nil, err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header = header
		return req, nil
	}
	method, path, content := userRequest(a, p)
	body, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if a.trick == oldVersion {
		req.Header.Set("If-Match", `"1"`)
	}
	return req, nil
}

func userRequest(a action, p purchase) (method, path string, body any) {
	path = "/orders/" + p.id
	switch a.event {
	case eventCreate:
		return http.MethodPost, "/orders", map[string]any{
			"order_id": p.id, "customer_id": p.customer, "sku": p.sku, "quantity": p.quantity, "total_cents": p.total,
		}
	case order.EventPay:
		return http.MethodPost, path + "/pay", map[string]any{"payment_no": a.number}
	case order.EventCancel:
		return http.MethodDelete, path, nil
	case order.EventRefund:
		return http.MethodPost, path + "/refunds", map[string]any{"refund_no": a.number, "amount_cents": a.amount}
	}
	return http.MethodPost, path + "/" + string(a.event), nil // ship, receive
}

// understood reads an answer as its caller does.
func understood(a action, status int, body []byte) reply {
	var said struct {
		Outcome fsm.Outcome `json:"outcome"`
	}
	// An answer without a body, or with another, says no outcome: that is fine.
	_ = json.Unmarshal(body, &said)
	switch {
	case status == http.StatusUnauthorized:
		return reply{told: toldRefused, settled: true}
	case status == http.StatusNotFound:
		return reply{told: toldNotYet}
	case status >= http.StatusInternalServerError || status == http.StatusTooManyRequests:
		return reply{told: fsm.Outcome(fmt.Sprint(status))}
	case status < 300 && said.Outcome == "":
		return reply{told: toldDone, settled: true}
	case said.Outcome == "":
		return reply{told: fsm.Outcome(fmt.Sprint(status)), settled: true}
	case a.callback() && status >= 300: // the provider knows no refusals
		return reply{told: said.Outcome}
	}
	return reply{told: asTold(a.event, said.Outcome), settled: true}
}

// call asks the shop for something that is no part of the storm.
func (c *client) call(ctx context.Context, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // the answer was read, or is of no use
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	if out == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

// fill sets the stock of articles.
func (c *client) fill(ctx context.Context, stock []shelf) error {
	for _, s := range stock {
		if err := c.call(ctx, http.MethodPut, "/stock/"+s.sku, map[string]int64{"quantity": s.quantity}, nil); err != nil {
			return err
		}
	}
	return nil
}
