package record_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/record"
)

type (
	state  string
	result = fsm.Result[state, struct{}]
	params struct {
		PaymentNo string
		PaidCents int64
		Note      *string
		Rate      float64
		Amount    pgtype.Numeric
	}
)

// step is a clock that counts.
func step() record.Option {
	n := int64(0)
	return record.Clock(func() int64 { n++; return n })
}

func applied() (result, error) {
	return result{Outcome: fsm.Applied, State: "PAID", Version: 2, Transition: fsm.Transition[state]{Event: "pay", Outcome: fsm.Applied, From: "NEW", To: "PAID", Version: 2}}, nil
}

func fails(err error) func() (result, error) {
	return func() (result, error) { return result{}, err }
}

// lines are what was written.
func lines(t *testing.T, b *bytes.Buffer) []string {
	t.Helper()
	text := strings.TrimSuffix(b.String(), "\n")
	for _, l := range strings.Split(text, "\n") {
		require.True(t, json.Valid([]byte(l)), l)
	}
	return strings.Split(text, "\n")
}

func TestACallIsTwoLines(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	rec := record.New(&b, "order", record.Name("r"), step())
	expect, at := fsm.ExpectVersion(0), fsm.At(time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC))
	got, err := record.Call(rec, "c1", "7", "pay", params{PaymentNo: "P1", PaidCents: 9007199254740993, Rate: math.Inf(1)}, applied, expect, at, fsm.Actor("ann"), nil)
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, got.Outcome)
	_, err = record.Call(rec.For("refund"), "c1", struct{ A, B any }{}, "pay", nil, fails(errors.New("secret")))
	require.EqualError(t, err, "secret")
	require.ErrorContains(t, rec.Err(), "record pay: ")
	require.Equal(t, []string{
		`{"type":"call","id":"r-1","at":1,"client":"c1","machine":"order","key":"7","event":"pay","params":{"Amount":null,"Note":null,"PaidCents":9007199254740993,"PaymentNo":"P1","Rate":"Infinity"},"expect":0,"now":"2026-01-02T03:04:05.000006Z"}`,
		`{"type":"return","id":"r-1","at":2,"outcome":"Applied","state":"PAID","version":2,"transition":{"event":"pay","outcome":"Applied","from":"NEW","to":"PAID","version":2}}`,
	}, lines(t, &b), "after an error nothing more is written")
}

func TestErrorsAreRecordedByTheirKind(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"unknown":      &fsm.CallError{Kind: fsm.ErrUnknown},
		"not found":    &fsm.CallError{Kind: fsm.ErrNotFound},
		"argument":     &fsm.CallError{Kind: fsm.ErrArgument, Err: errors.New("P1")},
		"contended":    &fsm.CallError{Kind: fsm.ErrContended},
		"nothing done": &fsm.CallError{Kind: fsm.ErrNothingDone, Err: errors.New("40001")},
	} {
		require.Equal(t, want, errorOf(t, err))
	}
	require.Equal(t, "nothing done", errorOf(t, fmt.Errorf("mine: %w", &fsm.CallError{Err: errors.New("of a Then")})))
	require.Equal(t, "unknown", errorOf(t, &fsm.CallError{Err: &fsm.CallError{Kind: fsm.ErrUnknown}}), "whatever may be unknown is")
	require.Equal(t, "unknown", errorOf(t, errors.New("somebody else's")))
}

func errorOf(t *testing.T, err error) string {
	t.Helper()
	var b bytes.Buffer
	_, _ = record.Call(record.New(&b, "order"), "c", "k", "pay", nil, fails(err))
	require.NotContains(t, b.String(), "P1")
	var l struct{ Error string }
	require.NoError(t, json.Unmarshal([]byte(lines(t, &b)[1]), &l))
	return l.Error
}

