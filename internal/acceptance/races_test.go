package acceptance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/gen/order"
)

// race is one staged race: winner writes and holds its locks, loser waits for
// it, winner commits, loser answers. naive takes the loser's place in a second
// run on fresh orders, which shows that the staging catches the fault.
type race struct {
	name          string
	given         []act
	winner, loser act
	of            order.Key // whose life is compared

	told   string
	leaves life

	naive       act
	naiveTold   string
	naiveLeaves life
}

func races() []race {
	return []race{
		{
			name:   "the loser reads the committed row",
			winner: paid(key1, "P1", due), loser: paid(key1, "P1", due),
			told:   "Replayed PAID 2",
			leaves: life{"PAID 2 100/0", "payment_succeeded:PENDING>PAID", "P1=Applied", "order_paid"},
			naive:  snapshotFallback(key1, "P1"), naiveTold: "Replayed PENDING 1",
			naiveLeaves: life{"PAID 2 100/0", "payment_succeeded:PENDING>PAID", "P1=Applied", "order_paid"},
		},
		{
			name:   "history says the state that was left",
			winner: event(order.Pay, key1), loser: paid(key1, "P1", due),
			told:   "Applied PAID 3",
			leaves: life{"PAID 3 100/0", "pay:PENDING>PAYING payment_succeeded:PAYING>PAID", "P1=Applied", "order_paid"},
			naive:  fromOfJoinedRow(key1, "P1"), naiveTold: "Applied PAID 3",
			naiveLeaves: life{"PAID 3 100/0", "pay:PENDING>PAYING payment_succeeded:PENDING>PAID", "", ""},
		},
		{
			name:   "a second payment told twice is compensated once",
			given:  []act{paid(key1, "P1", due)},
			winner: paid(key1, "P2", due), loser: paid(key1, "P2", due),
			told:   "Replayed PAID 2",
			leaves: life{"PAID 2 100/0", "payment_succeeded:PENDING>PAID", "P1=Applied P2=Compensated", "order_paid refund_due"},
			naive:  emitFromLocked(key1, "P2"), naiveTold: "Compensated PAID 2",
			naiveLeaves: life{"PAID 2 100/0", "payment_succeeded:PENDING>PAID", "P1=Applied P2=Compensated", "order_paid refund_due refund_due"},
		},
		{
			name:   "one payment number on two orders moves one of them",
			winner: paid(key1, "P1", due), loser: paid(key2, "P1", due), of: key2,
			told:   "Mismatched PENDING 1",
			leaves: life{Row: "PENDING 1 0/0"},
			naive:  moveBeforeFact(key2, "P1"), naiveTold: "Applied PAID 2",
			naiveLeaves: life{Row: "PAID 2 100/0"},
		},
		{
			name:   "two refunds of 60 out of 100",
			given:  []act{paid(key1, "P1", due)},
			winner: both(refund(key1, "R1", 60), child(key1, 60)), loser: refund(key1, "R2", 60),
			told:   "GuardFailed PAID 3",
			leaves: life{"PAID 3 100/60", "payment_succeeded:PENDING>PAID refund:PAID>PAID", "P1=Applied R1=Applied", "order_paid refund_due"},
			naive:  sumOfChildren(key1, 60), naiveTold: "Applied, 120 of 100",
			naiveLeaves: life{"PAID 4 100/60", "payment_succeeded:PENDING>PAID refund:PAID>PAID", "P1=Applied R1=Applied", "order_paid refund_due"},
		},
		{
			name:   "a wrong amount, then the right payment",
			winner: paid(key1, "P1", 99), loser: paid(key1, "P2", due),
			told:   "Applied PAID 2",
			leaves: life{"PAID 2 100/0", "payment_succeeded:PENDING>PAID", "P1=Compensated P2=Applied", "refund_due order_paid"},
			naive:  oneFactAnOrder(key1, "P2"), naiveTold: "Replayed PENDING 1",
			naiveLeaves: life{"PENDING 1 0/0", "", "P1=Compensated", "refund_due"},
		},
		{
			name:   "expiry waits for pay, and lets the order be",
			winner: event(order.Pay, key1), loser: event(order.Expire, key1),
			told:   "Ignored PAYING 2",
			leaves: life{Row: "PAYING 2 0/0", History: "pay:PENDING>PAYING"},
			naive:  lockAndJudgeInOne(key1), naiveTold: "Applied CANCELLED 3",
			naiveLeaves: life{Row: "CANCELLED 3 0/0", History: "pay:PENDING>PAYING"},
		},
		{
			name:   "cancel waits for the payment, and is refused",
			winner: paid(key1, "P1", due), loser: event(order.Cancel, key1),
			told:   "Rejected PAID 2",
			leaves: life{"PAID 2 100/0", "payment_succeeded:PENDING>PAID", "P1=Applied", "order_paid"},
			naive:  zeroRowsIsDone(key1), naiveTold: "Applied CANCELLED",
			naiveLeaves: life{"PAID 2 100/0", "payment_succeeded:PENDING>PAID", "P1=Applied", "order_paid"},
		},
		{
			name:   "the payment waits for the expiry, and goes back",
			winner: event(order.Expire, key1), loser: paid(key1, "P1", due),
			told:   "Applied REFUNDING 3",
			leaves: life{"REFUNDING 3 100/100", "expire:PENDING>CANCELLED payment_succeeded:CANCELLED>REFUNDING", "P1=Applied", "refund_due"},
			naive:  snapshotFallback(key1, "P1"), naiveTold: "Replayed PENDING 1",
			naiveLeaves: life{Row: "CANCELLED 2 0/0", History: "expire:PENDING>CANCELLED"},
		},
	}
}

func TestRaces(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.exec(`CREATE TABLE parts (order_id uuid NOT NULL REFERENCES orders ON DELETE CASCADE, cents bigint NOT NULL)`)
	for _, r := range races() {
		t.Run(r.name, func(t *testing.T) {
			s := &shop{t, s.pool}
			require.NotEqual(t, []any{r.told, r.leaves}, []any{r.naiveTold, r.naiveLeaves}, "the naive statement would do")
			r.run(s, r.loser, r.told, r.leaves)
			r.run(s, r.naive, r.naiveTold, r.naiveLeaves)
		})
	}
}

func (r race) run(s *shop, loser act, want string, leaves life) {
	s.t.Helper()
	s.again(key1, key2)
	s.must(r.given...)
	got := s.race(r.winner, loser)
	require.NoError(s.t, got.err)
	require.Equal(s.t, want, got.told)
	of := r.of
	if of == "" {
		of = key1
	}
	require.Equal(s.t, leaves, s.life(of))
}
