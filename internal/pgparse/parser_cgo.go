//go:build cgo && !windows

package pgparse

import (
	"errors"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"
)

func parse(sql string) (*pg.ParseResult, error) { return pg.Parse(sql) }

func scan(sql string) (*pg.ScanResult, error) { return pg.Scan(sql) }

func plpgsql(sql string) (string, error) { return pg.ParsePlPgSqlToJSON(sql) }

// cursor returns the parser's own position of an error, 0 when it gave none.
func cursor(err error) int {
	var e *parser.Error
	if errors.As(err, &e) {
		return e.Cursorpos
	}
	return 0
}
