package linear_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/linear"
)

// What PostgreSQL fails to work out is an error for certain: no other answer is right,
// and nothing has been done.
func TestWhatPostgreSQLFailsToWorkOut(t *testing.T) {
	t.Parallel()
	m := order(t)
	const paid = born + `10-11 c a payment_succeeded {"payment_no":"P1","paid_cents":100} | Applied PAID 2 | payment_succeeded PENDING>PAID 2
		12-13 c a refund {"refund_no":"R1","amount_cents":40} | Applied PAID 3 | refund PAID>PAID 3
		14-15 c a refund {"refund_no":"R2","amount_cents":9223372036854775807} | `
	for answer, want := range map[string]linear.Result{
		"nothing done":                        linear.Accepted,
		"argument":                            linear.Accepted,
		"unknown":                             linear.Accepted,
		"Applied PAID 4 | refund PAID>PAID 4": linear.Refused,
		"Applied REFUNDING 4 | refund PAID>REFUNDING 4":                linear.Refused,
		"GuardFailed PAID 3 | refund PAID>PAID 3":                      linear.Refused,
		"unknown\n16-17 d a read | {\"state\":\"PAID\",\"version\":4}": linear.Refused,
	} {
		v := judged(t, m, paid+answer, linear.Options{})
		require.Equal(t, want, v.Result(), "%s: %s", answer, v.Findings())
		require.Zero(t, v.Either, answer)
		if strings.HasPrefix(answer, "Applied") {
			require.Contains(t, v.Findings(), "an error of PostgreSQL's: 22003")
		}
	}

	// A version that has no successor.
	for at, moves := range map[int64]bool{math.MaxInt64: false, math.MaxInt64 - 1: true} {
		text := fmt.Sprintf(`{"type":"row","at":1,"machine":"order","key":%q,"state":"PAID","version":%d}
			{"type":"call","id":"1","at":10,"machine":"order","key":%[1]q,"event":"ship"}
			{"type":"return","id":"1","at":11,"outcome":"Applied","state":"SHIPPED","version":%[3]d}`+"\n", keyA, at, at+1)
		v, err := checked(m, []byte(text), linear.Options{})
		require.NoError(t, err)
		require.Equal(t, map[bool]linear.Result{true: linear.Accepted, false: linear.Refused}[moves], v.Result())
	}
}

// counter is a machine whose guard divides, and decides without that.
const counter = `
machine: counter
table:
  name: counters
  key: {column: id, type: text}
  columns:
    stock: {type: integer}
states:
  OPEN: {initial: true}
  DONE: {final: true}
guards:
  fits: {sql: "stock / @by > 1 AND @by > 0", describe: it fits}
events:
  part: {params: {by: {type: integer, optional: true}}}
transitions:
  - {event: part, from: OPEN, to: DONE, guard: fits}
`

// Where another condition decides, or a parameter is NULL, PostgreSQL may come to an
// answer without what fails.
func TestWhatPostgreSQLMayPassOver(t *testing.T) {
	t.Parallel()
	m := machineOf(t, counter)
	judge := func(by, answer string) *linear.Verdict {
		return judged(t, m, `1-2 s k create {"stock":7} | Applied OPEN 1 | create >OPEN 1
			3-4 s k part {"by":`+by+`} | `+answer, linear.Options{})
	}
	for _, answer := range []string{"GuardFailed OPEN 1 | create >OPEN 1", "nothing done"} {
		for _, by := range []string{"0", "4", "null"} {
			require.Equal(t, linear.Accepted, judge(by, answer).Result(), "%s %s", by, answer)
		}
	}
	require.Equal(t, 1, judge("0", "GuardFailed OPEN 1 | create >OPEN 1").Either)
	require.Equal(t, linear.Accepted, judge("2", "Applied DONE 2 | part OPEN>DONE 2").Result())
	require.Equal(t, linear.Refused, judge("2", "GuardFailed OPEN 1 | create >OPEN 1").Result())
}

