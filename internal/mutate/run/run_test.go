package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/mutate"
)

func TestPartsOfTheMutants(t *testing.T) {
	t.Parallel()
	var all []*mutate.Mutant
	for i := range 100 {
		all = append(all, &mutate.Mutant{ID: fmt.Sprint(i)})
	}
	part := func(s settings) []string {
		t.Helper()
		mutants, err := s.share(all)
		require.NoError(t, err)
		var ids []string
		for _, m := range mutants {
			ids = append(ids, m.ID)
		}
		return ids
	}
	require.Len(t, part(settings{}), 100)
	var together []string
	for _, shard := range []string{"1/3", "2/3", "3/3"} {
		together = append(together, part(settings{shard: shard})...)
	}
	require.ElementsMatch(t, part(settings{}), together, "the shards are all, each once")
	require.Equal(t, part(settings{sample: 10, seed: 3}), part(settings{sample: 10, seed: 3}))
	require.NotEqual(t, part(settings{sample: 10, seed: 3}), part(settings{sample: 10, seed: 4}))
	require.Len(t, part(settings{sample: 10, seed: 3}), 10)
	for _, wrong := range []string{"0/3", "4/3", "x"} {
		s := settings{shard: wrong}
		_, err := s.share(all)
		require.Error(t, err, wrong)
	}
}

func TestNamesOfTests(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"A", "B/x/1", "B/y"}, leaves([]string{"B/y", "B", "B/x/1", "A", "B/x"}))
	require.Equal(t, `^(TestA|TestB)$/^(x\+1|y)$`, patternOf([]string{"TestA/x+1", "TestB/y", "TestB"}))
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf("TestMatrix/%02d", i))
	}
	require.Equal(t, [][]string{many[:3], many[3:9], many[9:21], many[21:]}, portions(many))
	require.Empty(t, portions(nil))
}

func TestTestsOfAnEvent(t *testing.T) {
	t.Parallel()
	s := &suite{tests: []string{
		"TestAbsent", "TestDeadlines/pay", "TestMatrix/A/pay", "TestMatrix/B/pay/g", "TestMatrix/B/pay_back",
		"TestRaces/A/pay_then_ship", "TestRaces/A/ship_then_pay/g", "TestRaces/A/ship_then_ship",
		"TestRaces/B/pay_told_twice",
	}}
	pay := &mutate.Source{Name: "OrderPay", Event: "pay"}
	require.Equal(t, []string{"TestMatrix/A/pay", "TestMatrix/B/pay/g"}, s.firing(pay, ofCells))
	require.Equal(t, []string{"TestRaces/A/pay_then_ship", "TestRaces/A/ship_then_pay/g", "TestRaces/B/pay_told_twice"}, s.firing(pay, ofRaces))
	require.Nil(t, s.firing(pay, ofOthers), "they are asked, one by one, whether they need the statement")
	require.Nil(t, s.firing(&mutate.Source{Name: "OrderGet"}, ofCells))
	require.Empty(t, s.firing(&mutate.Source{Name: "OrderNone", Event: "none"}, ofCells))
}

// What one piece of the renderer wrote into two statements is broken in the
// first alone, and what they do not share in both.
func TestDistinct(t *testing.T) {
	t.Parallel()
	pay := &mutate.Source{Machine: "order", Event: "pay", Text: "SELECT 'pay'\nWHERE a = 1\nLIMIT 2"}
	ship := &mutate.Source{Machine: "order", Event: "ship", Text: "SELECT 'ship'\nWHERE b = 1\nLIMIT 2"}
	other := &mutate.Source{Machine: "payment", Event: "pay", Text: pay.Text}
	var all []*mutate.Mutant
	for _, s := range []*mutate.Source{pay, ship, other} {
		for _, change := range [][2]string{{"SELECT '", "SELECT 'x"}, {"= 1", "= 2"}, {"LIMIT 2", "LIMIT 3"}} {
			all = append(all, &mutate.Mutant{Source: s, Text: strings.Replace(s.Text, change[0], change[1], 1)})
		}
	}
	got := distinct(all)
	// The misspelt 'xpay' is another text than 'xship': only whole names are taken out.
	require.Equal(t, []*mutate.Mutant{all[0], all[1], all[2], all[3], all[4], all[6], all[7], all[8]}, got)
}

// results are a killed, a stillborn, an explained and an open mutant of OrderPay.
func results(t *testing.T) []result {
	t.Helper()
	source := &mutate.Source{Name: "OrderPay", File: "queries/order.sql", Line: 7, Text: "SELECT 1"}
	at := func(operator, before, after string) *mutate.Mutant {
		return &mutate.Mutant{ID: operator, Operator: operator, Source: source, Line: 7, Column: 1, Before: before, After: after, Text: operator + after}
	}
	list := []result{
		{Mutant: at("number", "1", "2"), fate: killed, by: "TestMatrix/NEW/pay", of: 3, why: -1},
		{Mutant: at("number", "1", "0"), fate: stillborn, by: "syntax error", why: -1},
		{Mutant: at("lock-weak", "FOR NO KEY UPDATE", "FOR SHARE"), fate: survived},
		{Mutant: at("compare", "a | b", ""), fate: survived, why: -1},
	}
	list[2].why = mutate.Explained(list[2].Mutant)
	require.GreaterOrEqual(t, list[2].why, 0)
	return list
}

