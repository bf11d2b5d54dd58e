-- The orders example's own tables: what paying an order does beside the
-- transition, and what a person has to look at.

-- +goose Up
CREATE TABLE shop_stock (
  sku text NOT NULL,
  quantity bigint NOT NULL,
  CONSTRAINT shop_stock_pkey PRIMARY KEY (sku),
  CONSTRAINT shop_stock_quantity_check CHECK (quantity >= 0)
);

-- One row an order and kind: stock moves once, whatever is tried.
CREATE TABLE shop_stock_moves (
  order_id uuid NOT NULL,
  kind text NOT NULL,
  sku text NOT NULL,
  quantity bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT shop_stock_moves_pkey PRIMARY KEY (order_id, kind)
);

CREATE TABLE shop_points (
  order_id uuid NOT NULL,
  kind text NOT NULL,
  customer_id text NOT NULL,
  points bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT shop_points_pkey PRIMARY KEY (order_id, kind)
);

-- What a callback leaves for a person to settle: one row for a delivery and what
-- came of it, however often it is delivered.
CREATE TABLE shop_cases (
  id bigint GENERATED ALWAYS AS IDENTITY,
  provider text NOT NULL,
  delivery_id text NOT NULL,
  order_id uuid NOT NULL,
  event text NOT NULL,
  outcome text NOT NULL,
  detail text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT shop_cases_pkey PRIMARY KEY (id),
  CONSTRAINT shop_cases_delivery_key UNIQUE (provider, delivery_id, outcome)
);

-- +goose Down
DROP TABLE shop_cases;
DROP TABLE shop_points;
DROP TABLE shop_stock_moves;
DROP TABLE shop_stock;
