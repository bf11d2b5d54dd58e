package simulate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/oracle"
	"github.com/pawl-go/pawl/internal/simulate"
)

func TestALifeIsTold(t *testing.T) {
	t.Parallel()
	tape := play(t, sample(t), bought+"/pay/payment_succeeded,payment_no=p1,paid_cents=100/ship/.wait,10d/.sweep")
	require.Equal(t, "Applied, Applied, Applied, Applied, passed, Applied", outcomes(tape))

	paid := tape.Steps[2]
	require.Equal(t, []any{"PAYING", "PAID", int64(2), int64(3)}, []any{paid.From, paid.To, paid.Was, paid.Version})
	require.Equal(t, []string{"order_paid"}, paid.Emits)
	require.Equal(t, "p1", paid.Fact.Identity)
	require.Equal(t, "100", paid.Fact.Fingerprint)
	require.True(t, paid.Due.IsZero())
	set := map[string][2]any{}
	for _, c := range paid.Set {
		set[c.Column.Name] = [2]any{c.Before, c.After}
	}
	require.Equal(t, map[string][2]any{"paid_cents": {int64(0), int64(100)}, "payment_no": {nil, "p1"}, "paid_at": {nil, simulate.Start}}, set)
	require.Len(t, paid.Guards, 1)
	require.Equal(t, simulate.True, paid.Guards[0].Guard.Truth)
	require.True(t, paid.Guards[0].Taken)

	shipped, received := tape.Steps[3], tape.Steps[5]
	require.Equal(t, simulate.Start.Add(240*time.Hour), shipped.Due)
	require.Equal(t, "receive", received.Event.Name)
	require.Equal(t, "COMPLETED", received.To)
	require.Equal(t, simulate.Start.Add(240*time.Hour), received.At)

	require.Len(t, tape.History(), 5)
	require.Equal(t, oracle.Transition{Event: "create", Outcome: oracle.Applied, To: "PENDING", Version: 1}, tape.History()[0].Transition)
	require.Equal(t, []simulate.Message{{1, "order_created", "create", 1}, {3, "order_paid", "payment_succeeded", 3}}, tape.Outbox())
	columns := map[string]any{}
	for _, c := range tape.Columns() {
		columns[c.Column.Name] = c.Value
	}
	require.Equal(t, int64(100), columns["paid_cents"])
	require.Equal(t, "tea", columns["sku"])
}