// Without the flag every explanation is put to the test, each time.
func TestBelieved(t *testing.T) {
	t.Parallel()
	source := &mutate.Source{Name: "OrderPay", File: "queries/order.sql", Line: 7, Text: "SELECT 1"}
	weak := &mutate.Mutant{Operator: "lock-weak", Source: source, Line: 7, Before: "FOR NO KEY UPDATE", After: "FOR SHARE"}
	open := &mutate.Mutant{Operator: "compare", Source: source, Line: 7, Before: "=", After: "<"}
	all := []*mutate.Mutant{weak, open, weak, weak}
	require.Equal(t, []int{-1, -1, -1, -1}, (&settings{}).believed(all))
	why := mutate.Explained(weak)
	require.Equal(t, []int{-1, -1, -1, why}, (&settings{explained: 2}).believed(all))
}

func TestReport(t *testing.T) {
	t.Parallel()
	r := newReport(results(t))
	page, err := r.markdown()
	require.NoError(t, err)
	for _, want := range []string{
		"**1 of 2** changes",
		"| `OrderPay` | 4 | 1 | 0 | 1 | 1 | 1 |",
		"| `number` puts one more or one less in a number's place | 2 | 1 | 0 | 1 | 0 | 0 |",
		"- `lock-weak`, 1 times: ",
		"For one, queries/order.sql:7: `FOR NO KEY UPDATE` → `FOR SHARE`.",
		"- `compare`: queries/order.sql:7: `a \\| b` → nothing",
		"| `OrderPay` | `TestMatrix/NEW/pay` | 1 |",
	} {
		require.Contains(t, string(page), want)
	}
	again, err := newReport(results(t)).markdown()
	require.NoError(t, err)
	require.Equal(t, page, again)
	r.part = (&settings{machine: "order", sample: 5, seed: 2}).part()
	page, err = r.markdown()
	require.NoError(t, err)
	require.Contains(t, string(page), "a part of the whole: machine `order`, 5 drawn by the seed 2.")

	file := filepath.Join(t.TempDir(), "all.json")
	require.NoError(t, r.save(file))
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(content), `"by": "TestMatrix/NEW/pay"`)
	require.NoError(t, r.save(""))

	before, err := readKnown(file)
	require.NoError(t, err)
	for _, x := range r.results {
		got, taken := before.of(x.Mutant)
		require.Equal(t, x.fate == killed || x.fate == stillborn, taken, "only what was noticed is known: %s", x.Mutant)
		if taken {
			require.Equal(t, x, got)
		}
	}
	other := *r.results[0].Mutant
	other.Text += " "
	_, taken := before.of(&other)
	require.False(t, taken, "another text")
	none, err := readKnown("")
	require.NoError(t, err)
	require.Empty(t, none)
	_, err = readKnown(file + ".none")
	require.Error(t, err)
	require.Len(t, tested(append(results(t), result{})), len(results(t)))
}

// A run fails for a mutant that nobody noticed and nobody explains, for one that
// was noticed against its explanation, and, when it was whole, for an
// explanation that nobody needs.
func TestWhatFailsARun(t *testing.T) {
	t.Parallel()
	all := results(t)
	code := func(whole bool, list ...result) (int, string) {
		var out bytes.Buffer
		r := newReport(list)
		r.whole = whole
		return r.print(&out), out.String()
	}
	got, _ := code(false, all[:3]...)
	require.Zero(t, got)
	got, _ = code(false, all...)
	require.Equal(t, exitSurvived, got)
	noticed := all[2]
	noticed.fate, noticed.by = killed, "TestRaces/x"
	got, text := code(false, noticed)
	require.Equal(t, exitSurvived, got)
	require.Contains(t, text, "explained as one that cannot be noticed, and killed by TestRaces/x")
	got, text = code(true, all[:3]...)
	require.Equal(t, exitSurvived, got)
	require.Contains(t, text, "no survivor needs the explanation of")
}

func TestWrongCalls(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-nothing"}, {"more"}, {"-statement", "("}, {"-statement", "NoSuch"}, {"-without", "("}, {"-without", "."}, {"-shard", "3/2"}, {"-root", "nowhere"}} {
		var out, errs bytes.Buffer
		require.Equal(t, exitFailed, run(t.Context(), append([]string{"-root", "../../..", "-list"}, args...), &out, &errs), args)
		require.NotEmpty(t, errs.String(), args)
	}
	var out, errs bytes.Buffer
	require.Zero(t, run(t.Context(), []string{"-root", "../../..", "-list", "-statement", "^PaymentGet$"}, &out, &errs))
	require.Contains(t, out.String(), "queries/payment.sql:")
	require.Empty(t, errs.String())
}

// The whole of it: the generated tests notice every state that is left out of a
// statement, and when the tests of the cells are taken away they no longer do.
func TestMutantsSurviveWithoutTests(t *testing.T) {
	t.Parallel()
	call := func(more ...string) (int, string) {
		var out, errs bytes.Buffer
		args := append([]string{"-root", "../../..", "-statement", "^PaymentSubmit$", "-operator", "state-drop", "-workers", "1"}, more...)
		code := run(t.Context(), args, &out, &errs)
		require.Empty(t, errs.String())
		return code, out.String()
	}
	code, out := call()
	require.Zero(t, code, out)
	require.Contains(t, out, "6 mutants: 6 killed")
	code, out = call("-skip", "TestMatrix|TestRaces|TestTable|TestAbsent")
	require.Equal(t, exitSurvived, code, out)
	require.Equal(t, 6, strings.Count(out, "survived  queries/payment.sql:"), out)
}
