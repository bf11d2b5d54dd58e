package check_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

// show prints what the cases give, to be compared by eye with their files.
var show = flag.Bool("show", false, "print the problems of every case")

// run checks the definitions together, each under its base name.
func run(t *testing.T, paths ...string) ([]*model.Machine, *diag.List) {
	t.Helper()
	problems := &diag.List{}
	var machines []*model.Machine
	for _, path := range paths {
		src, err := os.ReadFile(path)
		require.NoError(t, err)
		machines = append(machines, check.Run(syntax.Parse(filepath.Base(path), src, problems), problems))
	}
	check.Set(machines, problems)
	return machines, problems
}

func text(t *testing.T, problems *diag.List) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, problems.Text(&b))
	return b.String()
}

// cases returns the definitions of a folder, by case name: a file, or a folder
// of files that are checked together.
func cases(t *testing.T, folder string) map[string][]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	found := make(map[string][]string)
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch {
		case e.Name() == "want":
		case e.IsDir():
			files, err := filepath.Glob(filepath.Join(path, "*.yaml"))
			require.NoError(t, err)
			found[e.Name()] = files
		default:
			found[strings.TrimSuffix(e.Name(), ".yaml")] = []string{path}
		}
	}
	return found
}

func TestBadDefinitions(t *testing.T) {
	t.Parallel()
	for name, paths := range cases(t, "testdata/bad") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(filepath.Join("testdata/bad/want", name+".txt"))
			machines, problems := run(t, paths...)
			if *show {
				t.Logf("\n%s", text(t, problems))
			}
			require.NoError(t, err)
			require.Equal(t, string(want), text(t, problems))
			require.Contains(t, text(t, problems), strings.SplitN(name, "-", 2)[0])
			require.Equal(t, len(paths) == 1 && leavesOut(problems), machines[0] == nil)
		})
	}
}

// leavesOut reports whether an error is of a rule that cannot be waived: what it
// is about is not in the machine then, while others judge what is.
func leavesOut(problems *diag.List) bool {
	judges := make(map[diag.Code]bool)
	for _, r := range check.Rules() {
		judges[r.Code] = r.Waivable
	}
	return slices.ContainsFunc(problems.Sorted(), func(p diag.Problem) bool { return p.Severity == diag.Error && !judges[p.Code] })
}

func TestGoodDefinitions(t *testing.T) {
	t.Parallel()
	for name, paths := range cases(t, "testdata/good") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			machines, problems := run(t, paths...)
			require.Empty(t, text(t, problems))
			for _, m := range machines {
				require.NotNil(t, m)
			}
		})
	}
}

func TestEveryRuleHasCases(t *testing.T) {
	t.Parallel()
	bad, good := cases(t, "testdata/bad"), cases(t, "testdata/good")
	last := diag.Code("")
	for _, rule := range check.Rules() {
		require.Greater(t, rule.Code, last)
		last = rule.Code
		require.NotEmpty(t, rule.Short, rule.Code)
		require.NotEmpty(t, rule.Cause, rule.Code)
		require.NotEmpty(t, rule.Fix, rule.Code)
		require.True(t, hasCase(bad, rule.Code), "no failing case of %s", rule.Code)
		require.True(t, hasCase(good, rule.Code), "no passing case of %s", rule.Code)
	}
}

func hasCase(found map[string][]string, code diag.Code) bool {
	for name := range found {
		if strings.HasPrefix(name, string(code)+"-") {
			return true
		}
	}
	return false
}

// TestSeverities holds the table of rules against what is reported.
func TestSeverities(t *testing.T) {
	t.Parallel()
	severity := make(map[diag.Code]diag.Severity)
	for _, rule := range append(check.Rules(), syntax.Rules()...) {
		severity[rule.Code] = rule.Severity
	}
	for _, paths := range cases(t, "testdata/bad") {
		_, problems := run(t, paths...)
		for _, p := range problems.Sorted() {
			want, ok := severity[p.Code]
			require.True(t, ok, p.Code)
			require.Equal(t, want, p.Severity, p.Code)
		}
	}
}

