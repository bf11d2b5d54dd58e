-- The orders example's own tables, second part: stock and balances that are
-- guarded by a version alone, and the ledger of what was ever booked.

-- +goose Up
ALTER TABLE shop_stock ADD COLUMN version bigint NOT NULL DEFAULT 1;

CREATE TABLE shop_balances (
  customer_id text NOT NULL,
  cents bigint NOT NULL DEFAULT 0,
  version bigint NOT NULL DEFAULT 1,
  CONSTRAINT shop_balances_pkey PRIMARY KEY (customer_id),
  CONSTRAINT shop_balances_cents_check CHECK (cents >= 0)
);

-- One row a booking: the number is its caller's, and counts once.
CREATE TABLE shop_bookings (
  customer_id text NOT NULL,
  booking_no text NOT NULL,
  cents bigint NOT NULL,
  balance_cents bigint NOT NULL,
  version bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT shop_bookings_pkey PRIMARY KEY (customer_id, booking_no)
);

-- The money that providers told of, by their number: the last line of defence
-- behind lock and state machine.
CREATE TABLE shop_ledger (
  kind text NOT NULL,
  number text NOT NULL,
  order_id uuid NOT NULL,
  cents bigint NOT NULL,
  outcome text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT shop_ledger_pkey PRIMARY KEY (kind, number)
);

-- +goose Down
DROP TABLE shop_ledger;
DROP TABLE shop_bookings;
DROP TABLE shop_balances;
ALTER TABLE shop_stock DROP COLUMN version;
