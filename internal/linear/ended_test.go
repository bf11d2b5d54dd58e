package linear_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/evaluate"
	"github.com/pawl-go/pawl/internal/linear"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// hard is a history about which a search does not decide: each call may have been
// first, or never.
func hard() string {
	var b strings.Builder
	alone, _, _ := strings.Cut(strings.TrimSpace(born), "\n")
	b.WriteString(alone + "\n")
	for i := range 40 {
		fmt.Fprintf(&b, "10-11 c%d a payment_succeeded {\"payment_no\":\"P%d\",\"paid_cents\":99} | unknown\n", i, i)
	}
	b.WriteString(`50-51 d a read | {"state":"PENDING","version":9}`)
	return b.String()
}

// asked is a judge that says when it was asked first.
type asked struct {
	oracle.Judge
	first context.CancelFunc
}

func (a asked) Holds(e *model.Expr, in oracle.Context) (truth, known bool, err error) {
	a.first()
	return a.Judge.Holds(e, in)
}

// Who ends the context does not wait for the search.
func TestASearchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	m := order(t)
	h, err := linear.NewHistory(m)
	require.NoError(t, err)
	require.NoError(t, h.Read(bytes.NewReader(lines(t, m.Name, hard())), "h.jsonl"))
	ctx, cancel := context.WithCancel(t.Context())
	const timeout = 2 * time.Minute // which a search that knows nothing of ctx takes
	began := time.Now()
	_, err = linear.Check(ctx, h, linear.Options{Timeout: timeout, Judge: asked{evaluate.For(m), cancel}})
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, time.Since(began), timeout/2)
}
