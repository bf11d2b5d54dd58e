package load

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// A bundle is what is handed out at once, orders in groups of two: facts of one order
// are told of the other as well, so that the two have one history. Its orders are
// numbered from that of the bundle times numbered.
const (
	groupOrders = 2
	numbered    = 1000
)

// Orders are those of a bundle, more where they are led side by side, and a quarter of
// them in a short run.
func Orders(seed uint64, bundle int, short bool) []int {
	n := map[mode]int{modeSingle: 40, modeTx: 40, modeGather: 120, modeBatch: 300}[modeOf(seed, bundle)]
	if short {
		n = n / 4 / groupOrders * groupOrders
	}
	orders := make([]int, n)
	for i := range orders {
		orders[i] = bundle*numbered + i
	}
	return orders
}

// Skus is how many articles there are. Each has a stock that orders fight for.
const Skus = 16

// Sku is the name of an article.
func Sku(n int) string { return fmt.Sprintf("sku-%02d", n%Skus) }

// OrderKey is the key of an order of a run.
func OrderKey(seed uint64, n int) string {
	h := sha256.Sum256(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, seed), uint64(n)))
	h[6], h[8] = h[6]&0x0f|0x40, h[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// step is one call of a story.
type step struct {
	verb, key string
	p         params
	// expects has the call expect the version that its client was told last.
	expects bool
	// order is which order of the run it is a call of, or of something that belongs to it.
	order int
}

// story is what happens to one order: what leads it through its life, and what others
// say of it at the same time.
type story struct {
	order int
	key   string
	lead  []step
	echo  []step
}

// tell of an order writes its story, from the seed and its number alone.
func storyOf(seed uint64, n int) story {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	s := story{order: n, key: OrderKey(seed, n)}
	name := func(what string) string { return fmt.Sprintf("%s-%d-%d", what, seed, n) }
	total := int64(100 + r.IntN(900))
	pay := params{no: name("P"), cents: total, orderID: s.key}
	s.add("order create", s.key, params{no: Sku(n), cents: total})
	s.add("payment create", pay.no, pay)
	s.add("order pay", s.key, params{})
	s.add("payment submit", pay.no, params{})
	for i := range r.IntN(3) {
		failed := params{no: fmt.Sprintf("%s-%d", name("F"), i)}
		s.twice(r, "order payment_failed", s.key, failed)
		s.add("order pay", s.key, params{})
	}
	if r.IntN(7) == 0 { // too little
		s.twice(r, "order payment_succeeded", s.key, params{no: name("W"), cents: total - 1})
	}
	if r.IntN(10) == 0 { // too late, as often as not
		s.hear("order cancel", s.key, params{})
	}
	s.add("payment succeed", pay.no, params{no: "ref-" + pay.no, cents: total})
	s.hear("payment succeed", pay.no, params{no: "ref-" + pay.no, cents: total})
	s.twice(r, "order payment_succeeded", s.key, pay)
	s.aside(seed, r, name, pay)
	s.returns(r, name, pay)
	if r.IntN(40) == 0 {
		s.add("order correct", s.key, params{})
	}
	r.Shuffle(len(s.echo), func(i, j int) { s.echo[i], s.echo[j] = s.echo[j], s.echo[i] })
	return s
}

// aside is what else is said about a payment: that there was a second one, the same
// with another amount, or of another order, or that it was given up.
func (s *story) aside(seed uint64, r *rand.Rand, name func(string) string, pay params) {
	if r.IntN(7) == 0 {
		s.twice(r, "order payment_succeeded", s.key, params{no: name("S"), cents: pay.cents})
	}
	if r.IntN(9) == 0 {
		s.hear("order payment_succeeded", s.key, params{no: pay.no, cents: pay.cents + 7})
	}
	if r.IntN(9) == 0 {
		other := s.order ^ 1 // which takes it where it asks for as much, and was asked first
		s.echo = append(s.echo, step{verb: "order payment_succeeded", key: OrderKey(seed, other), p: pay, order: other})
	}
	if r.IntN(9) == 0 {
		s.hear("payment fail", pay.no, params{})
		s.hear("payment close", pay.no, params{})
	}
	if r.IntN(6) == 0 {
		s.lead = append(s.lead, step{verb: "order ship", key: s.key, expects: true, order: s.order})
	}
	s.add("order ship", s.key, params{})
}

// returns gives parts of the money back, and perhaps all that is left.
func (s *story) returns(r *rand.Rand, name func(string) string, pay params) {
	left, parts := pay.cents, r.IntN(6)
	for i := range parts {
		back := params{no: fmt.Sprintf("%s-%d", name("R"), i), paymentNo: pay.no, orderID: s.key, cents: 1 + r.Int64N(pay.cents/8)}
		if i == parts-1 && r.IntN(3) == 0 {
			back.cents = left
		}
		left -= back.cents
		s.twice(r, "order refund", s.key, back)
		s.add("refund create", back.no, back)
		s.add("refund send", back.no, params{})
		if r.IntN(8) == 0 {
			s.add("refund stick", back.no, params{})
			s.add("refund retry", back.no, params{})
		}
		done := params{no: "ref-" + back.no, cents: back.cents}
		s.add("refund succeed", back.no, done)
		s.hear("refund succeed", back.no, done)
		s.twice(r, "order refund_succeeded", s.key, back)
		if r.IntN(12) == 0 {
			s.twice(r, "order refund_failed", s.key, params{no: back.no + "-x"})
		}
		if i == 1 {
			s.add("order receive", s.key, params{})
		}
	}
	if parts < 2 {
		s.add("order receive", s.key, params{})
	}
}

func (s *story) add(verb, key string, p params) {
	s.lead = append(s.lead, step{verb: verb, key: key, p: p, order: s.order})
}

func (s *story) hear(verb, key string, p params) {
	s.echo = append(s.echo, step{verb: verb, key: key, p: p, order: s.order})
}

// twice delivers a callback one to six times: once or twice to who leads the order,
// and up to four times to the other service.
func (s *story) twice(r *rand.Rand, verb, key string, p params) {
	s.add(verb, key, p)
	if r.IntN(4) == 0 {
		s.add(verb, key, p)
	}
	for range r.IntN(5) {
		s.hear(verb, key, p)
	}
}

// mode is how the calls of a bundle are made.
type mode string

const (
	modeSingle mode = "single"
	modeTx     mode = "tx"
	modeBatch  mode = "batch"
	modeGather mode = "coalesced"
)

// modeOf is the same in both services.
func modeOf(seed uint64, bundle int) mode {
	all := []mode{modeSingle, modeTx, modeBatch, modeGather, modeSingle, modeBatch}
	return all[(bundle+int(seed%6))%len(all)]
}