func TestWhatACallAnswersAndWhy(t *testing.T) {
	t.Parallel()
	m := sample(t)
	paid := bought + "/payment_succeeded,payment_no=p1,paid_cents=100"
	for _, c := range []struct {
		steps   string
		outcome simulate.Outcome
		why     func(t *testing.T, s simulate.Told)
	}{
		{"1/pay", oracle.NotFound, nil},
		{bought + "/payment_succeeded,payment_no=p1,paid_cents=99", oracle.Compensated, func(t *testing.T, s simulate.Told) {
			require.Equal(t, simulate.False, s.Guards[0].Guard.Truth)
			require.False(t, s.Guards[0].Taken)
			require.Equal(t, []string{"refund_due"}, s.Emits)
			require.NotNil(t, s.Fact)
			require.False(t, s.History)
			require.Empty(t, s.Set)
		}},
		{paid + "/payment_succeeded,payment_no=p1,paid_cents=100", oracle.Replayed, func(t *testing.T, s simulate.Told) {
			require.Equal(t, 2, s.Known.Step)
			require.True(t, s.Known.Same)
			require.Nil(t, s.Cell)
			require.Empty(t, s.Guards)
			require.Equal(t, oracle.Transition{Event: "payment_succeeded", Outcome: oracle.Applied, From: "PENDING", To: "PAID", Version: 2}, s.Made)
		}},
		{paid + "/payment_succeeded,payment_no=p1,paid_cents=101", oracle.Mismatched, func(t *testing.T, s simulate.Told) {
			require.False(t, s.Known.Same)
			require.Equal(t, "101", s.Known.Told)
			require.Equal(t, "100", s.Known.Fact.Fingerprint)
		}},
		{paid + "/payment_failed,payment_no=p1", oracle.Ignored, func(t *testing.T, s simulate.Told) {
			require.Nil(t, s.Known, "an identity is one of its event")
		}},
		{paid + "/refund,refund_no=r1,amount_cents=40", oracle.Applied, func(t *testing.T, s simulate.Told) {
			require.Equal(t, simulate.True, s.Guards[0].Guard.Truth)
			require.Nil(t, s.Guards[1].Guard, "nobody looks behind a guard that is true")
		}},
		{paid + "/refund,refund_no=r1,amount_cents=100", oracle.Applied, func(t *testing.T, s simulate.Told) {
			require.Equal(t, simulate.False, s.Guards[0].Guard.Truth)
			require.True(t, s.Guards[1].Taken)
			require.Equal(t, "REFUNDING", s.To)
		}},
		{paid + "/refund,refund_no=r1,amount_cents=101", oracle.GuardFailed, nil},
		{paid + "/refund,refund_no=r1,amount_cents=0", oracle.BadArgument, func(t *testing.T, s simulate.Told) {
			require.Equal(t, "@amount_cents", s.Checks[0].Of)
			require.Equal(t, simulate.False, s.Checks[0].Truth)
		}},
		{paid + "/refund,refund_no=,amount_cents=1", oracle.BadArgument, func(t *testing.T, s simulate.Told) {
			require.Equal(t, "refund_no", s.Param.Name)
			require.Equal(t, oracle.Empty, s.Fault)
		}},
		{paid + "/refund_succeeded,refund_no=r1,payment_no=p1,amount_cents=9223372036854775807", oracle.Compensated, nil},
		{paid + "/refund,refund_no=r1,amount_cents=9/refund_succeeded,refund_no=r1,payment_no=p1,amount_cents=9/refund_succeeded,refund_no=r2,payment_no=p1,amount_cents=9223372036854775807", simulate.Failed, func(t *testing.T, s simulate.Told) {
			require.Equal(t, "22003", s.Error.State)
			require.Equal(t, int64(4), s.Version)
		}},
		{"1/.given,PAID@9223372036854775806/ship", oracle.Applied, nil},
		{"1/.given,PAID@9223372036854775807/ship", simulate.Failed, func(t *testing.T, s simulate.Told) {
			require.Equal(t, "22003", s.Error.State)
			require.Equal(t, "bigint out of range", s.Error.Message)
			require.Equal(t, int64(9223372036854775807), s.Version)
			require.Equal(t, "PAID", s.To)
		}},
		{"1/.given,PAID@9223372036854775807/.correct,SHIPPED", simulate.Failed, nil},
		{"1/.given,PAID@9223372036854775807/cancel", oracle.Rejected, nil},
		{bought + "/pay@2", oracle.Stale, func(t *testing.T, s simulate.Told) {
			require.True(t, s.Guards[0].Taken)
			require.Equal(t, int64(1), s.Was)
		}},
		{bought + "/ship@7", oracle.Rejected, nil},
		{bought + "/.wait,29m/.sweep", simulate.NothingDue, nil},
		{bought + "/.wait,30m", simulate.Passed, nil},
		{bought + "/pay/.sweep", simulate.NothingDue, nil},
		{bought + "/.correct,SHIPPED", oracle.Applied, func(t *testing.T, s simulate.Told) {
			require.Equal(t, "SHIPPED", s.To)
			require.Equal(t, "correct", s.Made.Event)
			require.Empty(t, s.Emits)
		}},
		{bought + "/.correct,PENDING", oracle.Ignored, nil},
		{bought + "/.correct,PAID@4", oracle.Stale, nil},
		{"1/.create,customer_id=ann,sku=tea,quantity=0,total_cents=1", oracle.CheckFailed, func(t *testing.T, s simulate.Told) {
			require.Equal(t, "quantity", s.Checks[0].Of)
			require.Empty(t, s.To, "no row is there")
		}},
		{bought + "/.create,customer_id=ann,sku=tea,quantity=2,total_cents=100", oracle.Replayed, nil},
		{bought + "/.create,customer_id=ann,sku=tea,quantity=2,total_cents=101", oracle.Mismatched, nil},
		{"1/.given,PAID@9,total_cents=5,paid_cents=5,payment_no=p1,customer_id=a,sku=s,quantity=1/refund,refund_no=r,amount_cents=5", oracle.Applied, func(t *testing.T, s simulate.Told) {
			require.Equal(t, int64(10), s.Version)
			require.Equal(t, "REFUNDING", s.To)
		}},
		{"1/.given,CANCELLED/cancel", oracle.Replayed, func(t *testing.T, s simulate.Told) {
			require.Equal(t, oracle.EventUntold, s.Made.Event, "what made a row that was given is not known")
		}},
	} {
		t.Run(c.steps, func(t *testing.T) {
			t.Parallel()
			tape := play(t, m, c.steps)
			last := tape.Steps[len(tape.Steps)-1]
			require.Equal(t, c.outcome, last.Outcome)
			require.Nil(t, last.Problem)
			if c.why != nil {
				c.why(t, last)
			}
		})
	}
}

