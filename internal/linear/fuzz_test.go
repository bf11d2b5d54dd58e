package linear_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/evaluate"
	"github.com/pawl-go/pawl/internal/linear"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// FuzzHistory reads and checks bytes as a history, and draws what is refused. Whatever
// they are, they are a bad line or get a verdict, twice the same one; and a history that
// can be true still can when one answer less is known.
func FuzzHistory(f *testing.F) {
	m := order(f)
	const paid = `10-11 c a payment_succeeded {"payment_no":"P1","paid_cents":100} | Applied PAID 2 | payment_succeeded PENDING>PAID 2
	`
	for _, text := range []string{
		born + paid + `12-13 d b payment_succeeded {"payment_no":"P1","paid_cents":100} | Mismatched PENDING 1 | none`,
		born + paid + `12-13 c a refund {"refund_no":"R1","amount_cents":9223372036854775807} | Applied PAID 3 | refund PAID>PAID 3`,
		born + `10-11 c a pay | unknown
			12-13 d a read | {"state":"PAYING","version":2,"columns":{"paid_cents":0},"facts":[],"outbox":[]}`,
		`1-2 s a row | {"state":"PAID","version":7,"history":[{"event":"pay","from":"PENDING","to":"PAID","version":7}]}
			10-11 c a correct {"to":"PENDING"} | Stale PAID 7 expects@3 | none
			12-13 c a ship | not found snapshot@5`,
	} {
		f.Add(lines(f, m.Name, text))
	}
	head := string(lines(f, m.Name, born))
	f.Add([]byte(head + `{"type":"read","machine":"order","since":90,"at":9,"gone":true}` + "\n"))
	f.Add([]byte(head + `{"type":"call","id":"s","at":9,"machine":"order","event":"sweep"}` + "\n" +
		`{"type":"return","id":"s","at":12,"swept":[{"event":"expire","key":"` + keyA + `","from":"PENDING","to":"CANCELLED","version":2}]}` + "\n" +
		`{"type":"row","machine":"order","at":1,"gone":true}` + "\n" + `{"type":"read","machine":"order","since":20,"at":21,"gone":true}` + "\n"))
	judge := evaluate.For(m) // which reads each expression once
	f.Fuzz(func(t *testing.T, text []byte) {
		is, known := fuzzed(t, m, judge, text)
		again, _ := fuzzed(t, m, judge, text)
		decided := is != linear.Unknown && again != linear.Unknown
		if known && decided {
			require.Equal(t, is, again)
		}
		if less, some := without(text); known && some && is == linear.Accepted {
			if is, known := fuzzed(t, m, judge, less); known {
				require.NotEqual(t, linear.Refused, is, "accepted: %s\nrefused: %s", text, less)
			}
		}
	})
}

// fuzzed is the verdict on a history, and whether there is one.
func fuzzed(t *testing.T, m *model.Machine, judge oracle.Judge, text []byte) (linear.Result, bool) {
	t.Helper()
	h, err := linear.NewHistory(m)
	require.NoError(t, err)
	var bad *linear.HistoryError
	if err := h.Read(bytes.NewReader(text), "h.jsonl"); err != nil {
		require.ErrorAs(t, err, &bad)
		return "", false
	}
	v, err := linear.Check(context.Background(), h, linear.Options{Judge: judge, Timeout: 100 * time.Millisecond, Workers: 1})
	if err != nil {
		require.True(t, errors.As(err, &bad) || errors.Is(err, linear.ErrNothing), err)
		return "", false
	}
	require.Equal(t, v.Result() == linear.Refused, v.Refusal != nil)
	require.NotEmpty(t, v.Summary())
	if v.Refusal != nil {
		require.NotEmpty(t, v.Refusal.String())
		require.NoError(t, v.Refusal.Visualize(context.Background(), &bytes.Buffer{}))
	}
	return v.Result(), true
}

// without is the history less its last answer. One that is as old as its transaction
// tells of a time before the call, which the call alone does not.
func without(text []byte) ([]byte, bool) {
	all := bytes.SplitAfter(text, []byte("\n"))
	for i, l := range slices.Backward(all) {
		var line struct {
			Type, Error string
			Snapshot    bool
			Swept       []any
		}
		if json.Unmarshal(l, &line) == nil && line.Type == "return" {
			if line.Snapshot || line.Error == "not found" || line.Swept != nil {
				return nil, false
			}
			return bytes.Join(slices.Delete(all, i, i+1), nil), true
		}
	}
	return nil, false
}
