//go:build cgo && !windows

package sqlexpr

import (
	"errors"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"
)

func parseSQL(sql string) (*pg.ParseResult, error) { return pg.Parse(sql) }

func scanSQL(sql string) (*pg.ScanResult, error) { return pg.Scan(sql) }

// cursor returns the parser's own position of an error, counted in characters
// from 1, or 0 when it gave none.
func cursor(err error) int {
	var e *parser.Error
	if errors.As(err, &e) {
		return e.Cursorpos
	}
	return 0
}