// A deadline with a max runs that often, and no more.
func TestADeadlineEnds(t *testing.T) {
	t.Parallel()
	text := bought + "/pay"
	for range 21 {
		text += "/.wait,15m/.sweep"
	}
	tape := play(t, sample(t), text)
	applied := 0
	for _, s := range tape.Steps[2:] {
		if s.Outcome == oracle.Applied {
			applied++
		}
	}
	require.Equal(t, 20, applied)
	require.Equal(t, simulate.NothingDue, tape.Steps[len(tape.Steps)-1].Outcome)
	r, there := tape.Row()
	require.True(t, there)
	require.Equal(t, 20, r.Runs)
	require.True(t, r.Due.IsZero())
}

// hard has what is not worked out here.
const hard = `machine: hard
table:
  name: hards
  key: {column: id, type: bigint}
  columns:
    note:  {type: text, default: "md5('a')"}
    rest:  {type: integer, check: rest < 100}
    stamp: {type: text, optional: true, check: length(stamp) > 1}
states: {A: {initial: true}, B: {}, C: {final: true}}
events:
  e: {params: {x: integer}}
  f: {expect: version, params: {word: {type: text, check: "md5(@word) <> ''"}}}
  half: {}
  end: {}
transitions:
  - {event: e, from: A, to: B, guard: {sql: "md5(note) = 'x'"}}
  - {event: e, from: A, to: C, guard: {sql: "10 / @x > 2"}}
  - {event: f, from: A, to: A, guard: {sql: "rest > 5"}, set: {stamp: md5(@word)}}
  - {event: half, from: A, to: B, guard: {sql: "note = 'b'"}}
  - {event: end, from: B, to: C}
`

