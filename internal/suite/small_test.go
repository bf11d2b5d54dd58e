package suite

// account has a key of two columns, numbers with a scale, and NULL.
const account = `
machine: account
table:
  name: accounts
  key: [{column: tenant, type: text}, {column: account_no, type: bigint}]
  columns:
    balance:  {type: 'numeric(12,2)', check: balance >= 0}
    ceiling:  {type: 'numeric(12,2)', optional: true}
    currency: {type: varchar(3), check: "currency IN ('EUR', 'USD')"}
    note:     {type: varchar(8), optional: true}
    frozen:   {type: boolean, default: false}
states:
  OPEN:   {initial: true}
  CLOSED: {final: true}
events:
  withdraw:
    params: {withdrawal: uuid, amount: {type: 'numeric(12,2)', check: '@amount > 0'}, note: {type: text, optional: true}}
    identity: [withdrawal]
    otherwise: {reject: '*'}
  close: {otherwise: {reject: '*'}}
transitions:
  - event: withdraw
    from: OPEN
    to: OPEN
    guard: {sql: NOT frozen AND @amount <= balance AND (ceiling IS NULL OR @amount <= ceiling)}
    set: {balance: balance - @amount, note: '@note'}
  - {event: close, from: OPEN, to: CLOSED, guard: {sql: balance = 0}}
`

// parcel keeps its state as an enum, and has times, dates, lengths, two guards
// that can both be true, an else, and a version that must be expected.
const parcel = `
machine: parcel
table:
  name: parcels
  key: {column: parcel_no, type: text}
  status: {column: stage, enum: parcel_stage}
  columns:
    due_at:   {type: timestamptz}
    sent_on:  {type: date}
    address:  {type: text}
    weight:   {type: integer, check: weight BETWEEN 1 AND 30000}
    contents: {type: jsonb, default: "'{}'"}
states:
  'in transit': {initial: true}
  late:         {}
  lost/stolen:  {}
  done:         {final: true}
events:
  check_due: {expect: version}
  deliver:   {expect: version, params: {name: text}, otherwise: {reject: '*'}}
  weigh:     {expect: version, params: {grams: integer}}
guards:
  overdue: {sql: due_at < now()}
  gone:    {sql: "due_at < now() - interval '30 days'"}
  named:   {sql: length(@name) >= 3}
  known:   {sql: address = @name}
transitions:
  - {event: check_due, from: in transit, to: lost/stolen, guard: gone}
  - {event: check_due, from: in transit, to: late, guard: {sql: "due_at < now() AND due_at >= now() - interval '30 days'"}}
  - {event: check_due, from: in transit, to: in transit, set: {sent_on: sent_on + 1}}
  - {event: deliver, from: [in transit, late], to: done, guard: named}
  - {event: deliver, from: [in transit, late], to: done, guard: known}
  - {event: deliver, from: lost/stolen, to: done, guard: overdue}
  - {event: weigh, from: [in transit, late, lost/stolen], to: late, set: {weight: '@grams'}}
`

// rental keeps its state as a code that its CHECKs read, and guards read the
// version.
const rental = `
machine: rental
table:
  name: rentals
  key: {column: rental_id, type: uuid}
  status: {column: status, type: smallint}
  columns:
    renter: {type: text, optional: true, check: status <> 20 OR renter IS NOT NULL}
    days:   {type: smallint, default: 0, check: "status = 10 OR days > 0"}
    paid:   {type: boolean, default: false}
states:
  FREE: {initial: true, code: 10}
  LET:  {code: 20}
  OVER: {final: true, code: 30}
events:
  let:   {params: {renter: text, days: {type: smallint, check: '@days > 0'}}, otherwise: {reject: '*'}}
  pay:   {expect: version}
  close: {otherwise: {reject: '*'}}
transitions:
  - {event: let, from: FREE, to: LET, set: {renter: '@renter', days: '@days'}}
  - {event: pay, from: LET, to: LET, guard: {sql: NOT paid}, set: {paid: 'true'}}
  - {event: close, from: LET, to: OVER, guard: {sql: paid AND version > 3}}
`
