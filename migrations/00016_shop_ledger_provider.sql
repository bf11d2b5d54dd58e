-- The orders example's own tables, fourth part: who told of the money. Two
-- providers may take money under one of our numbers, and only one of them is
-- booked under it.

-- +goose Up
-- Empty where it was booked before this column was there.
ALTER TABLE shop_ledger ADD COLUMN provider text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE shop_ledger DROP COLUMN provider;
