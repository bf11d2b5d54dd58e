package storm

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/gen/order"
)

// end is how an order stands when all is over.
type end struct {
	status                   order.State
	paid, promised, returned int64
	payment                  string
}

func (o account) end() end { return end{o.status, o.paid, o.promised, o.returned, o.payment} }

// foreseen is what the oracle says must be in the database. Where a story may
// end in several ways, the answers that were given say which it was.
type foreseen struct {
	// strangeAnswers are stories whose answers fit no way to end, strangeEnds
	// orders that stand otherwise than foreseen.
	strangeAnswers, strangeEnds []string
	facts                       int64
	in                          int64
	orders                      []string // beside each other: an order and the money it brought
	ins                         []int64
	dueOrders, dueNumbers       []string // beside each other: payments that go back
	dueAmounts                  []int64
	cases                       []string // deliveries for a person
	reused                      []string // payment numbers told for two orders
	disbelieved                 []string // numbers and deliveries of forgers
}

// foresee runs the model over all stories. ends holds what the database says of
// each order, by its id.
func foresee(s *Script, l *log, ends map[string]end) *foreseen {
	f := &foreseen{}
	index := l.byOrder()
	for _, st := range s.stories {
		w := f.choose(s, st, l.toldIn(st, index), l.kept, ends)
		f.facts += int64(len(w.facts))
		f.cases = append(f.cases, w.cases...)
		for _, i := range st.orders {
			id := s.purchases[i].id
			f.orders, f.ins = append(f.orders, id), append(f.ins, w.orders[i].in)
			f.in += w.orders[i].in
			if ends[id] != w.orders[i].end() {
				f.strangeEnds = append(f.strangeEnds, id)
			}
		}
		for _, d := range w.dues {
			if d.event == order.EventPaymentSucceeded {
				f.dueOrders = append(f.dueOrders, s.purchases[d.order].id)
				f.dueNumbers, f.dueAmounts = append(f.dueNumbers, d.number), append(f.dueAmounts, d.amount)
			}
		}
		f.noteTricks(st)
	}
	return f
}

// choose returns the way to end that fits answers and ends best.
func (f *foreseen) choose(s *Script, st story, told map[answer]int, kept bool, ends map[string]end) *world {
	ways := outcomesOf(st, s.purchases)
	answers := func(w *world) bool { return maps.Equal(w.answers(kept), told) }
	stands := func(w *world) bool {
		return !slices.ContainsFunc(st.orders, func(i int) bool { return ends[s.purchases[i].id] != w.orders[i].end() })
	}
	if i := slices.IndexFunc(ways, func(w *world) bool { return answers(w) && stands(w) }); i >= 0 {
		return ways[i]
	}
	if i := slices.IndexFunc(ways, answers); i >= 0 {
		return ways[i]
	}
	f.strangeAnswers = append(f.strangeAnswers, s.purchases[st.orders[0]].id+" "+st.name)
	return ways[max(0, slices.IndexFunc(ways, stands))]
}

// answers are what callers are told. Where a callback is kept first, the provider hears
// no more than that.
func (w *world) answers(kept bool) map[answer]int {
	if !kept {
		return w.told
	}
	told := map[answer]int{}
	for a, n := range w.told {
		if callback(a.event) && a.told != toldRefused {
			a.told = toldDone
		}
		told[a] += n
	}
	return told
}

// noteTricks gathers what must have left no trace, and numbers told twice.
func (f *foreseen) noteTricks(st story) {
	of := map[string]int{}
	for _, t := range st.steps {
		switch {
		case t.trick == forged || t.trick == outdated:
			f.disbelieved = append(f.disbelieved, t.number, t.delivery)
		case t.event == order.EventPaymentSucceeded:
			if other, told := of[t.number]; told && other != t.order {
				f.reused = append(f.reused, t.number)
			}
			of[t.number] = t.order
		}
	}
}

// readEnds returns how the orders stand.
func readEnds(ctx context.Context, on querier) (map[string]end, error) {
	rows, err := on.Query(ctx, `SELECT order_id::text, status, paid_cents, refund_cents, refunded_cents, COALESCE(payment_no, '') FROM orders`)
	if err != nil {
		return nil, err
	}
	ends := map[string]end{}
	var (
		id string
		e  end
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &e.status, &e.paid, &e.promised, &e.returned, &e.payment}, func() error {
		ends[id] = e
		return nil
	})
	return ends, err
}
