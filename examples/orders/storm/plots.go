package storm

import "github.com/pawl-go/pawl/gen/order"

// plot is a kind of story; weight says how often chance chooses it.
type plot struct {
	name   string
	weight int
	write  func(*author)
}

// ofDeadlines are the plots that are about a deadline that passes.
var ofDeadlines = []string{"paid after it expired", "expires while paid"}

var plots = []plot{
	{"paid", 28, func(b *author) { _, _ = b.bought() }},
	{"paid without a choice told first", 6, func(b *author) {
		i := b.order()
		b.paid(wavePayments, i, b.number("pay"), b.total(i))
	}},
	{"paid and delivered", 10, func(b *author) {
		i, _ := b.bought()
		b.shipped(i)
		b.user(waveRefunds, order.EventReceive, i)
	}},
	{"callback before its order", 3, func(b *author) {
		i := b.orderIn(waveChoice)
		b.paid(waveOrders, i, b.number("pay"), b.total(i))
	}},
	{"callback at the same time as its order", 3, func(b *author) {
		i := b.order()
		b.paid(waveOrders, i, b.number("pay"), b.total(i))
	}},
	{"cancelled", 3, func(b *author) {
		i := b.order()
		b.pay(waveChoice, i, b.number("pay"))
		b.user(wavePayments, order.EventCancel, i)
		b.user(waveAgain, order.EventCancel, i)
	}},
	{"paid after it was cancelled", 6, func(b *author) {
		i, p := b.order(), b.number("pay")
		b.pay(waveChoice, i, p)
		b.user(wavePayments, order.EventCancel, i)
		b.late(i, p)
	}},
	{"cancelled while paid", 6, func(b *author) {
		i, p := b.order(), b.number("pay")
		b.pay(waveChoice, i, p)
		b.user(wavePayments, order.EventCancel, i)
		b.paid(wavePayments, i, p, b.total(i))
	}},
	{"never paid", 3, func(b *author) { b.order() }},
	{"paid after it expired", 4, func(b *author) { b.late(b.order(), b.number("pay")) }},
	{"expires while paid", 6, func(b *author) {
		i := b.order()
		b.paid(waveDeadlines, i, b.number("pay"), b.total(i))
	}},
	{"wrong amount", 3, func(b *author) { b.wrongAmount() }},
	{"wrong amount, then the right payment", 4, func(b *author) {
		i := b.wrongAmount()
		b.paid(waveRetries, i, b.number("pay"), b.total(i))
	}},
	{"paid twice at once", 8, func(b *author) {
		i, _ := b.bought()
		second := b.number("pay")
		b.paid(wavePayments, i, second, b.total(i))
		b.back(i, second)
	}},
	{"paid once more later", 4, func(b *author) {
		i, _ := b.bought()
		b.paid(waveRetries, i, b.number("pay"), b.total(i))
	}},
	{"one payment number for two orders at once", 4, func(b *author) {
		one, two, p := b.order(), b.order(), b.number("pay")
		b.twin(two, one)
		b.paid(wavePayments, one, p, b.total(one))
		b.paid(wavePayments, two, p, b.total(two))
	}},
	{"a payment number of another order", 3, func(b *author) {
		_, p := b.bought()
		two := b.order()
		b.twin(two, b.story.orders[0])
		b.paid(waveRetries, two, p, b.total(two))
	}},
	{"the same payment with another amount", 3, func(b *author) {
		i, p := b.bought()
		b.paid(waveRetries, i, p, b.total(i)+100)
	}},
	{"failed, then paid", 4, func(b *author) {
		i, first, second := b.order(), b.number("pay"), b.number("pay")
		b.pay(waveChoice, i, first)
		b.failed(wavePayments, i, first)
		b.pay(waveRetries, i, second)
		b.paid(waveDeadlines, i, second, b.total(i))
		b.failed(waveLate, i, first)
	}},
	{"an old failure told after the payment", 4, func(b *author) {
		i, _ := b.bought()
		b.failed(waveRetries, i, b.number("pay"))
	}},
	{"refunded in part", 5, func(b *author) {
		i, p := b.bought()
		b.shipped(i)
		b.part(i, p, b.total(i)/5*2)
	}},
	{"refunded in two parts", 3, func(b *author) {
		i, p := b.bought()
		part := b.total(i) / 5 * 2
		b.part(i, p, part)
		b.refund(waveReturns, i, b.number("refund"), b.total(i)-part, 2)
	}},
	{"refunded whole", 5, func(b *author) {
		i, p := b.bought()
		b.part(i, p, b.total(i))
	}},
	{"two refunds of 60 out of 100", 4, func(b *author) {
		i, _ := b.bought()
		b.refund(waveRefunds, i, b.number("refund"), b.total(i)/5*3, 1)
		b.refund(waveRefunds, i, b.number("refund"), b.total(i)/5*3, 1)
	}},
	{"refund that fails", 2, func(b *author) {
		i, _ := b.bought()
		r := b.number("refund")
		b.refund(waveRefunds, i, r, b.total(i), 2)
		b.callback(waveReturns, action{event: order.EventRefundFailed, order: i, number: r})
	}},
	{"shipped by an old version", 2, func(b *author) {
		i, _ := b.bought()
		b.add(step{action: action{event: order.EventShip, order: i, trick: oldVersion}, wave: waveLate, copies: 1})
		b.user(waveRefunds, order.EventShip, i)
	}},
	{"cancelled too late", 2, func(b *author) {
		i, _ := b.bought()
		b.user(waveRetries, order.EventCancel, i)
	}},
	{"forged", 3, func(b *author) { b.disbelieved(forged, "forged") }},
	{"signed too long ago", 2, func(b *author) { b.disbelieved(outdated, "outdated") }},
}

// bought is an order that is paid as it should be.
func (b *author) bought() (int, string) {
	i, p := b.order(), b.number("pay")
	b.pay(waveChoice, i, p)
	b.paid(wavePayments, i, p, b.total(i))
	return i, p
}

func (b *author) shipped(i int) { b.user(waveLate, order.EventShip, i) }

// late is a payment that comes when the order is over, and goes back.
func (b *author) late(i int, payment string) {
	b.paid(waveLate, i, payment, b.total(i))
	b.back(i, payment)
}

// back is a payment that the provider gives back by itself. A shop that is at work
// beside it may have begun to: then under the payment's own number.
func (b *author) back(i int, payment string) {
	number := payment
	if b.mark == "" {
		number = b.number("back")
	}
	b.returned(waveReturns, i, number, payment, b.total(i))
}

func (b *author) wrongAmount() int {
	i, p := b.order(), b.number("pay")
	b.pay(waveChoice, i, p)
	b.paid(wavePayments, i, p, b.total(i)-50)
	return i
}

// part is a refund that is asked twice at once, and paid out.
func (b *author) part(i int, payment string, amount int64) {
	r := b.number("refund")
	b.refund(waveRefunds, i, r, amount, 2)
	b.returned(waveReturns, i, r, payment, amount)
}

// disbelieved is an order that someone says was paid, which it was not.
func (b *author) disbelieved(t trick, kind string) {
	i := b.order()
	b.callback(wavePayments, action{event: order.EventPaymentSucceeded, order: i, number: b.number(kind), amount: b.total(i), trick: t})
}
