package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

// machine checks a definition.
func machine(t testing.TB, src string) *model.Machine {
	t.Helper()
	var problems diag.List
	m := check.Run(syntax.Parse("m.yaml", []byte(src), &problems), &problems)
	require.NotNil(t, m, "%v", problems.Sorted())
	return m
}

// sample checks one of the repository's own definitions.
func sample(t testing.TB, name string) *model.Machine {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("..", "..", "definitions", name+".yaml"))
	require.NoError(t, err)
	return machine(t, string(src))
}

// payment is M7 of the sizes that were worked out by hand.
const payment = `
machine: m7
states:
  created: {initial: true}
  authorized: {}
  captured: {resting: true}
  failed: {final: true}
  expired: {final: true}
  voided: {final: true}
  part_refunded: {resting: true}
  refunded: {final: true}
events:
  authorize: {}
  fail: {}
  expire: {}
  capture: {}
  void: {}
  refund_part: {expect: version}
  refund_full: {}
transitions:
  - {event: authorize, from: created, to: authorized}
  - {event: fail, from: created, to: failed}
  - {event: expire, from: [created, authorized], to: expired}
  - {event: capture, from: authorized, to: captured}
  - {event: void, from: authorized, to: voided}
  - {event: refund_part, from: [captured, part_refunded], to: part_refunded}
  - {event: refund_full, from: [captured, part_refunded], to: refunded}
`

// find returns the case of an ID without the machine's name.
func find(t *testing.T, s *Suite, id string) *Case {
	t.Helper()
	for _, c := range s.Cases {
		if c.ID == s.Machine.Name+"/"+id {
			return c
		}
	}
	require.Fail(t, "no such case", id)
	return nil
}

// show writes a case in few words, to be compared with what was written by hand:
// a line of what is given, and one a step.
func show(c *Case) string {
	var b strings.Builder
	if c.Start != nil {
		b.WriteString(c.Start.Name)
	}
	fmt.Fprintf(&b, "%s\n", values(c.Given))
	for _, s := range c.Steps {
		b.WriteString(s.Event.Name + values(s.Params))
		for word, is := range map[string]bool{" right": s.Version == RightVersion, " wrong": s.Version == WrongVersion} {
			if is {
				b.WriteString(word)
			}
		}
		if s.Repeat {
			b.WriteString(" again")
		}
		if s.Other {
			b.WriteString(" other row")
		}
		if s.Second {
			b.WriteString(" meanwhile")
		}
		fmt.Fprintf(&b, ": %s %s%s", s.Outcome, s.To.Name, values(s.After))
		if len(s.Emit) > 0 {
			b.WriteString(" emits " + strings.Join(s.Emit, ","))
		}
		if s.Fact {
			b.WriteString(" fact")
		}
		if s.Unknown != "" {
			b.WriteString(" UNKNOWN " + s.Unknown)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// boring are the columns that the sample's orders must have and no guard reads.
var boring = []string{"order_id", "customer_id", "sku", "quantity"}

func values(list []Value) string {
	var out []string
	for _, v := range list {
		if !slices.Contains(boring, v.Name) {
			out = append(out, v.Name+"="+v.SQL)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "(" + strings.Join(out, " ") + ")"
}

// count returns how many items of a kind there are.
func count(s *Suite, kind ItemKind) int {
	n := 0
	for _, item := range s.Items {
		if item.Kind == kind {
			n++
		}
	}
	return n
}
