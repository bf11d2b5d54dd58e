package mutate

// sameState are the statements of events that lead from one state to itself.
const sameState = `^(Payment|Refund)(Sweep)?Query$|^Order(Sweep)?Query(Payment|Refund)$`

// oneState are the statements without guards of events that leave one state alone.
const oneState = `^Payment(Submit|Query)$|^Refund(Send|Query|Retry|Stick)$|^Order(Pay|QueryPayment|QueryRefund|Expire|PaymentFailed|Ship|Receive)$|^ArticlePublish$`

// emitsOfCompensated are the statements that emit for compensated facts alone;
// noReplay are those that tell of the last entry of a history, whatever its event.
const (
	emitsOfCompensated = `^(PaymentSucceed|RefundSucceed|OrderRefundFailed)$`
	noReplay           = `^Payment(Query|Fail|Succeed)$|^Refund(Query|Close|Stick|Succeed)$|^Order(Query|Expire|PaymentFailed|PaymentSucceeded|Refund)`
)

// whicheverMoves is of what a statement says when it has written nothing.
const whicheverMoves = "what was not written is stale or raced whichever of the moving cells it is"

// explanations are as narrow as they can be: one that covers a mutant which a
// test notices fails the run.
var explanations = []Explanation{
	{
		Operator: "materialized-drop",
		Why:      "a part that locks is never folded into what reads it, and the facts are read by the statement's one snapshot either way",
	},
	{
		Operator: "lock-weak",
		Why: "two calls that share the row's lock wait for each other and one ends with an error that is retried, which is no wrong answer; " +
			"for that both must be between two parts of one statement, where no test can hold them",
	},
	{
		Operator: "order-drop|order-turn", Source: "Batch$", Line: `^  ORDER BY [ol]\.`,
		Why: "the order keeps two batches from waiting for each other in a circle, and the generated tests have batches of one; internal/acceptance lets two meet",
	},
	{
		Operator: ".*", Source: "LockRows$",
		Why: "it is for batches of several statements in one transaction, and the generated tests have batches of one; internal/acceptance has such a transaction",
	},
	{
		Operator: ".*", Source: "HeldRows$",
		Why: "it is for a coalescer's batch that has waited for a row in vain, and in the generated tests nobody holds one; internal/acceptance has such batches",
	},
	{
		Operator: "exists-other", Before: "^moved$", After: "^locked$",
		Why: "a row that is locked is moved, or the statement fails",
	},
	{
		Operator: "else-drop", Line: `ELSE 0 END\)::integer AS fsm_cell`, Before: "^ELSE 0$",
		Why: "no cell is no cell, be it 0 or NULL",
	},
	{
		Operator: "else-drop|number|state-add|and-drop|row-other", Line: `deadline_(at|runs) = CASE WHEN l\.status = '`,
		Before: `^ELSE 0$|^0$|^= '[A-Z_]+'$|^l\.status = '[A-Z_]+' AND$|^l\.(status|deadline_runs)$`,
		After:  `^$|^1$|^IN \(|^o\.(status|deadline_runs)$`,
		Why:    "the event leaves one state only, so the row that is moved stands in it",
	},
	{
		Operator: "row-other", Line: `^\s+(SET )?\w+ = `, Before: `^l\.`, After: `^o\.`,
		Why: "in UPDATE the row and the row that was locked are the same one",
	},
	{
		Operator: "row-other|value-swap|argument-swap|column-other", Source: sameState,
		Before: `^[lmo]\.status$|^l\.status … m\.status$|^l\.status AS fsm_made_from … m\.status AS fsm_made_to$|^l\.status AS from_status … m\.status AS to_status$`,
		Why:    "the event leads from a state to itself, so from and to are the same",
	},
	{
		Operator: "set-drop", Source: sameState, Before: `^status = '[A-Z_]+',$`,
		Why: "the event leads from a state to itself, so it stands there already",
	},
	{
		Operator: "row-other", Source: "Sweep", Line: "RETURNING o", Before: `^o\.(deadline|paid|refund|settled|attempts|payment|provider)`,
		Why: "a sweep answers with key, states and version alone, and reads no other column of what it has moved",
	},
	{
		Operator: "state-add|and-drop|compare|number|cell-other", Source: "Sweep", Line: `WHERE o\.deadline_at <=|WHEN o\.status = .* THEN 1$`,
		Before: `^= '[A-Z_]+'$|^AND o\.status = '[A-Z_]+'$|^AND c\.fsm_cell > 0$|^>$|^0$|^1$`,
		After:  `^IN \(|^$|^>=$|^-1$|^2$`,
		Why:    "a sweep asks twice, by the state and by the cell, and either is enough",
	},
	{
		Operator: "number", Source: "Sweep", Line: `ELSE 0 END\)::integer AS fsm_cell`, Before: "^0$", After: "^1$",
		Why: "a sweep asks twice, by the state and by the cell, and either is enough",
	},
	{
		Operator: "value-drop|value-swap|param-other", Source: "Sweep", Before: `^, (reason|request_id) … , @fsm_(reason|request_id)::text$|^@fsm_reason::text … @fsm_request_id::text$|^@fsm_reason::text$`,
		Why: "a sweep has neither reason nor request: both are empty",
	},
	{
		Operator: "and-drop", Source: "Create$", Before: `^AND NOT EXISTS \(SELECT 1 FROM created\)$`,
		Why: "the snapshot of a statement does not have the row that the statement creates",
	},
	{
		Operator: "value-drop", Source: "Create$", Before: `^, from_status … , NULL$`,
		Why: "the column is NULL when nothing is given",
	},
	{
		Operator: "is-true", Before: "^IS TRUE$", After: "^$",
		Why: "a branch of CASE whose condition is NULL is not taken, just as one whose condition is false",
	},
	{
		Operator: "is-true", Line: `::bigint > 0\) IS NOT FALSE`, Before: "^IS NOT FALSE$", After: "^$|^IS TRUE$",
		Why: "a parameter is never NULL, and so its check is true or false",
	},
	{
		Operator: "is-true", Line: `::bigint > 0\) IS FALSE`, Before: "^IS FALSE$", After: "^IS NOT TRUE$",
		Why: "a parameter is never NULL, and so its check is true or false",
	},
	{
		Operator: "is-true", Line: `WHEN o\.status .* AND \(o\.(total_cents|amount_cents|refund_cents) `, Before: "^IS TRUE$", After: "^IS NOT FALSE$",
		Why: "the guard is of columns and parameters that are never NULL, and so it is true or false",
	},
	{
		Operator: "join-kind", Line: `FROM moved AS m JOIN locked AS l|FROM fact AS f JOIN locked AS l`, After: "^LEFT$",
		Why: "what is moved, and what makes a fact, has been locked",
	},
	{
		Operator: "order-drop|order-turn", Source: "Sweep", Line: `ORDER BY o\.deadline_at, o\.`, Before: `^(, )?o\.(order_id|payment_no|refund_no)$`,
		Why: "of rows that are due at the same moment any may come first",
	},
	{
		Operator: "order-drop", Source: "Sweep", Before: `^ORDER BY m\.`,
		Why: "in which order a sweep tells of what it has moved is no promise; in the order of keys it is read more easily",
	},
	{
		Operator: "row-unlocked", Source: oneState, Line: `FROM moved AS m JOIN locked AS l`,
		Why: "the event leaves one state only and has no guard: a row that was waited for and is moved is in that state before and after",
	},
	{
		Operator: "row-other|value-swap|column-other", Line: `fsm_made_outcome, f\.from_status AS|^\s+l\.(order_id|payment_no|refund_no), l\.status, l\.version`,
		Before: `^[fl]\.(from_status|to_status|version)$|^f\.from_status AS fsm_made_from … f\.to_status AS fsm_made_to$`, After: `^[fl]\.(from_status|to_status|version)$|^f\.to_status`,
		Why: "a compensated fact leaves the row where it is: from, to and version are the row's",
	},
	{
		Operator: "row-other|argument-swap|column-other", Source: emitsOfCompensated, Line: `f\.version|'from', f\.from_status`,
		Before: `^f\.(version|from_status|to_status)$|^f\.from_status … f\.to_status$`, After: `^l\.version$|^f\.(from_status|to_status)$|^f\.to_status … f\.from_status$`,
		Why: "only a compensated fact emits, and it leaves the row where it is",
	},
	{
		Operator: "when-drop|number|compare|result-swap", Source: "^PaymentSucceed$", Line: `CASE WHEN l\.fsm_cell = 2 THEN l\.status ELSE 'SUCCEEDED' END`,
		Before: `^CASE WHEN l\.fsm_cell = 2 THEN l\.status ELSE 'SUCCEEDED' END$|^2$`, After: `^'SUCCEEDED'$|^3$`,
		Why: "a fact is compensated in the state that the event leads to, and nowhere else",
	},
	{
		Operator: "row-other", Before: `^[om]\.version$`, After: `^f\.version$`,
		Why: "a new fact of a row that moves has the version that the row gets",
	},
	{
		Operator: "row-other", Source: noReplay, Line: "SELECT h.event, h.from_status, h.to_status, h.version FROM", Before: `^h\.version$`, After: `^o\.version$`,
		Why: "the last entry of a history has the version of the row",
	},
	{
		Operator: "when-swap", Before: `'BadArgument .*'Replayed'$`,
		Why: "a fact that is known with these very values has passed the checks",
	},
	{
		Operator: "number", Source: "^(OrderPaymentSucceeded|OrderRefundSucceeded|PaymentSucceed|RefundSucceed)$", Line: `WHEN c\.fsm_cell BETWEEN 1 AND [0-9]+ THEN 'raced'`, Change: "^2 → 3$|^3 → 4$|^6 → 7$",
		Why: "there is no cell above the last one",
	},
	{
		Operator: "number|when-drop", Source: "^Order(PaymentSucceeded|RefundSucceeded)$", Line: `CASE WHEN l\.fsm_cell = [36] THEN l\.status ELSE CASE l\.fsm_cell`,
		Change: `^3 → 4$|^6 → 7$|^CASE WHEN l\.fsm_cell = [36] THEN l\.status ELSE CASE .* → CASE l\.fsm_cell`,
		Why:    "a cell that moves to no state leaves the row in its own, whichever of the two branches says so",
	},
	{
		Operator: "when-drop", Source: "^Order(Refund|RefundSucceeded)$", Line: `CASE l\.fsm_cell WHEN 1 THEN 'PAID'`,
		Before: "^WHEN [123] THEN '(PAID|SHIPPED|COMPLETED)'$",
		Why:    "the cell leads from a state to itself, which the ELSE says as well",
	},
	{
		Operator: "number", Source: "^Order(Refund|RefundSucceeded)$", Line: `CASE l\.fsm_cell WHEN 1 THEN 'PAID'`, Change: "^1 → 0$|^2 → 1$|^3 → 2$",
		Why: "the cell leads from a state to itself, which the ELSE says as well",
	},
	{
		Operator: "number|when-drop", Source: "^OrderRefundSucceeded$", Line: `CASE l\.fsm_cell WHEN 1 THEN 'PAID'`, Change: "^4 → 3$|^WHEN 4 THEN 'REFUNDING' → ",
		Why: "the cell leads from a state to itself, which the ELSE says as well",
	},
	{
		Operator: "else-drop", Source: "^Order(PaymentSucceeded|Refund|RefundSucceeded)$", Line: `CASE l\.fsm_cell WHEN 1 THEN 'PAID'`, Before: `^ELSE l\.status$`,
		Why: "every cell that moves has a branch of its own",
	},
	{
		Operator: "state-add", Source: "^Order(Refund|RefundSucceeded)$", Line: `WHEN o\.status = '[A-Z]+' AND .* < o\.paid_cents\) IS TRUE THEN [234]$`,
		Change: `'SHIPPED', 'PAID'\)$|'COMPLETED', '(PAID|SHIPPED)'\)$|'REFUNDING', '(PAID|SHIPPED|COMPLETED)'\)$`,
		Why:    "an earlier branch has asked the same guard in that state",
	},
	{
		Operator: "state-add", Source: "^Order(Refund|RefundSucceeded)$", Line: `^   WHEN o\.status = '[A-Z]+' AND .* < o\.paid_cents\) IS TRUE THEN [123]$`,
		Change: `^= 'PAID' → .*'(SHIPPED|COMPLETED)'\)$|^= 'SHIPPED' → .*'COMPLETED'\)$`,
		Why:    whicheverMoves,
	},
	{
		Operator: "state-add", Source: "^OrderRefundSucceeded$", Line: `^   WHEN o\.status = '[A-Z]+' AND .* < o\.paid_cents\) IS TRUE THEN [123]$`, After: `'REFUNDING'\)$`,
		Why: whicheverMoves,
	},
	{
		Operator: "number|result-swap", Source: "^Order(Refund|RefundSucceeded)$", Line: `^   WHEN o\.status .* IS TRUE THEN [1234]$`, Change: `^1 → 2$|^2 → [13]$|^3 → [24]$|^4 → 3$|^(1 … 2|2 … 3|3 … 4) → `,
		Why: whicheverMoves,
	},
	{
		Operator: "number|result-swap", Source: "^OrderRefundSucceeded$", Line: `^   WHEN o\.status .* IS TRUE THEN [45]$`, Change: `^4 → 5$|^5 → 4$|^4 … 5 → `,
		Why: whicheverMoves,
	},
	{
		Operator: "state-add", Source: "^OrderPaymentSucceeded$", Line: `^   WHEN o\.status .* THEN 1$`, After: `'CANCELLED'\)?$`,
		Why: whicheverMoves,
	},
	{
		Operator: "compare", Source: "^OrderRefund$", Line: `^   WHEN o\.status = .* < o\.paid_cents\) IS TRUE THEN [123]$`, Change: `^< → <=$`,
		Why: whicheverMoves,
	},
	{
		Operator: "number|result-swap", Source: "^OrderPaymentSucceeded$", Line: `^   WHEN o\.status .* THEN [12]$`, Change: `^1 → 2$|^2 → 1$|^1 … 2 → `,
		Why: whicheverMoves,
	},
	{
		Operator: "set-drop", Source: "^Order(PaymentSucceeded|Refund)$", Before: `^, (paid|refunded)_cents = l\.(paid|refunded)_cents$`,
		Why: "it is named for the table's check alone, and what it can be while a call waits, the same or less, passes as well",
	},
	{
		Operator: "state-add", Line: `OLD\.status = '[A-Z]+' AND NEW\.status IN`, Before: `^= '`,
		After: `\('PENDING', 'PAYING'\)|\('COMPLETED', 'SHIPPED'\)|\('CANCELLED', '(PAID|SHIPPED|COMPLETED|REFUNDING)'\)|` +
			`\('CREATED', 'SUBMITTED'\)|\('SUBMITTED', 'CREATED'\)|\('FAILED', '(CREATED|SUBMITTED)'\)|\('CLOSED', '(CREATED|SUBMITTED|FAILED)'\)|` +
			`\('REQUESTED', 'SENT'\)|\('SENT', 'REQUESTED'\)|\('ABNORMAL', '(REQUESTED|SENT)'\)|\('PUBLISHED', 'DRAFT'\)`,
		Why: "edges from that state to those states are there already",
	},
	{
		Operator: "object-drop|where-drop|is-null", Line: "^CREATE INDEX ",
		Why: "an index makes answers quicker and no other",
	},
	{
		Operator: "row-other", Source: "^Order(PaymentSucceeded|Refund)$", Change: `^[om]\.refunded_cents → l\.refunded_cents$`,
		Why: "it is set to what it was, for the table's check",
	},
	{
		Operator: "row-other", Source: "^OrderRefund$", Change: `^[om]\.paid_cents → l\.paid_cents$`,
		Why: "it is set to what it was, for the table's check",
	},
	{
		Operator: "state-add", Source: "^OrderPaymentSucceeded$", Line: `WHEN o\.status IN \(.*\) THEN 3$`, After: `^, 'CANCELLED'$`,
		Why: "an earlier branch has that state",
	},
	{
		Operator: "row-unlocked", Source: "^OrderRefund$", Line: `FROM fact AS f JOIN locked AS l ON`,
		Why: "the row is joined there, and none of its columns is read",
	},
	{
		Operator: "when-swap", Before: `^WHEN c\.fsm_cell .*WHEN c\.fsm_cell (= [0-9]+|IN \([0-9, ]+\)) THEN '(Rejected|GuardFailed|Ignored|Replayed)'$`,
		Why: "a row has one cell, so at most one of the two is true",
	},
	{
		Operator: "and-drop", Source: "^OrderRefundFailed$", Before: `^h\.order_id = o\.order_id AND$`,
		Why: "every cell of the event writes, so an answer that tells of the last transition is raced, and is asked for again",
	},
	{
		Operator: "number", Line: `AND \(c\.fsm_cell BETWEEN 1 AND [0-9]+ AND .* OR c\.fsm_cell = [0-9]+\)`, Change: `^2 → 3$|^5 → 6$`,
		Why: "the cell above the last one that moves is asked for beside it",
	},
	{
		Operator: "number", Line: `\bl\.fsm_cell BETWEEN 1 AND`, Change: `^1 → 0$`,
		Why: "a row that is locked has a cell, and so none is 0",
	},
	{
		Operator: "row-unlocked", Source: "^OrderPaymentFailed$", Line: `^  FROM locked AS l JOIN fact AS f`,
		Why: "the event leaves one state only and has no guard: a row that was waited for and is moved is in that state before and after",
	},
	{
		Operator: "and-drop", Before: `^AND k\.fingerprint = ''$`,
		Why: "the event has no fingerprint, and so that of each of its facts is empty",
	},
	{
		Operator: "value-swap", Source: "^OrderCreate$", Before: `^[co]\.(paid_cents|refund_cents) … [co]\.(refund_cents|refunded_cents)$`,
		Why: "a row that has just been created has 0 in each of them",
	},
	{
		Operator: "number", Source: "^OrderRefund$", Line: `^    AND c\.fsm_cell BETWEEN 1 AND 4 AND`, Change: `^4 → 5$`,
		Why: "there is no cell above the last one that moves: the other states have 0",
	},
	{
		Operator: "compare", Source: "^OrderRefund$", Line: `= o\.paid_cents\) IS TRUE THEN 4$`, Change: `^= → <=$`,
		Why: "earlier branches have asked for less in each of these states",
	},
	{
		Operator: "when-swap", Source: "^Order(Refund|RefundSucceeded)$", Before: `= o\.paid_cents\) IS TRUE THEN [45]$`,
		Why: "the two guards are never true together",
	},
	{
		Operator: "operand-drop|and-drop|arithmetic|compare", Source: "^OrderRefundSucceeded$", Line: `^   WHEN o\.status = 'REFUNDING' AND .* < o\.paid_cents\) IS TRUE THEN 4$`,
		Change: `^AND |^o\.refunded_cents \+ |^\+ → -$|^< → <=$`, From: `^[^<]*< o\.paid_cents\) IS TRUE THEN 4$`,
		Why: "no more is returned than was promised, so all that this could let through is the whole, which moves the row too: " + whicheverMoves,
	},
	{
		Operator: "row-unlocked", Source: "^OrderRefundFailed$", Line: `^  FROM fact AS f JOIN locked AS l ON`,
		Why: "the row is joined there, and none of its columns is read",
	},
}
