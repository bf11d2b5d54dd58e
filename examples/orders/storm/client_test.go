package storm

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

func TestUnderstood(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		event   order.Event
		status  int
		body    string
		told    fsm.Outcome
		settled bool
	}{
		"a callback that was applied":         {order.EventPaymentSucceeded, http.StatusOK, `{"outcome":"Applied"}`, fsm.Applied, true},
		"a callback with a conflict":          {order.EventPaymentSucceeded, http.StatusOK, `{"outcome":"Mismatched"}`, fsm.Mismatched, true},
		"a callback that is refused":          {order.EventPaymentSucceeded, http.StatusConflict, `{"outcome":"Rejected"}`, fsm.Rejected, false},
		"a callback before its order":         {order.EventPaymentSucceeded, http.StatusNotFound, `{"status":404}`, toldNotYet, false},
		"a callback that is not believed":     {order.EventPaymentSucceeded, http.StatusUnauthorized, `{}`, toldRefused, true},
		"a callback that nobody could answer": {order.EventPaymentSucceeded, http.StatusServiceUnavailable, `{}`, "503", false},
		"a bad callback":                      {order.EventPaymentSucceeded, http.StatusBadRequest, `{}`, "400", true},
		"a cancellation":                      {order.EventCancel, http.StatusNoContent, ``, toldDone, true},
		"a cancellation too late":             {order.EventCancel, http.StatusConflict, `{"outcome":"Rejected"}`, fsm.Rejected, true},
		"a refund":                            {order.EventRefund, http.StatusAccepted, `{"outcome":"Applied"}`, fsm.Applied, true},
		"a refund beyond the money":           {order.EventRefund, http.StatusConflict, `{"outcome":"GuardFailed"}`, fsm.GuardFailed, true},
		"a customer who asks too often":       {order.EventPay, http.StatusTooManyRequests, `{"status":429}`, "429", false},
		"an old version":                      {order.EventShip, http.StatusPreconditionFailed, `{"outcome":"Stale"}`, fsm.Stale, true},
		"a parcel":                            {order.EventShip, http.StatusOK, `{"state":"SHIPPED"}`, toldDone, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, reply{told: c.told, settled: c.settled}, understood(action{event: c.event}, c.status, []byte(c.body)))
		})
	}
}

// A provider does not come for ever, and an answer that it never got counts.
func TestTheProviderGivesUp(t *testing.T) {
	t.Parallel()
	l, tries := newLog(), 0
	todo := []task{{action: action{event: order.EventPaymentSucceeded, number: "p"}}}
	for len(todo) > 0 {
		tries++
		l.again = nil
		l.note(todo[0], reply{told: "503"})
		todo = l.again
	}
	require.Equal(t, maxAttempts, tries)
	require.Equal(t, map[answer]int{{question{event: order.EventPaymentSucceeded, number: "p"}, "503"}: 1}, l.told)
}
