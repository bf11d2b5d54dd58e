//go:build !cgo || windows

package pgparse

import (
	"errors"

	pg "github.com/pganalyze/pg_query_go/v6"
	wasm "github.com/wasilibs/go-pgquery"
	"github.com/wasilibs/go-pgquery/parser"
)

func parse(sql string) (*pg.ParseResult, error) { return wasm.Parse(sql) }

func scan(sql string) (*pg.ScanResult, error) { return wasm.Scan(sql) }

func plpgsql(sql string) (string, error) { return wasm.ParsePlPgSqlToJSON(sql) }

// cursor returns the parser's own position of an error, 0 when it gave none.
func cursor(err error) int {
	var e *parser.Error
	if errors.As(err, &e) {
		return e.Cursorpos
	}
	return 0
}