func TestKeys(t *testing.T) {
	t.Parallel()
	type key string
	for want, k := range map[string]any{
		`a`: key("a"), `-7`: int64(-7), `true`: true,
		`["a\"", 7, false]`: struct {
			Tenant key
			ID     int32
			Old    bool
		}{`a"`, 7, false},
	} {
		var b bytes.Buffer
		rec := record.New(&b, "order")
		rec.Invoke("c", k, "pay", nil)
		require.NoError(t, rec.Err())
		var l struct{ Key string }
		require.NoError(t, json.Unmarshal(b.Bytes(), &l))
		require.Equal(t, want, l.Key)
	}
	for _, bad := range []any{nil, 1.5, []byte("a"), struct{ At time.Time }{}} {
		rec := record.New(&bytes.Buffer{}, "order")
		rec.Invoke("c", bad, "pay", nil)
		require.Error(t, rec.Err(), "%v", bad)
	}
	for _, bad := range []any{1, "text", []int{}, struct{ F func() }{}} {
		rec := record.New(&bytes.Buffer{}, "order")
		rec.Invoke("c", "k", "pay", bad)
		require.Error(t, rec.Err(), "%v", bad)
	}
}

func TestAnswersOfATransactionWaitForItsEnd(t *testing.T) {
	t.Parallel()
	for want, end := range map[string]func(*record.Tx){
		`"outcome":"Applied"`:    func(tx *record.Tx) { tx.Ended(nil) },
		`"error":"unknown"`:      func(tx *record.Tx) { tx.Ended(errors.New("connection reset")) },
		`"error":"nothing done"`: func(tx *record.Tx) { tx.RolledBack() },
	} {
		var b bytes.Buffer
		rec := record.New(&b, "order", step())
		tx := rec.Begin()
		_, _ = record.Call(tx, "c", "1", "pay", nil, applied)
		_, _ = record.Call(tx.For("refund"), "c", "2", "pay", nil, applied)
		_, _ = record.Call(tx, "c", "3", "pay", nil, fails(&fsm.CallError{Kind: fsm.ErrNotFound}))
		before := lines(t, &b)
		require.Len(t, before, 4)
		require.Contains(t, before[1], `"machine":"refund"`)
		require.Contains(t, before[1], `"since":1`)
		require.Contains(t, before[3], `"not found"`)
		end(tx)
		tx.Ended(nil) // the first end counts
		tx.RolledBack()
		after := lines(t, &b)
		require.Len(t, after, 6)
		require.Contains(t, after[4], want)
		require.Contains(t, after[5], want)
		_, _ = record.Call(tx, "c", "4", "pay", nil, applied)
		require.Len(t, lines(t, &b), 8, "what ends after the transaction has nothing to wait for")
	}
	for _, err := range []error{pgx.ErrTxCommitRollback, fmt.Errorf("%w: commit", fsm.ErrNothingDone)} {
		var b bytes.Buffer
		tx := record.New(&b, "order").Begin()
		_, _ = record.Call(tx, "c", "1", "pay", nil, applied)
		tx.Ended(err)
		require.Contains(t, lines(t, &b)[1], `"error":"nothing done"`)
	}
}

func TestOnlyTheFirstEndCounts(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	p := record.New(&b, "order").Invoke("c", "1", "pay", nil)
	p.Failed(fsm.ErrContended)
	p.Answered(record.Answer{Outcome: fsm.Applied})
	require.Len(t, lines(t, &b), 2)
}

// The order of the lines is that of their times, whoever writes them.
func TestLinesAreInTheOrderOfTime(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	rec := record.New(&b, "order")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				_, _ = record.Call(rec, "c", "1", "pay", nil, applied)
			}
		})
	}
	all.Wait()
	last, ids := int64(0), map[string]int{}
	for _, text := range lines(t, &b) {
		var l struct {
			ID string
			At int64
		}
		require.NoError(t, json.Unmarshal([]byte(text), &l))
		require.Greater(t, l.At, last)
		last = l.At
		ids[l.ID]++
	}
	require.Len(t, ids, 800)
}

type broken struct{ n int }

func (w *broken) Write(b []byte) (int, error) {
	if w.n--; w.n < 0 {
		return 0, errors.New("disk full")
	}
	return len(b), nil
}

func TestAnErrorOfWritingIsKept(t *testing.T) {
	t.Parallel()
	rec := record.New(&broken{1}, "order")
	got, err := record.Call(rec, "c", "1", "pay", nil, applied)
	require.NoError(t, err, "the call is not the recorder's to fail")
	require.Equal(t, fsm.Applied, got.Outcome)
	require.EqualError(t, rec.Err(), "record: disk full")
}

