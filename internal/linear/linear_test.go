package linear_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/linear"
)

// twin is a history that can be true, and one that differs from it in what one caller
// was told, and cannot.
type twin struct {
	name, both   string
	right, wrong string
}

func twins() []twin {
	const paid = `10-11 c a payment_succeeded {"payment_no":"P1","paid_cents":100} | Applied PAID 2 | payment_succeeded PENDING>PAID 2
	`
	return []twin{
		{"a lost update",
			`10-20 c a pay | Applied PAYING 2 | pay PENDING>PAYING 2`,
			`11-21 d a cancel | Applied CANCELLED 3 | cancel PAYING>CANCELLED 3`,
			`11-21 d a cancel | Applied CANCELLED 2 | cancel PENDING>CANCELLED 2`},
		{"a payment applied twice",
			`10-20 c a payment_succeeded {"payment_no":"P1","paid_cents":100} | Applied PAID 2 | payment_succeeded PENDING>PAID 2`,
			`11-21 d a payment_succeeded {"payment_no":"P1","paid_cents":100} | Replayed PAID 2 | payment_succeeded PENDING>PAID 2`,
			`11-21 d a payment_succeeded {"payment_no":"P1","paid_cents":100} | Applied PAID 2 | payment_succeeded PENDING>PAID 2`},
		{"a stale answer", paid,
			`10-13 d a ship | Rejected PENDING 1 | create >PENDING 1`, // it began before the payment was acknowledged
			`12-13 d a ship | Rejected PENDING 1 | create >PENDING 1`},
		{"a wrong from",
			`10-11 c a pay | Applied PAYING 2 | pay PENDING>PAYING 2`,
			`12-13 d a payment_succeeded {"payment_no":"P1","paid_cents":100} | Applied PAID 3 | payment_succeeded PAYING>PAID 3`,
			`12-13 d a payment_succeeded {"payment_no":"P1","paid_cents":100} | Applied PAID 3 | payment_succeeded PENDING>PAID 3`},
		{"another first result",
			`10-11 c a payment_succeeded {"payment_no":"P1","paid_cents":99} | Compensated PENDING 1 | payment_succeeded PENDING>PENDING 1 Compensated
			 12-13 c a payment_succeeded {"payment_no":"P2","paid_cents":100} | Applied PAID 2 | payment_succeeded PENDING>PAID 2`,
			`14-15 d a payment_succeeded {"payment_no":"P1","paid_cents":99} | Replayed PAID 2 | payment_succeeded PENDING>PENDING 1 Compensated`,
			`14-15 d a payment_succeeded {"payment_no":"P1","paid_cents":99} | Replayed PAID 2 | payment_succeeded PENDING>PAID 2`},
		{"a replay cell that shows another event",
			`10-11 c a pay | Applied PAYING 2 | pay PENDING>PAYING 2
			 12-13 c a query_payment | Applied PAYING 3 | query_payment PAYING>PAYING 3`,
			`14-15 d a pay | Replayed PAYING 3 | pay PENDING>PAYING 2`,
			`14-15 d a pay | Replayed PAYING 3 | query_payment PAYING>PAYING 3`},
		{"an effect of nothing done",
			`10-11 c a pay | nothing done`,
			`12-13 d a cancel | Applied CANCELLED 2 | cancel PENDING>CANCELLED 2`,
			`12-13 d a cancel | Applied CANCELLED 3 | cancel PAYING>CANCELLED 3`},
		{"an effect of a refused argument",
			`10-11 c a pay | argument`,
			`12-13 d a read | {"state":"PENDING","version":1}`,
			`12-13 d a read | {"state":"PAYING","version":2}`},
		{"an effect before the call",
			`14-15 c a pay | Applied PAYING 2 | pay PENDING>PAYING 2`,
			`10-14 d a read | {"state":"PAYING","version":2}`,
			`10-13 d a read | {"state":"PAYING","version":2}`},
		{"an order of two calls that time forbids", paid,
			`12-13 d a payment_succeeded {"payment_no":"P2","paid_cents":100} | Compensated PAID 2 | payment_succeeded PAID>PAID 2 Compensated`,
			`8-9 d a payment_succeeded {"payment_no":"P2","paid_cents":100} | Compensated PAID 2 | payment_succeeded PAID>PAID 2 Compensated`},
		{"two effects of one unknown",
			`10-11 c a query_payment | unknown
			 12-13 c a pay | Applied PAYING 2 | pay PENDING>PAYING 2
			 14-15 c a query_payment | Applied PAYING 3 | query_payment PAYING>PAYING 3`,
			`16-17 d a read | {"state":"PAYING","version":4}`,
			`16-17 d a read | {"state":"PAYING","version":5}`},
		{"an unknown that comes and goes",
			`10-11 c a pay | unknown
			 12-13 d a read | {"state":"PAYING","version":2}`,
			`14-15 d a read | {"state":"PAYING","version":2}`,
			`14-15 d a read | {"state":"PENDING","version":1}`},
		{"one payment of two orders", paid,
			`12-13 d b payment_succeeded {"payment_no":"P1","paid_cents":100} | Mismatched PENDING 1 | none`,
			`12-13 d b payment_succeeded {"payment_no":"P1","paid_cents":100} | Applied PAID 2 | payment_succeeded PENDING>PAID 2`},
		{"what a mismatch shows of the other order", paid,
			`12-13 d b payment_succeeded {"payment_no":"P1","paid_cents":100} | Mismatched PENDING 1 | none`,
			`12-13 d b payment_succeeded {"payment_no":"P1","paid_cents":100} | Mismatched PENDING 1 | payment_succeeded PENDING>PAID 2`},
		{"another fingerprint", paid,
			`12-13 d a payment_succeeded {"payment_no":"P1","paid_cents":99} | Mismatched PAID 2 | payment_succeeded PENDING>PAID 2`,
			`12-13 d a payment_succeeded {"payment_no":"P1","paid_cents":99} | Replayed PAID 2 | payment_succeeded PENDING>PAID 2`},
		{"stale at the right version", paid,
			`12-13 d a ship | Stale PAID 2 expects@1 | payment_succeeded PENDING>PAID 2`,
			`12-13 d a ship | Stale PAID 2 expects@2 | payment_succeeded PENDING>PAID 2`},
		{"stale at version 0", paid,
			`12-13 d a ship | Stale PAID 2 expects@0 | payment_succeeded PENDING>PAID 2`,
			`12-13 d a ship | Applied SHIPPED 3 expects@0 | ship PAID>SHIPPED 3`},
		{"a guard that held", paid,
			`12-13 d a refund {"refund_no":"R1","amount_cents":101} | GuardFailed PAID 2 | payment_succeeded PENDING>PAID 2`,
			`12-13 d a refund {"refund_no":"R1","amount_cents":60} | GuardFailed PAID 2 | payment_succeeded PENDING>PAID 2`},
		{"two refunds of 60 out of 100", paid + `
			12-20 d a refund {"refund_no":"R1","amount_cents":60} | Applied PAID 3 | refund PAID>PAID 3`,
			`13-21 e a refund {"refund_no":"R2","amount_cents":60} | GuardFailed PAID 3 | refund PAID>PAID 3`,
			`13-21 e a refund {"refund_no":"R2","amount_cents":60} | Applied PAID 4 | refund PAID>PAID 4`},
		{"an amount that its check forbids", ``,
			`12-13 d a payment_succeeded {"payment_no":"P9","paid_cents":0} | argument`,
			`12-13 d a payment_succeeded {"payment_no":"P9","paid_cents":0} | Compensated PENDING 1 | payment_succeeded PENDING>PENDING 1 Compensated`},
		{"ignored where the cell moves", `10-11 c a pay | Applied PAYING 2 | pay PENDING>PAYING 2`,
			`12-13 d a expire | Ignored PAYING 2 | pay PENDING>PAYING 2`,
			`12-13 d a query_payment | Ignored PAYING 2 | pay PENDING>PAYING 2`},
		{"rejected where the cell moves", paid,
			`12-13 d a cancel | Rejected PAID 2 | payment_succeeded PENDING>PAID 2`,
			`12-13 d a ship | Rejected PAID 2 | payment_succeeded PENDING>PAID 2`},
		{"not found once it was created", ``,
			`1-6 d a pay | not found`,
			`5-6 d a pay | not found`},
		{"created twice", ``,
			`12-13 s a create {"customer_id":"c","sku":"tea","quantity":1,"total_cents":100} | Replayed PENDING 1 | create >PENDING 1`,
			`12-13 s a create {"customer_id":"c","sku":"tea","quantity":1,"total_cents":100} | Applied PENDING 1 | create >PENDING 1`},
		{"created again with another amount", ``,
			`12-13 s a create {"customer_id":"c","sku":"tea","quantity":1,"total_cents":99} | Mismatched PENDING 1 | create >PENDING 1`,
			`12-13 s a create {"customer_id":"c","sku":"tea","quantity":1,"total_cents":99} | Replayed PENDING 1 | create >PENDING 1`},
		{"a correction", paid,
			`12-13 s a correct {"to":"PENDING"} | Applied PENDING 3 | correct PAID>PENDING 3`,
			`12-13 s a correct {"to":"PAID"} | Applied PAID 3 | correct PAID>PAID 3`},
		{"a snapshot that is too new", paid,
			`12-13 d a ship | Rejected PENDING 1 snapshot@9 | create >PENDING 1`,
			`12-13 d a ship | Rejected PENDING 1 snapshot@12 | create >PENDING 1`},
		{"a row that a snapshot does not have yet", ``,
			`5-6 d a pay | not found snapshot@2`,
			`5-6 d a pay | not found snapshot@5`},
		{"another Go name of a parameter",
			`10-11 c a payment_succeeded {"PaymentNo":"P1","PaidCents":100} | Applied PAID 2 | payment_succeeded PENDING>PAID 2`,
			`12-13 c a payment_succeeded {"payment_no":"P1","paid_cents":100} | Replayed PAID 2 | payment_succeeded PENDING>PAID 2`,
			`12-13 c a payment_succeeded {"PaymentNo":"P2","PaidCents":100} | Replayed PAID 2 | payment_succeeded PENDING>PAID 2`},
		{"a key in another spelling",
			`10-11 c a pay | Applied PAYING 2 | pay PENDING>PAYING 2`,
			`12-13 c {0000000000004000800000000000000A} pay | Replayed PAYING 2 | pay PENDING>PAYING 2`,
			`12-13 c {0000000000004000800000000000000A} pay | Applied PAYING 2 | pay PENDING>PAYING 2`},
	}
}

