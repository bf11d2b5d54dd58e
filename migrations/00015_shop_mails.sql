-- The orders example's own tables, third part: the mails that follow from what
-- the outbox tells.

-- +goose Up
-- One row an order and kind: what is to be sent, for whoever sends mails.
CREATE TABLE shop_mails (
  order_id uuid NOT NULL,
  kind text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT shop_mails_pkey PRIMARY KEY (order_id, kind)
);

-- +goose Down
DROP TABLE shop_mails;
