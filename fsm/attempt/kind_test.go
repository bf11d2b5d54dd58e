package attempt_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/attempt"
)

// A kind that cannot work is refused before any SQL: there is no database here.
func TestKindsThatCannotWork(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*attempt.Kind){
		"no name":          func(k *attempt.Kind) { k.Name = "" },
		"a long name":      func(k *attempt.Kind) { k.Name = strings.Repeat("k", 101) },
		"no call":          func(k *attempt.Kind) { k.Call = nil },
		"no completion":    func(k *attempt.Kind) { k.Complete = nil },
		"no look-up":       func(k *attempt.Kind) { k.Query = nil },
		"two look-ups":     func(k *attempt.Kind) { k.RepeatIsQuery = true },
		"a lease too long": func(k *attempt.Kind) { k.Policy.CallTimeout = 1 << 62 },
		"a short lease":    func(k *attempt.Kind) { k.Policy.Lease = k.Policy.CallTimeout },
		"a negative lease": func(k *attempt.Kind) { k.Policy.Lease = -time.Second },
		"a negative wait":  func(k *attempt.Kind) { k.Policy.Base = -1 },
		"negative rounds":  func(k *attempt.Kind) { k.Policy.MaxRounds = -1 },
		"an empty step":    func(k *attempt.Kind) { k.Steps = []attempt.Step{{Name: "a"}} },
		"a nameless step":  func(k *attempt.Kind) { k.Steps = []attempt.Step{{Do: reserve}} },
		"a step twice":     func(k *attempt.Kind) { k.Steps = []attempt.Step{{Name: "a", Do: reserve}, {Name: "a", Do: reserve}} },
	} {
		kind := refundKind("http://127.0.0.1")
		spoil(kind)
		_, _, err := attempt.Start(t.Context(), nil, kind, "r1", nil)
		require.ErrorIs(t, err, attempt.ErrArgument, name)
		_, err = attempt.Drive(t.Context(), nil, kind, "00000000-0000-4000-8000-000000000000")
		require.ErrorIs(t, err, attempt.ErrArgument, name)
		require.Zero(t, kind.MaxRound(), name)
	}
	_, err := attempt.Drive(t.Context(), nil, nil, "")
	require.ErrorIs(t, err, attempt.ErrArgument)
	require.Equal(t, 60*time.Second+2*10*time.Second+20*time.Second, refundKind("").MaxRound())
}

// Waits double, stay in the upper half of their bound, and end at Max.
func TestWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t, fails500, fails500, fails500, fails500, fails500)
	b.kind.Policy.Base, b.kind.Policy.Max = 100*time.Second, 500*time.Second
	a := b.start("r1")
	for _, bound := range []time.Duration{100, 200, 400, 500, 500} {
		_, err := b.drive(a.ID)
		var unfinished *attempt.UnfinishedError
		require.True(t, errors.As(err, &unfinished))
		require.GreaterOrEqual(t, unfinished.Wait, bound*time.Second/2)
		require.LessOrEqual(t, unfinished.Wait, bound*time.Second)
		var due float64
		require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT extract(epoch FROM due - clock_timestamp())::float8 FROM fsm_attempts`).Scan(&due))
		require.InDelta(t, unfinished.Wait.Seconds(), due, 20)
	}
}

// What HTTP says by itself: a refusal is final, so that only what was judged and
// will never be done is one. 423 and 409 may come while an earlier send is at work.
func TestFromStatus(t *testing.T) {
	t.Parallel()
	for status := 100; status < 600; status++ {
		err := attempt.FromStatus(status)
		switch {
		case status/100 == 2:
			require.NoError(t, err)
		case status == 400, status == 402, status == 422:
			require.ErrorIs(t, err, attempt.ErrRefused)
		default:
			require.EqualError(t, err, fmt.Sprintf("http %d", status))
			require.NotErrorIs(t, err, attempt.ErrRefused, status)
		}
		require.NotErrorIs(t, err, attempt.ErrNotSent)
	}
	var refused *attempt.RefusedError
	require.ErrorAs(t, attempt.FromStatus(422), &refused)
	require.Equal(t, "http 422", refused.Code)
}

// A kept connection breaks under a request with an Idempotency-Key, net/http
// sends it again by itself, and that time nobody listens: "connection refused" is
// then said of a request that was received.
func TestRefusedConnectionIsNoProof(t *testing.T) {
	t.Parallel()
	received := make(chan struct{}, 1)
	var server *httptest.Server
	first := true
	server = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if first {
			first = false
			return
		}
		received <- struct{}{}
		_ = server.Listener.Close()
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(server.Close)
	client := &http.Client{Transport: &http.Transport{}}
	post := func() error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, nil)
		require.NoError(t, err)
		req.Header.Set("Idempotency-Key", "k")
		resp, err := attempt.Do(client, req)
		if err == nil {
			return resp.Body.Close()
		}
		return err
	}
	require.NoError(t, post())
	err := post()
	<-received
	require.ErrorContains(t, err, "refused")
	require.NotErrorIs(t, err, attempt.ErrNotSent)

	require.ErrorIs(t, post(), attempt.ErrNotSent, "this one was never connected")
	_, err = attempt.Do(nil, nil)
	require.ErrorIs(t, err, attempt.ErrNotSent)
}

// A provider's odd words do not undo what it did.
func TestOddAnswers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, answer := range map[string]attempt.Result{
		"control characters": {Ref: "a\x00b\n\xff"},
		"no JSON":            {Data: []byte(`{`)},
		"not UTF-8":          {Data: []byte("\"\xff\"")},
		"too long":           {Ref: strings.Repeat("é", 10_000), Data: []byte(`"` + strings.Repeat("x", attempt.MaxJSON) + `"`)},
	} {
		b.kind.Call = answering(answer, nil)
		got, err := b.drive(b.start(name).ID)
		require.NoError(t, err, name)
		require.Equal(t, attempt.Succeeded, got.State)
		require.Nil(t, got.Result.Data)
		require.LessOrEqual(t, len(got.Result.Ref), 500)
	}
	b.kind.Call = answering(attempt.Result{}, attempt.Refuse("a\x00"+strings.Repeat("é", 10_000)))
	got, err := b.drive(b.start("refused").ID)
	require.NoError(t, err)
	require.Equal(t, "a "+strings.Repeat("é", 99), got.Code)

	b.kind.Call = answering(attempt.Result{}, errors.New("\x00\xff"+strings.Repeat("é", 10_000)))
	got, err = b.drive(b.start("unknown").ID)
	require.ErrorIs(t, err, attempt.ErrUnfinished)
	require.Len(t, got.LastError, 500)
}
