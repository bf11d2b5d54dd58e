package storm

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/pawl-go/pawl/gen/order"
)

// Script is what a storm tells the shop: the same for the same seed and number
// of orders, whatever comes of it.
type Script struct {
	seed      uint64
	purchases []purchase
	stories   []story
	stock     []shelf
}

// shelf is the stock of an article before the storm.
type shelf struct {
	sku      string
	quantity int64
}

const (
	articles   = 24
	fullShelf  = 1_000_000
	maxPieces  = 3
	meanCopies = 3
)

// NewScript plans stories for at least one order and, where a story needs two,
// for one more than asked at most.
func NewScript(orders int, seed uint64) *Script {
	b := newAuthor(seed, "")
	for len(b.script.purchases) < orders {
		b.next()
	}
	return b.script
}

// Orders is how many orders the script has.
func (s *Script) Orders() int { return len(s.purchases) }

// author writes stories.
type author struct {
	rng    *rand.Rand
	script *Script
	plots  []plot
	story  story
	serial int
	// mark begins all numbers and names, so that those of several scripts differ. A
	// script with a mark is told while time goes by as it does, so that no deadline passes.
	mark string
}

func newAuthor(seed uint64, mark string) *author {
	b := &author{rng: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)), script: &Script{seed: seed}, mark: mark}
	for i := range articles {
		b.script.stock = append(b.script.stock, shelf{fmt.Sprintf("%sarticle-%02d", mark, i+1), fullShelf})
	}
	for _, p := range plots {
		if mark == "" || !slices.Contains(ofDeadlines, p.name) {
			b.plots = append(b.plots, p)
		}
	}
	return b
}

// next writes one more story. Each plot comes once before chance chooses, so that a
// small storm has something of everything.
func (b *author) next() story {
	n := len(b.script.stories)
	p := b.choose()
	if n < len(b.plots) {
		p = b.plots[n]
	}
	b.story = story{name: p.name, still: b.mark != ""}
	p.write(b)
	b.script.stories = append(b.script.stories, b.story)
	return b.story
}

func (b *author) choose() plot {
	total := 0
	for _, p := range b.plots {
		total += p.weight
	}
	n := b.rng.IntN(total)
	for _, p := range b.plots {
		if n -= p.weight; n < 0 {
			return p
		}
	}
	return b.plots[0]
}

// order adds an order to the story, created in the first wave.
func (b *author) order() int { return b.orderIn(waveOrders) }

func (b *author) orderIn(wave waveNo) int {
	i := len(b.script.purchases)
	b.script.purchases = append(b.script.purchases, purchase{
		id:       b.uuid(),
		customer: fmt.Sprintf("customer-%03d", b.rng.IntN(500)),
		sku:      b.script.stock[b.rng.IntN(articles)].sku,
		quantity: int32(1 + b.rng.IntN(maxPieces)),
		total:    int64(500 + 50*b.rng.IntN(600)),
	})
	b.story.orders = append(b.story.orders, i)
	b.add(step{action: action{event: eventCreate, order: i}, wave: wave, copies: 1})
	return i
}

// twin makes an order cost what another costs, so that one payment fits both.
func (b *author) twin(i, of int) { b.script.purchases[i].total = b.script.purchases[of].total }

func (b *author) total(i int) int64 { return b.script.purchases[i].total }

func (b *author) uuid() string {
	hi, lo := b.rng.Uint64(), b.rng.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", hi>>32, hi>>16&0xffff, hi&0xfff, lo>>48&0xfff, lo&0xffffffffffff)
}

// number returns a number that nothing else in the script has.
func (b *author) number(kind string) string {
	b.serial++
	return fmt.Sprintf("%s%s-%06d", b.mark, kind, b.serial)
}

func (b *author) add(t step) { b.story.steps = append(b.story.steps, t) }

// user adds what a customer or the house does, once.
func (b *author) user(wave waveNo, e order.Event, i int) {
	b.add(step{action: action{event: e, order: i}, wave: wave, copies: 1})
}

func (b *author) pay(wave waveNo, i int, number string) {
	b.add(step{action: action{event: order.EventPay, order: i, number: number}, wave: wave, copies: 1})
}

// refund asks for money back, n times at once.
func (b *author) refund(wave waveNo, i int, number string, amount int64, n int) {
	b.add(step{action: action{event: order.EventRefund, order: i, number: number, amount: amount}, wave: wave, copies: n})
}

// callback adds a callback with one to six deliveries, some of them late.
func (b *author) callback(wave waveNo, a action) {
	b.serial++
	a.delivery = fmt.Sprintf("evt_%s%06d", b.mark, b.serial)
	a.stripe = b.serial%2 == 0
	copies := 1
	for range 5 { // one to six, three in the mean
		if b.rng.IntN(5) < meanCopies-1 {
			copies++
		}
	}
	late := 0
	if wave < waveAgain && copies > 1 {
		late = b.rng.IntN(2)
	}
	b.add(step{action: a, wave: wave, copies: copies - late, late: late})
}

func (b *author) paid(wave waveNo, i int, number string, amount int64) {
	b.callback(wave, action{event: order.EventPaymentSucceeded, order: i, number: number, amount: amount})
}

func (b *author) failed(wave waveNo, i int, number string) {
	b.callback(wave, action{event: order.EventPaymentFailed, order: i, number: number})
}

func (b *author) returned(wave waveNo, i int, number, payment string, amount int64) {
	b.callback(wave, action{event: order.EventRefundSucceeded, order: i, number: number, payment: payment, amount: amount})
}
