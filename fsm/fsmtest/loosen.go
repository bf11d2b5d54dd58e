package fsmtest

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// foreign lists what keeps rows out of the table and is not the machine's:
// foreign keys, unique and exclusion constraints and unique indexes beside the
// key, each as the statement that takes it away. A primary key, or a unique
// index on exactly the key, is where a creation finds the row of its key.
const foreign = `
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', c.conrelid::regclass, c.conname)
FROM pg_constraint AS c
WHERE c.conrelid = $1::regclass
  AND (c.contype IN ('f', 'x') OR c.contype = 'u' AND NOT EXISTS (
    SELECT FROM pg_index AS i WHERE i.indexrelid = c.conindid AND i.indnkeyatts = cardinality($2::text[])
      AND (SELECT count(*) FROM pg_attribute AS a WHERE a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey) AND a.attname = ANY ($2)) = cardinality($2)))
UNION ALL
SELECT format('DROP INDEX %s', i.indexrelid::regclass)
FROM pg_index AS i
WHERE i.indrelid = $1::regclass AND i.indisunique AND NOT i.indisprimary
  AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.conindid = i.indexrelid)
  AND (SELECT count(*) FROM pg_attribute AS a WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey) AND a.attname = ANY ($2)) < i.indnkeyatts
UNION ALL
SELECT format('ALTER TABLE %s ALTER COLUMN %I DROP NOT NULL', a.attrelid::regclass, a.attname)
FROM pg_attribute AS a
WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull AND a.attidentity = ''
  AND a.attname <> ALL ($3::text[])`

// loosen takes from the table what is not the machine's and would keep the
// tests from making rows, and switches off the trigger of new rows.
func loosen(ctx context.Context, conn *pgx.Conn, m *Machine) error {
	var keys []string
	for _, k := range m.Key {
		keys = append(keys, k.Name)
	}
	known := append([]string{m.Status, m.Version, m.Deadline, m.Runs}, keys...)
	for _, c := range m.Columns {
		known = append(known, c.Name)
	}
	rows, err := conn.Query(ctx, foreign, quoted(m.Table), keys, known)
	if err != nil {
		return err
	}
	statements, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("look at the table %s: %w", m.Table, err)
	}
	statements = append(statements, "ALTER TABLE "+quoted(m.Table)+" DISABLE TRIGGER "+quoted(m.Birth))
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}