func TestSample(t *testing.T) {
	t.Parallel()
	machines, problems := run(t, "testdata/sample/order.yaml")
	require.Empty(t, text(t, problems))
	m := machines[0]
	require.NotNil(t, m)
	require.Equal(t, "order", m.Name)
	require.Equal(t, "order", m.Package)
	require.Equal(t, "Order", m.Ident)
	require.Equal(t, "order.yaml", m.Source)
	require.Equal(t, "orders", m.Table.Name)
	require.Equal(t, "order_id", m.Table.Keys[0].Name)
	require.Equal(t, model.KindUUID, m.Table.Keys[0].Type.Kind)
	require.Len(t, m.Table.Columns, 4)
	require.Len(t, m.States, 8)
	require.Len(t, m.Events, 11)
	require.Len(t, m.Guards, 2)
	require.Len(t, m.Transitions, 12)
	require.Equal(t, "PENDING", m.Initial().Name)
	require.Equal(t, "待支付", m.State("PENDING").Label("zh"))
	require.Equal(t, 240*time.Hour, m.State("SHIPPED").Deadline.After)
	require.Equal(t, 20, m.State("PAYING").Deadline.Max)
	require.Same(t, m.Event("query_payment"), m.State("PAYING").Deadline.Event)
	require.True(t, m.State("CANCELLED").Resting)
	require.True(t, m.State("REFUNDED").Final)

	// Read off the definition, event by event, in the order of the states:
	// PENDING PAYING PAID SHIPPED COMPLETED CANCELLED REFUNDING REFUNDED.
	// A > is a transition without otherwise, >x one with otherwise x.
	for event, want := range map[string]string{
		"pay":               "> replay reject reject reject reject reject reject",
		"query_payment":     "ignore > ignore ignore ignore ignore ignore ignore",
		"expire":            "> ignore ignore ignore ignore ignore ignore ignore",
		"payment_succeeded": ">compensate >compensate compensate compensate compensate > compensate compensate",
		"payment_failed":    "ignore > ignore ignore ignore ignore ignore ignore",
		"cancel":            "> > reject reject reject replay reject reject",
		"ship":              "reject reject > replay replay reject reject reject",
		"refund_succeeded":  "compensate compensate compensate compensate compensate compensate >compensate compensate",
	} {
		var got []string
		for _, cell := range m.Event(event).Cells {
			word := cell.Otherwise.String()
			if cell.Moves() {
				word = ">"
				if !cell.Closed() {
					word += cell.Otherwise.String()
				}
			}
			got = append(got, word)
		}
		require.Equal(t, want, strings.Join(got, " "), event)
	}
	paid := m.Event("payment_succeeded")
	require.True(t, paid.Callback)
	require.Equal(t, []string{"refund_due"}, paid.Cells[2].Emit)
	require.Empty(t, paid.Cells[5].Emit)
	require.Same(t, paid.Params[0], paid.Identity[0])
	require.Same(t, paid.Params[1], paid.Fingerprint[0])
	require.Equal(t, "PaymentSucceeded", paid.Ident)

	guarded := paid.Cells[0].Transitions[0]
	require.Same(t, m.Guards[0], guarded.Guard)
	require.Equal(t, "total_cents = @paid_cents", guarded.Guard.SQL.Source)
	require.Equal(t, []model.Part{
		{Kind: model.ColumnRef, Text: "total_cents"},
		{Kind: model.Text, Text: " = "},
		{Kind: model.ParamRef, Text: "paid_cents", Param: paid.Params[1]},
	}, guarded.Guard.SQL.Parts)
	require.Equal(t, []string{"order_paid"}, guarded.Emit)
	require.Len(t, guarded.Set, 3)
	require.Equal(t, "paid_at", guarded.Set[2].Column.Name)
	require.Equal(t, []model.Part{{Kind: model.Now, Text: "now"}}, guarded.Set[2].Value.Parts)
	require.Equal(t, "total_cents > 0", m.Table.Column("total_cents").Check.Source)
	require.Equal(t, "0", m.Table.Column("paid_cents").Default.Source)
}

// TestGuardOfTwoEvents: a guard with a parameter is resolved for each event
// that uses it, one without is shared.
func TestGuardOfTwoEvents(t *testing.T) {
	t.Parallel()
	machines, problems := run(t, "testdata/good/FSM012-guard-of-two-events.yaml")
	require.Empty(t, text(t, problems))
	m := machines[0]
	require.NotSame(t, m.Transitions[0].Guard, m.Transitions[1].Guard)
	require.Same(t, m.Events[0].Params[0], m.Transitions[0].Guard.SQL.Params()[0])
	require.Same(t, m.Events[1].Params[0], m.Transitions[1].Guard.SQL.Params()[0])
	require.Same(t, m.Transitions[2].Guard, m.Transitions[3].Guard)
	require.Equal(t, []*model.Guard{m.Transitions[0].Guard, m.Transitions[2].Guard}, m.Guards)
}

func TestRunWithoutFile(t *testing.T) {
	t.Parallel()
	problems := &diag.List{}
	require.Nil(t, check.Run(nil, problems))
	check.Set([]*model.Machine{nil, nil}, problems)
	require.Zero(t, problems.Len())
}