func TestSweepsAreRecorded(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	rec := record.New(&b, "order", record.Name("r"), step())
	sweeps := record.Sweeps(rec, "sweeper", []fsm.Sweep{
		func(context.Context, fsm.DB, fsm.SweepPage) ([]fsm.Swept, error) {
			return []fsm.Swept{{Machine: "order", Event: "expire", Key: "7", From: "NEW", To: "GONE", Version: 2}}, nil
		},
		func(context.Context, fsm.DB, fsm.SweepPage) ([]fsm.Swept, error) {
			return nil, &fsm.CallError{Kind: fsm.ErrUnknown}
		},
	})
	n, err := (&fsm.Sweeper{Sweeps: sweeps}).Once(t.Context())
	require.ErrorIs(t, err, fsm.ErrUnknown)
	require.Equal(t, 1, n)
	require.Equal(t, []string{
		`{"type":"call","id":"r-1","at":1,"client":"sweeper","machine":"order","event":"sweep"}`,
		`{"type":"return","id":"r-1","at":2,"swept":[{"event":"expire","key":"7","from":"NEW","to":"GONE","version":2}]}`,
		`{"type":"call","id":"r-2","at":3,"client":"sweeper","machine":"order","event":"sweep"}`,
		`{"type":"return","id":"r-2","at":4,"error":"unknown"}`,
	}, lines(t, &b))
}

func TestReadingsAndRowsFromBefore(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	rec := record.New(&b, "order", step())
	rec.Begins("7", record.Row{State: "NEW", Version: 1, Facts: []record.Fact{}})
	_, err := rec.Read("c", "7", func() (record.Row, error) { return record.Row{Gone: true}, nil })
	require.NoError(t, err)
	_, err = rec.Read("c", "7", func() (record.Row, error) { return record.Row{}, errors.New("none") })
	require.EqualError(t, err, "none")
	require.Equal(t, []string{
		`{"type":"row","at":1,"machine":"order","key":"7","state":"NEW","version":1,"facts":[]}`,
		`{"type":"read","at":3,"client":"c","machine":"order","key":"7","since":2,"gone":true}`,
	}, lines(t, &b))
}

func TestRecordNeedsPgxAlone(t *testing.T) {
	t.Parallel()
	const path = "github.com/pawl-go/pawl/fsm"
	others := func(pkg string) []string {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", pkg).Output()
		require.NoError(t, err)
		return strings.Fields(string(out))
	}
	require.Subset(t, append(others("github.com/jackc/pgx/v5/pgxpool"), path, path+"/internal/sleep", path+"/record"), others(path+"/record"))
}

// refusing is a database that lets nobody read.
type refusing struct{ err error }

func (r refusing) BeginTx(context.Context, pgx.TxOptions) (pgx.Tx, error) { return nil, r.err }

// Who asked for what says so in the error: a bare 42501 does not.
func TestWhatCouldNotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	denied := errors.New("permission denied for table fsm_outbox")
	rec := record.New(&bytes.Buffer{}, "order", step())
	table := record.Table{Name: "orders", Key: []string{"order_id"}}
	err := rec.Found(t.Context(), refusing{denied}, table)
	require.ErrorIs(t, err, denied)
	require.EqualError(t, err, "record: found: permission denied for table fsm_outbox")
	err = rec.Began(t.Context(), refusing{denied}, table)
	require.ErrorIs(t, err, denied)
	require.EqualError(t, err, "record: began: permission denied for table fsm_outbox")
}

// A row whose key is empty is a row, and not all of them.
func TestAnEmptyKeyIsAKey(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	rec := record.New(&b, "order", record.Name("r"), step())
	rec.Begins("", record.Row{State: "NEW", Version: 1})
	rec.Invoke("c", "", "pay", nil)
	_, err := rec.Read("c", "", func() (record.Row, error) { return record.Row{Gone: true}, nil })
	require.NoError(t, err)
	require.Equal(t, []string{
		`{"type":"row","at":1,"machine":"order","key":"","state":"NEW","version":1}`,
		`{"type":"call","id":"r-1","at":2,"client":"c","machine":"order","key":"","event":"pay"}`,
		`{"type":"read","at":4,"client":"c","machine":"order","key":"","since":3,"gone":true}`,
	}, lines(t, &b))
}
