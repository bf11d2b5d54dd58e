package gensql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// machine reads a definition that has no mistake.
func machine(t testing.TB, yaml string) *model.Machine {
	t.Helper()
	var problems diag.List
	m := check.Run(syntax.Parse("door.yaml", []byte(yaml), &problems), &problems)
	require.Zero(t, problems.Errors(), "%v", problems.Sorted())
	return m
}

// door is the first version of a machine; its successors differ in one thing.
const door = `machine: door
table:
  name: doors
  key: {column: door_id, type: bigint}
  columns:
    colour: text
    knocks: {type: integer, default: 0, check: knocks >= 0}
states:
  OPEN: {initial: true}
  SHUT: {}
  GONE: {final: true}
events:
  shut: {}
  open: {}
  knock: {expect: version}
  remove: {}
transitions:
  - {event: shut, from: OPEN, to: SHUT}
  - {event: open, from: SHUT, to: OPEN}
  - {event: knock, from: SHUT, to: SHUT, set: {knocks: knocks + 1}}
  - {event: remove, from: [OPEN, SHUT], to: GONE}
`
