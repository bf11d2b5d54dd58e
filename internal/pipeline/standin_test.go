package pipeline

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/sqlcgen"
)

func TestWhoMakesATable(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]bool{
		"CREATE TABLE orders (id bigint);":                 true,
		"create  table\n if not exists orders(id bigint);": true,
		`CREATE TABLE "orders" (id bigint);`:               true,
		`CREATE TABLE shop.orders (id bigint);`:            true,
		`CREATE TABLE "shop" . "orders" (id bigint);`:      true,
		"CREATE UNLOGGED TABLE orders (id bigint);":        true,
		"CREATE TABLE orders\n(id bigint);":                true,
		"CREATE TABLE orders_old (id bigint);":             false,
		"CREATE TABLE old_orders (id bigint);":             false,
		"CREATE TABLE order_history (orders bigint);":      false,
		"CREATE INDEX orders ON x (id);":                   false,
		"ALTER TABLE orders ADD COLUMN state text;":        false,
		"":                                    false,
		"CREATE TYPE orders AS ENUM ('A');":   false,
		"-- create table orders (\nSELECT 1;": false,
		"DROP TABLE orders;\n-- +goose Down\nCREATE TABLE orders (id bigint);": false,
		"CREATE VIEW orders AS SELECT 1;":                                      false,
		"-- +goose Up\nCREATE TABLE x (); CREATE TABLE orders (":               true,
	} {
		require.Equal(t, want, creates([]sqlcgen.File{{Name: "a.sql"}, {Name: "b.sql", Content: []byte(sql)}}, "table", "orders"), sql)
	}
	require.True(t, creates([]sqlcgen.File{{Content: []byte("CREATE TYPE order_state AS ENUM ('A');")}}, "type", "order_state"))
}