func TestTwins(t *testing.T) {
	t.Parallel()
	m := order(t)
	for _, c := range twins() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := judged(t, m, born+c.both+"\n"+c.right, linear.Options{})
			require.Equal(t, linear.Accepted, v.Result(), "%s", v.Findings())
			v = judged(t, m, born+c.both+"\n"+c.wrong, linear.Options{})
			require.Equal(t, linear.Refused, v.Result(), "accepted: %s", c.wrong)
			t.Log(v.Findings())
		})
	}
}

// What was seen at the end is held against what the calls must have left.
func TestTwinsOfWhatWasSeen(t *testing.T) {
	t.Parallel()
	m := order(t)
	const calls = `
		10-11 c a pay | Applied PAYING 2 | pay PENDING>PAYING 2
		12-13 c a payment_succeeded {"payment_no":"P1","paid_cents":100} | Applied PAID 3 | payment_succeeded PAYING>PAID 3
		14-15 c a payment_succeeded {"payment_no":"P2","paid_cents":100} | Compensated PAID 3 | payment_succeeded PAID>PAID 3 Compensated
	`
	const (
		history = `"history":[{"event":"create","to":"PENDING","version":1},{"event":"pay","from":"PENDING","to":"PAYING","version":2},{"event":"payment_succeeded","from":"PAYING","to":"PAID","version":3}]`
		facts   = `"facts":[{"event":"payment_succeeded","identity":"P2","fingerprint":"100","outcome":"Compensated","from":"PAID","to":"PAID","version":3},{"event":"payment_succeeded","identity":"P1","fingerprint":"100","outcome":"Applied","from":"PAYING","to":"PAID","version":3}]`
		outbox  = `"outbox":[{"event":"create","topic":"order_created","version":1},{"event":"payment_succeeded","topic":"refund_due","version":3},{"event":"payment_succeeded","topic":"order_paid","version":3}]`
	)
	saw := func(more string) string {
		return born + calls + `20-21 o a read | {"state":"PAID","version":3` + more + "}"
	}
	for _, more := range []string{
		"", "," + history, "," + facts, "," + outbox, "," + history + "," + facts + "," + outbox,
		`,"columns":{"paid_cents":100,"payment_no":"P1","total_cents":100,"refund_cents":0,"paid_at":"2026-01-01T00:00:00Z"}`,
	} {
		v := judged(t, m, saw(more), linear.Options{})
		require.Equal(t, linear.Accepted, v.Result(), "%s", v.Findings())
	}
	for name, more := range map[string]string{
		"a wrong from":            `,"history":[{"event":"create","to":"PENDING","version":1},{"event":"pay","from":"PENDING","to":"PAYING","version":2},{"event":"payment_succeeded","from":"PENDING","to":"PAID","version":3}]`,
		"an entry less":           `,"history":[{"event":"create","to":"PENDING","version":1},{"event":"payment_succeeded","from":"PAYING","to":"PAID","version":3}]`,
		"no history":              `,"history":[]`,
		"a fact less":             `,"facts":[{"event":"payment_succeeded","identity":"P1","fingerprint":"100","outcome":"Applied","from":"PAYING","to":"PAID","version":3}]`,
		"another identity":        `,"facts":[{"event":"payment_succeeded","identity":"P3","fingerprint":"100","outcome":"Compensated","from":"PAID","to":"PAID","version":3},{"event":"payment_succeeded","identity":"P1","fingerprint":"100","outcome":"Applied","from":"PAYING","to":"PAID","version":3}]`,
		"a refund due twice":      `,"outbox":[{"event":"create","topic":"order_created","version":1},{"event":"payment_succeeded","topic":"refund_due","version":3},{"event":"payment_succeeded","topic":"refund_due","version":3},{"event":"payment_succeeded","topic":"order_paid","version":3}]`,
		"a message that was lost": `,"outbox":[{"event":"create","topic":"order_created","version":1},{"event":"payment_succeeded","topic":"order_paid","version":3}]`,
		"another amount":          `,"columns":{"paid_cents":99}`,
		"another payment":         `,"columns":{"payment_no":"P2"}`,
		"no time":                 `,"columns":{"paid_at":null}`,
		"an entry more":           `,"history":[{"event":"cancel","from":"PENDING","to":"CANCELLED","version":0},{"event":"create","to":"PENDING","version":1},{"event":"pay","from":"PENDING","to":"PAYING","version":2},{"event":"payment_succeeded","from":"PAYING","to":"PAID","version":3}]`,
	} {
		require.Equal(t, linear.Refused, judged(t, m, saw(more), linear.Options{}).Result(), name)
	}
	v := judged(t, m, born+calls+`20-21 o a read | {"gone":true}`, linear.Options{})
	require.Equal(t, linear.Refused, v.Result())
}

