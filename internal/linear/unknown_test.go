package linear_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/linear"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// A call of unknown outcome may take effect at any time after it began, or never, and
// once at most.
func TestUnknownOutcomes(t *testing.T) {
	t.Parallel()
	m := order(t)
	for _, end := range []string{"unknown", ""} { // "" was never answered: the process died
		for text, want := range map[string]linear.Result{
			`20-21 d a read | {"state":"PENDING","version":1}`: linear.Accepted,
			`20-21 d a read | {"state":"PAYING","version":2}`:  linear.Accepted,
			`20-21 d a read | {"state":"PAYING","version":3}`:  linear.Refused,
			`20-21 d a cancel | Applied CANCELLED 2 | cancel PENDING>CANCELLED 2
			 22-23 d a read | {"state":"CANCELLED","version":2}`: linear.Accepted,
			`20-21 d a cancel | Applied CANCELLED 3 | cancel PAYING>CANCELLED 3`: linear.Accepted,
			// Long after it was given up it takes effect.
			`20-21 d a read | {"state":"PENDING","version":1}
			 22-23 d a read | {"state":"PENDING","version":1}
			 24-25 d a read | {"state":"PAYING","version":2}`: linear.Accepted,
			`8-9 d a read | {"state":"PAYING","version":2}`: linear.Refused,
		} {
			v := judged(t, m, born+"10-11 c a pay | "+end+"\n"+text, linear.Options{})
			require.Equal(t, want, v.Result(), "%q %s: %s", end, text, v.Findings())
			require.Equal(t, 1, v.Doubtful)
		}
	}
}

// Of what a sweep may have done nobody knows more than that a deadline allows it.
func TestSweeps(t *testing.T) {
	t.Parallel()
	m := order(t)
	const paying = born + `10-11 c a pay | Applied PAYING 2 | pay PENDING>PAYING 2
	`
	sweep := func(answer, then string) []byte {
		text := string(lines(t, "order", paying+then))
		return []byte(`{"type":"call","id":"s","at":12,"client":"w","machine":"order","event":"sweep"}` + "\n" + answer + text)
	}
	for _, c := range []struct {
		answer, then string
		want         linear.Result
	}{
		{`{"type":"return","id":"s","at":16,"swept":[{"event":"query_payment","key":"` + keyA + `","from":"PAYING","to":"PAYING","version":3}]}` + "\n",
			`20-21 d a cancel | Applied CANCELLED 4 | cancel PAYING>CANCELLED 4`, linear.Accepted},
		{`{"type":"return","id":"s","at":16,"swept":[{"event":"query_payment","key":"` + keyA + `","from":"PAYING","to":"PAYING","version":3}]}` + "\n",
			`20-21 d a cancel | Applied CANCELLED 3 | cancel PAYING>CANCELLED 3`, linear.Refused},
		{`{"type":"return","id":"s","at":16,"swept":[{"event":"expire","key":"` + keyA + `","from":"PAYING","to":"CANCELLED","version":3}]}` + "\n", ``, linear.Refused},
		{`{"type":"return","id":"s","at":16}` + "\n", `20-21 d a cancel | Applied CANCELLED 4 | cancel PAYING>CANCELLED 4`, linear.Refused},
		{``, `20-21 d a cancel | Applied CANCELLED 3 | cancel PAYING>CANCELLED 3`, linear.Accepted},
		{``, `20-21 d a cancel | Applied CANCELLED 4 | cancel PAYING>CANCELLED 4`, linear.Accepted},
		{``, `20-21 d a cancel | Applied CANCELLED 5 | cancel PAYING>CANCELLED 5`, linear.Refused},
		{`{"type":"return","id":"s","at":16,"error":"unknown"}` + "\n", `20-21 d b pay | Rejected CANCELLED 2 | expire PENDING>CANCELLED 2`, linear.Accepted},
		{`{"type":"return","id":"s","at":16,"error":"nothing done"}` + "\n", `20-21 d b pay | Rejected CANCELLED 2 | expire PENDING>CANCELLED 2`, linear.Refused},
	} {
		v, err := checked(m, sweep(c.answer, c.then), linear.Options{})
		require.NoError(t, err)
		require.Equal(t, c.want, v.Result(), "%s %s: %s", c.answer, c.then, v.Findings())
	}
}

// Where the judge cannot tell, both branches may be, and the verdict says so.
func TestWhatTheJudgeCannotTell(t *testing.T) {
	t.Parallel()
	m := order(t)
	const paid = born + `10-11 c a payment_succeeded {"payment_no":"P1","paid_cents":100} | Applied PAID 2 | payment_succeeded PENDING>PAID 2
	`
	for told, want := range map[string]linear.Result{
		`12-13 c a refund {"refund_no":"R1","amount_cents":60} | GuardFailed PAID 2 | payment_succeeded PENDING>PAID 2`: linear.Accepted,
		`12-13 c a refund {"refund_no":"R1","amount_cents":60} | Applied PAID 3 | refund PAID>PAID 3`:                   linear.Accepted,
		`12-13 c a refund {"refund_no":"R1","amount_cents":60} | Applied REFUNDING 3 | refund PAID>REFUNDING 3`:         linear.Accepted,
		`12-13 c a refund {"refund_no":"R1","amount_cents":60} | Applied SHIPPED 3 | refund PAID>SHIPPED 3`:             linear.Refused,
	} {
		v := judged(t, m, paid+told, linear.Options{Judge: blind{}})
		require.Equal(t, want, v.Result(), told)
		if want == linear.Accepted {
			require.Positive(t, v.Either)
			require.Contains(t, v.Summary(), "either branch was allowed")
		}
	}
	require.Zero(t, judged(t, m, paid, linear.Options{}).Either)

	// The same for a parameter that was left out.
	v := judged(t, m, paid+`12-13 c b payment_failed {"payment_no":"P9"} | Ignored PENDING 1 | create >PENDING 1`, linear.Options{})
	require.Equal(t, linear.Accepted, v.Result())
	v = judged(t, m, born+`10-11 c a payment_succeeded {"payment_no":"P1","paid_cents":100} | Applied PAID 2 | payment_succeeded PENDING>PAID 2
		12-13 c a refund_failed {"refund_no":"R1"} | Compensated PAID 2 | refund_failed PAID>PAID 2 Compensated`, linear.Options{})
	require.Equal(t, linear.Accepted, v.Result())
}

// blind is a judge that can tell nothing.
type blind struct{ oracle.Judge }

func (blind) Holds(*model.Expr, oracle.Context) (truth, known bool, err error) {
	return false, false, errBlind
}
func (blind) Value(*model.Expr, oracle.Context) (any, error) { return nil, errBlind }

// A search that takes too long is told, and is no acceptance.
func TestASearchThatTakesTooLong(t *testing.T) {
	t.Parallel()
	m := order(t)
	v := judged(t, m, hard(), linear.Options{Timeout: 50 * time.Millisecond})
	require.Equal(t, linear.Unknown, v.Result())
	require.Equal(t, []string{keyA}, v.Undecided)
	require.Contains(t, v.Findings(), "order "+keyA+": unknown: no order was found in time, and none ruled out")
	require.Contains(t, v.Summary(), "1 part undecided")
}

var errBlind = errors.New("cannot tell")
