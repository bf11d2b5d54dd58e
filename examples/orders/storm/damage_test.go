package storm

// onePaid is an order that was paid, and nothing else since; its payment number
// is no other order's trouble.
const onePaid = `(SELECT o.order_id FROM orders AS o WHERE o.status = 'PAID' AND o.version = 3 AND o.refund_cents = 0
	AND NOT EXISTS (SELECT 1 FROM order_facts AS f WHERE f.order_id = o.order_id AND f.outcome = 'Compensated')
	AND NOT EXISTS (SELECT 1 FROM shop_cases AS c WHERE c.detail LIKE '%"' || o.payment_no || '"%')
	ORDER BY o.order_id LIMIT 1)`

// damages are what is planted in the database after a storm, and all promises
// that it breaks, by hand.
var damages = map[string]struct {
	sql    []string
	broken map[string]int
}{
	"nothing": {nil, map[string]int{}},
	"paid twice in history": {
		// Besides, nothing was emitted for it, and the row knows nothing of it.
		[]string{`INSERT INTO order_history (order_id, version, event, from_status, to_status, at)
			SELECT order_id, 4, 'payment_succeeded', 'PAYING', 'PAID', now() FROM orders WHERE order_id = ` + onePaid},
		map[string]int{"paid once": 1, "one outbox row for each emit": 1, "history without gaps, equal to its row": 1},
	},
	"no pieces left the stock": {
		[]string{`DELETE FROM shop_stock_moves WHERE order_id = ` + onePaid},
		map[string]int{"stock once": 1},
	},
	"pieces left the stock twice": {
		[]string{
			`ALTER TABLE shop_stock_moves DROP CONSTRAINT shop_stock_moves_pkey`,
			`INSERT INTO shop_stock_moves SELECT * FROM shop_stock_moves WHERE order_id = ` + onePaid,
		},
		map[string]int{"stock once": 1},
	},
	"a shelf lost a piece": {
		[]string{`UPDATE shop_stock SET quantity = quantity - 1 WHERE sku = 'article-01'`},
		map[string]int{"stock once": 1},
	},
	"points twice": {
		[]string{
			`ALTER TABLE shop_points DROP CONSTRAINT shop_points_pkey`,
			`INSERT INTO shop_points SELECT * FROM shop_points WHERE order_id = ` + onePaid,
		},
		map[string]int{"points once": 1},
	},
	"too few points": {
		[]string{`UPDATE shop_points SET points = points - 1 WHERE order_id = ` + onePaid},
		map[string]int{"points once": 1},
	},
	"a fact twice": {
		[]string{
			`ALTER TABLE order_facts DROP CONSTRAINT order_facts_pkey`,
			`INSERT INTO order_facts SELECT * FROM order_facts WHERE order_id = ` + onePaid,
		},
		map[string]int{"each fact once": 1},
	},
	"a fact lost": {
		[]string{`DELETE FROM order_facts WHERE order_id = ` + onePaid},
		map[string]int{"each fact once": 1},
	},
	"the wrong payment sent back": {
		// One is missing and one is too many.
		[]string{`UPDATE fsm_outbox SET payload = jsonb_set(payload, '{identity}', '"other"') WHERE id = (
			SELECT min(id) FROM fsm_outbox WHERE topic = 'refund_due' AND event = 'payment_succeeded')`},
		map[string]int{"money not kept is sent back once": 2},
	},
	"a payment sent back twice": {
		[]string{`INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
			SELECT machine, key, version, event, topic, payload, at FROM fsm_outbox WHERE id = (
				SELECT min(id) FROM fsm_outbox WHERE topic = 'refund_due' AND event = 'payment_succeeded')`},
		map[string]int{
			"money not kept is sent back once": 1, "one outbox row for each emit": 1, "money in = money kept + money owed back": 1,
		},
	},
	"an outbox row lost": {
		[]string{`DELETE FROM fsm_outbox WHERE topic = 'order_paid' AND key = ` + onePaid + `::text`},
		map[string]int{"one outbox row for each emit": 1},
	},
	"an outbox row twice": {
		[]string{`INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
			SELECT machine, key, version, event, topic, payload, at FROM fsm_outbox WHERE topic = 'order_paid' AND key = ` + onePaid + `::text`},
		map[string]int{"one outbox row for each emit": 1},
	},
	"a refund's outbox row lost": {
		[]string{`DELETE FROM fsm_outbox WHERE id = (SELECT min(id) FROM fsm_outbox WHERE machine = 'refund' AND topic = 'refund_stuck')`},
		map[string]int{"one outbox row for each emit": 1},
	},
	"a gap in the history": {
		[]string{`DELETE FROM order_history WHERE version = 2 AND order_id = ` + onePaid},
		map[string]int{"history without gaps, equal to its row": 1},
	},
	"a history that breaks off": {
		[]string{`DELETE FROM payment_history WHERE version > 1 AND payment_no = (SELECT payment_no FROM orders WHERE order_id = ` + onePaid + `)`},
		map[string]int{"history without gaps, equal to its row": 1},
	},
	"a row that moved without history": {
		[]string{`UPDATE orders SET version = version + 1 WHERE order_id = ` + onePaid},
		map[string]int{"history without gaps, equal to its row": 1},
	},
	"an edge that is not there": {
		[]string{`UPDATE order_history SET event = 'expire' WHERE (order_id, version) = (
			SELECT order_id, version FROM order_history WHERE event = 'cancel' AND from_status = 'PAYING' ORDER BY order_id LIMIT 1)`},
		map[string]int{"only legal edges": 1},
	},
	"one payment number on two orders": {
		[]string{`UPDATE orders SET payment_no = f.identity FROM (
			SELECT f.identity FROM order_facts AS f JOIN shop_cases AS c ON c.outcome = 'Mismatched' AND c.event = 'payment_succeeded'
			WHERE f.event = 'payment_succeeded' AND f.order_id <> c.order_id AND c.detail LIKE '%"' || f.identity || '"%' ORDER BY f.identity LIMIT 1
		) AS f WHERE order_id = ` + onePaid},
		map[string]int{"one payment number moves one order": 1, "every order ends as foreseen": 1},
	},
	"a case of a forged callback": {
		[]string{`INSERT INTO shop_cases (provider, delivery_id, order_id, event, outcome, detail)
			SELECT 'stripe', '` + forgedDelivery() + `', order_id, 'payment_succeeded', 'Mismatched', '' FROM orders WHERE order_id = ` + onePaid},
		map[string]int{"nothing of a forged or stale callback": 1, "each conflict is one case for a person": 1},
	},
	"a conflict that nobody is told of": {
		[]string{`DELETE FROM shop_cases WHERE id = (SELECT min(id) FROM shop_cases)`},
		map[string]int{"each conflict is one case for a person": 1},
	},
	"a cent promised back that nobody sends": {
		[]string{`UPDATE orders SET refund_cents = refund_cents + 1 WHERE order_id = ` + onePaid},
		map[string]int{"money in = money kept + money owed back": 1, "every order ends as foreseen": 1},
	},
	"a cent that did not go back": {
		[]string{`UPDATE orders SET refunded_cents = refunded_cents - 1 WHERE order_id = (
			SELECT order_id FROM orders WHERE refunded_cents > 0 ORDER BY order_id LIMIT 1)`},
		map[string]int{"every order ends as foreseen": 1},
	},
}

// forgedDelivery is a delivery of the script that the damages are planted in.
func forgedDelivery() string {
	for _, st := range NewScript(60, 1).stories {
		for _, t := range st.steps {
			if t.trick == forged {
				return t.delivery
			}
		}
	}
	return ""
}