func TestWhatCannotBeWorkedOutIsChosen(t *testing.T) {
	t.Parallel()
	m := machine(t, hard)
	const made = "1/.create,rest=6"

	tape := play(t, m, made)
	require.Equal(t, "Applied", outcomes(tape))
	require.Len(t, tape.Steps[0].Blind, 1, "the default of note")
	require.Equal(t, oracle.Untold{}, tape.Columns()[1].Value)

	open := play(t, m, made+"/e,x=1").Steps[1]
	require.Equal(t, simulate.Open, open.Outcome)
	require.Equal(t, "1", open.Guards[0].Guard.Of)
	require.Equal(t, simulate.Untold, open.Guards[0].Guard.Truth)
	require.NotEmpty(t, open.Guards[0].Guard.Cannot)
	require.Equal(t, int64(1), open.Version, "nothing is done")

	for choice, want := range map[string]string{"true": "B", "false": "C", "null": "C"} {
		s := play(t, m, made+"/e,x=1,.1="+choice).Steps[1]
		require.Equal(t, oracle.Applied, s.Outcome, choice)
		require.Equal(t, want, s.To, choice)
		require.NotEmpty(t, s.Guards[0].Guard.Cannot, "that it was chosen is said")
	}
	failed := play(t, m, made+"/e,x=0,.1=false").Steps[1]
	require.Equal(t, simulate.Failed, failed.Outcome)
	require.Equal(t, "22012", failed.Error.State)

	unknown := play(t, m, made+"/half").Steps[1]
	require.Equal(t, simulate.Open, unknown.Outcome)
	require.Equal(t, "note", unknown.Guards[0].Guard.Cannot, "it reads a value that is not known")

	late := play(t, m, made+"/f,word=b").Steps[1]
	require.Equal(t, oracle.BadArgument, late.Outcome)
	require.True(t, late.NoVersion)

	set := play(t, m, made+"/f@1,word=b").Steps[1]
	require.Equal(t, oracle.Applied, set.Outcome)
	require.Equal(t, []string{"@word", "stamp"}, []string{set.Checks[0].Of, set.Checks[1].Of}, "what was taken for true is said")
	require.True(t, set.Checks[0].Assumed)
	require.Equal(t, oracle.Untold{}, set.Set[0].After)

	for choice, want := range map[string]simulate.Outcome{".@word=false": oracle.BadArgument, ".stamp=false": oracle.CheckFailed, ".stamp=null": oracle.Applied} {
		require.Equal(t, want, play(t, m, made+"/f@1,word=b,"+choice).Steps[1].Outcome, choice)
	}
}

// A guard that is NULL is not true, and falls to the next.
func TestNullIsNotTrue(t *testing.T) {
	t.Parallel()
	m := machine(t, `machine: m
table:
  name: ms
  key: {column: id, type: bigint}
  columns: {num: {type: integer, optional: true}}
states: {A: {initial: true}, B: {final: true}, C: {final: true}}
events: {e: {}}
transitions:
  - {event: e, from: A, to: B, guard: {sql: num > 1}}
  - {event: e, from: A, to: C}
`)
	s := play(t, m, "1/.create/e").Steps[1]
	require.Equal(t, simulate.Null, s.Guards[0].Guard.Truth)
	require.False(t, s.Guards[0].Taken)
	require.True(t, s.Guards[1].Taken)
	require.Equal(t, "C", s.To)
	require.Equal(t, "B", play(t, m, "1/.create,num=2/e").Steps[1].To)
}

// Without a table there are outcomes of cells, facts included, and no row to show.
func TestAMachineWithoutATable(t *testing.T) {
	t.Parallel()
	m := machine(t, `machine: paper
states: {A: {initial: true, deadline: {after: 1h, event: late}}, B: {final: true}, C: {final: true}}
events:
  late: {otherwise: {ignore: '*'}}
  paid: {source: callback, params: {nr: text, sum: {type: bigint, check: "@sum > 0"}}, identity: [nr], fingerprint: [sum], otherwise: {compensate: {states: '*', emit: [back]}}}
transitions:
  - {event: late, from: A, to: B, emit: [too_late]}
  - {event: paid, from: A, to: C}
`)
	tape := play(t, m, "1/.create/.wait,1h/.sweep/paid,nr=1,sum=5/paid,nr=1,sum=5/paid,nr=1,sum=6/paid,nr=2,sum=0/late")
	require.Equal(t, "Applied, passed, Applied, Compensated, Replayed, Mismatched, bad argument, Ignored", outcomes(tape))
	require.Empty(t, tape.Columns())
	require.Len(t, tape.Ways(), 2)
	require.False(t, m.HasTable())
}
