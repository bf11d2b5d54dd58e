package check

import (
	_ "embed"
	"strings"
)

// builtinText has the names of the types of PostgreSQL 15, to which 16, 17 and
// 18 added none, without those that begin with _ or pg_. A test compares it with
// the server's catalog.
//
//go:embed builtin.txt
var builtinText string

// builtinTypes are the names that no enum of the user can have and be found: the
// server looks for a type among its own first.
var builtinTypes = nameSet(builtinText)

// takenTypes are tables that are there beside those of machines: goose's, which
// counts migrations, and the runtime's.
var takenTypes = nameSet("goose_db_version fsm_outbox fsm_audit")

func nameSet(text string) map[string]bool {
	set := make(map[string]bool)
	for _, name := range strings.Fields(text) {
		set[name] = true
	}
	return set
}