// A row that was there before begins as it was seen.
func TestRowsFromBefore(t *testing.T) {
	t.Parallel()
	m := order(t)
	const before = `1-2 s a row | {"state":"PAID","version":7,"columns":{"total_cents":100,"paid_cents":100,"refund_cents":0,"refunded_cents":0,"quantity":1,"sku":"tea","customer_id":"c"},
		"history":[{"event":"create","to":"PENDING","version":1},{"event":"payment_succeeded","from":"PENDING","to":"PAID","version":7}],
		"facts":[{"event":"payment_succeeded","identity":"P1","fingerprint":"100","outcome":"Applied","from":"PENDING","to":"PAID","version":7}]}`
	for told, want := range map[string]linear.Result{
		`ship | Applied SHIPPED 8 | ship PAID>SHIPPED 8`:                                                                          linear.Accepted,
		`ship | Applied SHIPPED 2 | ship PAID>SHIPPED 2`:                                                                          linear.Refused,
		`cancel | Rejected PAID 7 | payment_succeeded PENDING>PAID 7`:                                                             linear.Accepted,
		`cancel | Rejected PAID 7 | none`:                                                                                         linear.Refused,
		`payment_succeeded {"payment_no":"P1","paid_cents":100} | Replayed PAID 7 | payment_succeeded PENDING>PAID 7`:             linear.Accepted,
		`payment_succeeded {"payment_no":"P1","paid_cents":100} | Compensated PAID 7 | payment_succeeded PAID>PAID 7 Compensated`: linear.Refused,
		`refund {"refund_no":"R1","amount_cents":101} | GuardFailed PAID 7 | payment_succeeded PENDING>PAID 7`:                    linear.Accepted,
		`refund {"refund_no":"R1","amount_cents":100} | GuardFailed PAID 7 | payment_succeeded PENDING>PAID 7`:                    linear.Refused,
		`read | {"state":"PAID","version":7,"outbox":[{"event":"payment_succeeded","topic":"order_paid","version":7}]}`:           linear.Accepted,
		`read | {"state":"PAID","version":7,"history":[{"event":"payment_succeeded","from":"PENDING","to":"PAID","version":7}]}`:  linear.Refused,
		`read | {"state":"PAID","version":7,"facts":[]}`:                                                                          linear.Refused,
	} {
		v := judged(t, m, oneLine(before)+"\n10-11 c a "+told, linear.Options{})
		require.Equal(t, want, v.Result(), "%s: %s", told, v.Findings())
	}

	// Of a row of which only the state was seen, less can be held against.
	const bare = `1-2 s a row | {"state":"PAID","version":7}`
	for told, want := range map[string]linear.Result{
		`cancel | Rejected PAID 7 | payment_succeeded PAYING>PAID 7`:                                           linear.Accepted,
		`cancel | Applied CANCELLED 8 | cancel PAID>CANCELLED 8`:                                               linear.Refused,
		`refund {"refund_no":"R1","amount_cents":101} | GuardFailed PAID 7 | payment_succeeded PENDING>PAID 7`: linear.Accepted,
		`refund {"refund_no":"R1","amount_cents":1} | Applied PAID 8 | refund PAID>PAID 8`:                     linear.Accepted,
		`refund {"refund_no":"R1","amount_cents":1} | Applied SHIPPED 8 | refund PAID>SHIPPED 8`:               linear.Refused,
	} {
		v := judged(t, m, bare+"\n10-11 c a "+told, linear.Options{})
		require.Equal(t, want, v.Result(), "%s: %s", told, v.Findings())
	}
	require.Equal(t, 1, judged(t, m, bare+"\n10-11 c a "+`refund {"refund_no":"R1","amount_cents":1} | Applied PAID 8 | refund PAID>PAID 8`, linear.Options{}).Either)
}

