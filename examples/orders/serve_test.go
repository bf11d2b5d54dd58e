package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/webhook"
)

func TestSessionHasEachThingToDo(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	printSession(&out, "127.0.0.1:4321", shop.Settings{
		Standard: webhook.Secrets("whsec_c3RhbmRhcmQ="), Stripe: webhook.Secrets("whsec_stripe"), AdminAddr: "127.0.0.1:4322",
	})
	for _, part := range []string{
		"U=http://127.0.0.1:4321\n", "-hmac 'whsec_stripe'", `-H "Content-Type: application/json" -H "webhook-id: msg_1"`, `-H "Content-Type: application/json" -H "Stripe-Signature: `, "'whsec_c3RhbmRhcmQ='", "$(date +%s)",
		"curl -X PUT $U/stock/mug -H \"Content-Type: application/json\" -d '", "curl $U/orders ", "curl $U/orders/$O/pay ",
		"curl -X POST $U/orders/$O/ship\n", "curl -X POST $U/orders/$O/receive\n", "curl $U/orders/$O/refunds ",
		"-H 'Idempotency-Key: k-1' ", "curl $U/commands/order.refund/k-1 ",
		"curl -X DELETE $U/orders/$P\n", "curl $U/orders/$O/history\n", "curl http://127.0.0.1:4322/debug/counters\n", "curl http://127.0.0.1:4322/metrics\n", "go doc ./examples/orders/shop\n",
	} {
		require.Contains(t, out.String(), part)
	}
	require.NotContains(t, out.String(), "%!", "a verb without its argument")
	// The same payment by another provider would be a contradiction, for a person.
	for _, number := range []string{`"id": "evt_1", `, `"id": "evt_2", `, `"order_id": "'$O'", "payment_no": "p-1", "amount`, `"order_id": "'$Q'", "payment_no": "p-2", "amount`} {
		require.Equal(t, 1, strings.Count(out.String(), number), number)
	}
	for line := range strings.SplitSeq(out.String(), "\n") {
		sends := strings.Contains(line, "curl ") && strings.Contains(line, " -d ")
		require.Equal(t, sends, strings.Contains(line, `-H "Content-Type: application/json"`), line)
	}
}

// Without an operator's port there is nobody to ask for counters.
func TestSessionWithoutAnOperatorsPort(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	printSession(&out, "127.0.0.1:4321", shop.Settings{Standard: webhook.Secrets("whsec_c3RhbmRhcmQ="), Stripe: webhook.Secrets("whsec_stripe")})
	require.Contains(t, out.String(), "curl $U/orders/$O/history\n\nAll routes")
	require.NotContains(t, out.String(), "http:///")
	require.NotContains(t, out.String(), "%!")
}

func TestDeskHasTheRunbookToPaste(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	printDesk(&out, "postgres://postgres:pw@127.0.0.1:5/postgres")
	require.Contains(t, out.String(), "\n  export DATABASE_URL='postgres://postgres:pw@127.0.0.1:5/postgres'\n  go run ./examples/orders runbook inspect stuck\n")
}
