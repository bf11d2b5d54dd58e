//go:build !cgo || windows

package pgparse

import (
	"errors"
	"sync"

	pg "github.com/pganalyze/pg_query_go/v6"
	wasm "github.com/wasilibs/go-pgquery"
	"github.com/wasilibs/go-pgquery/parser"
)

// one lets one call after another into the parser. Each that came beside another
// would compile a whole PostgreSQL parser for itself, which takes a second of
// both cores where a parse takes less than a millisecond.
var one sync.Mutex

func parse(sql string) (*pg.ParseResult, error) {
	one.Lock()
	defer one.Unlock()
	return wasm.Parse(sql)
}

func scan(sql string) (*pg.ScanResult, error) {
	one.Lock()
	defer one.Unlock()
	return wasm.Scan(sql)
}

func plpgsql(sql string) (string, error) {
	one.Lock()
	defer one.Unlock()
	return wasm.ParsePlPgSqlToJSON(sql)
}

// cursor returns the parser's own position of an error, 0 when it gave none.
func cursor(err error) int {
	var e *parser.Error
	if errors.As(err, &e) {
		return e.Cursorpos
	}
	return 0
}