// Arguments that PostgreSQL does not take, or the generated call, have no effect.
func TestArgumentsThatCannotBe(t *testing.T) {
	t.Parallel()
	m := order(t)
	for name, params := range map[string]string{
		"NUL":                 `{"payment_no":"a\u0000b","paid_cents":100}`,
		"a control character": `{"payment_no":"a\nb","paid_cents":100}`,
		"empty":               `{"payment_no":"","paid_cents":100}`,
		"too long":            `{"payment_no":"` + strings.Repeat("x", 1025) + `","paid_cents":100}`,
	} {
		call := "10-11 c a payment_succeeded " + params + " | "
		for answer, want := range map[string]linear.Result{
			"argument": linear.Accepted,
			"unknown":  linear.Accepted,
			"Applied PAID 2 | payment_succeeded PENDING>PAID 2":            linear.Refused,
			"unknown\n12-13 d a read | {\"state\":\"PAID\",\"version\":2}": linear.Refused,
		} {
			v := judged(t, m, born+call+answer, linear.Options{})
			require.Equal(t, want, v.Result(), "%s: %s: %s", name, answer, v.Findings())
		}
	}
	for name, text := range map[string]string{
		"a text of the row": `1-2 s a create {"customer_id":"c\u0000","sku":"tea","quantity":1,"total_cents":100} | Applied PENDING 1 | create >PENDING 1`,
		"a key":             `1-2 s b! create {"customer_id":"c","sku":"tea","quantity":1,"total_cents":100} | Applied PENDING 1 | create >PENDING 1`,
	} {
		require.Equal(t, linear.Refused, judged(t, m, text, linear.Options{}).Result(), name)
	}
	text := machineOf(t, counter)
	require.Equal(t, linear.Accepted, judged(t, text, `1-2 s k create {"stock":7} | Applied OPEN 1 | create >OPEN 1`, linear.Options{}).Result())
	v, err := checked(text, []byte(strings.ReplaceAll(string(lines(t, "counter", `1-2 s k create {"stock":7} | Applied OPEN 1 | create >OPEN 1`)), `"key":"k"`, `"key":"k\u0000"`)), linear.Options{})
	require.NoError(t, err)
	require.Equal(t, linear.Refused, v.Result())
}

// The columns that an answer shows are held against the row.
func TestColumnsOfAnAnswer(t *testing.T) {
	t.Parallel()
	m := order(t)
	text := string(lines(t, "order", born+`10-11 c a payment_succeeded {"payment_no":"P1","paid_cents":100} | Applied PAID 2 | payment_succeeded PENDING>PAID 2`))
	require.Contains(t, text, `"state":"PAID"`)
	for columns, want := range map[string]linear.Result{
		`{"paid_cents":100,"payment_no":"P1","paid_at":"2026-01-01T00:00:00Z","total_cents":"100"}`: linear.Accepted,
		`{}`:                   linear.Accepted,
		`{"paid_cents":0}`:     linear.Refused,
		`{"payment_no":null}`:  linear.Refused,
		`{"payment_no":"P2"}`:  linear.Refused,
		`{"paid_at":null}`:     linear.Refused,
		`{"refund_cents":100}`: linear.Refused,
	} {
		v, err := checked(m, []byte(strings.Replace(text, `"state":"PAID"`, `"columns":`+columns+`,"state":"PAID"`, 1)), linear.Options{})
		require.NoError(t, err)
		require.Equal(t, want, v.Result(), "%s: %s", columns, v.Findings())
		if want == linear.Refused {
			require.Contains(t, v.Findings(), ", with ")
		}
	}
	_, err := checked(m, []byte(strings.Replace(text, `"state":"PAID"`, `"columns":{"paid_centz":100},"state":"PAID"`, 1)), linear.Options{})
	require.ErrorContains(t, err, `machine order has no column "paid_centz"`)
}