// A refusal shows a beginning of the history. What was answered later than that is not
// the same as what nobody ever was told.
func TestARefusalTellsLateAnswersFromNone(t *testing.T) {
	t.Parallel()
	v := judged(t, order(t), born+`10-11 c a pay | Applied PAYING 2 | pay PENDING>PAYING 2
		12-40 late a query_payment | Applied PAYING 3 | query_payment PAYING>PAYING 3
		13-99 dead a query_payment |
		14-15 d a cancel | Applied CANCELLED 2 | cancel PENDING>CANCELLED 2
		30-31 e a pay | Rejected CANCELLED 2 | cancel PENDING>CANCELLED 2`, linear.Options{})
	require.Equal(t, linear.Refused, v.Result())
	told := v.Findings()
	require.Contains(t, told, "there is no order of these 5 calls, up to the answer of call 5, each somewhere")
	require.Regexp(t, `late +query_payment +not answered yet\n`, told)
	require.Regexp(t, `dead +query_payment +nothing: it may have had its effect or not\n`, told)
	require.Contains(t, told, "(1 call that began later: left out)")
}

// One is one, and two are two.
func TestSummary(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		1: "order: refused: 1 call of 1 row; 1 part refused; 1 part undecided; 1 call of unknown outcome; " +
			"1 call with a guard or check that was not known, so that either branch was allowed; 1 look at rows that the history does not know; 1 file cut off at the end",
		2: "order: refused: 2 calls of 2 rows; 2 parts refused; 2 parts undecided; 2 calls of unknown outcome; " +
			"2 calls with a guard or check that was not known, so that either branch was allowed; 2 looks at rows that the history does not know; 2 files cut off at the end",
	} {
		keys := make([]string, n)
		v := linear.Verdict{Machine: "order", Operations: n, Rows: n, Doubtful: n, Either: n, Strangers: n, Torn: n, Refused: keys, Undecided: keys}
		require.Equal(t, want, v.Summary())
	}
}
