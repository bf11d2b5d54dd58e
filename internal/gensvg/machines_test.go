package gensvg_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

var update = flag.Bool("update", false, "write what the tests want anew")

// parse is the machine that a definition says.
func parse(t testing.TB, name, src string) *model.Machine {
	t.Helper()
	problems := &diag.List{}
	m := check.Run(syntax.Parse(name, []byte(src), problems), problems)
	var text strings.Builder
	require.NoError(t, problems.Text(&text))
	require.NotNil(t, m, "%s\n%s", text.String(), src)
	return m
}

// real are the repository's own definitions and the lifecycles of real systems.
func real(t testing.TB) []*model.Machine {
	t.Helper()
	own, err := filepath.Glob("../../definitions/*.yaml")
	require.NoError(t, err)
	lifecycles, err := filepath.Glob("../check/testdata/lifecycles/*.yaml")
	require.NoError(t, err)
	require.Len(t, own, 4)
	require.NotEmpty(t, lifecycles)
	var machines []*model.Machine
	for _, path := range append(own, lifecycles...) {
		src, err := os.ReadFile(path)
		require.NoError(t, err)
		machines = append(machines, parse(t, filepath.Base(path), string(src)))
	}
	return machines
}

// hostile are names and labels that have broken other tools, or would break XML.
var hostile = []string{
	"end", "default", "State", "in transit", "a::b", `say "hi"`, "it's", "a;b", "<script>alert(1)</script>", "]]>", "-->", "&amp;", "%%{init}%%",
	"中文状态名称很长很长很长很长很长很长很长很长", "😀👩‍👩‍👧‍👦🇩🇪", "مرحبا بالعالم", "a\u202eb", "tab\tand\nline", "x\u0001y",
	"a_name_of_sixty_characters_which_is_the_longest_that_we_draw_", strings.Repeat("W", 60), "{{template}}", "${x}", `C:\new`, "é\u0301\u0301", "",
}

// random is a machine with all that pictures tell apart and names that are
// hostile. Every state but the first is led to.
func random(r *rand.Rand, states, more int) *model.Machine {
	text := func() string { return hostile[r.IntN(len(hostile))] }
	m := &model.Machine{Name: "m", Package: "m", Describe: text(), Source: "m--" + text()}
	for i := range states {
		s := &model.State{Name: fmt.Sprint(text(), i), Index: i, Ident: fmt.Sprint("S", i), Initial: i == 0, Describe: text()}
		s.Labels = []model.Label{{Lang: "zh", Text: text() + "标"}}
		s.Final, s.Resting, s.Retired = i > 0 && r.IntN(5) == 0, r.IntN(5) == 0, r.IntN(9) == 0
		m.States = append(m.States, s)
	}
	for i := range states + more {
		from, to := r.IntN(states), r.IntN(states)
		if i > 0 && i < states {
			from, to = r.IntN(i), i
		}
		if r.IntN(3) > 0 || len(m.Events) == 0 {
			addEvent(m, fmt.Sprint(text(), "e", i), r.IntN(3) == 0, model.Decision(r.IntN(4)))
		}
		t := &model.Transition{Event: m.Events[len(m.Events)-1], From: []*model.State{m.States[from]}, To: m.States[to], Index: i}
		if r.IntN(3) == 0 {
			t.Guard = &model.Guard{Name: text(), Describe: text(), SQL: &model.Expr{Source: "a < b && c"}}
			m.Guards = append(m.Guards, t.Guard)
		}
		if r.IntN(3) == 0 {
			t.Emit = []string{text(), "mail"}
		}
		m.Transitions = append(m.Transitions, t)
		c := t.Event.Cells[from]
		c.Transitions = append(c.Transitions, t)
		if r.IntN(4) == 0 {
			m.States[from].Deadline = &model.Deadline{After: 36 * time.Hour, Event: t.Event, Max: r.IntN(3)}
		}
	}
	return m
}

func addEvent(m *model.Machine, name string, callback bool, otherwise model.Decision) {
	e := &model.Event{Name: name, Index: len(m.Events), Ident: fmt.Sprint("E", len(m.Events)), Callback: callback, Describe: name}
	for _, s := range m.States {
		e.Cells = append(e.Cells, &model.Cell{State: s, Event: e, Otherwise: otherwise, Emit: []string{"work"}})
	}
	m.Events = append(m.Events, e)
}

// chain is a machine of many states and, by a stride, many transitions.
func chain(states, strides int) *model.Machine {
	m := &model.Machine{Name: "chain", Package: "chain"}
	for i := range states {
		m.States = append(m.States, &model.State{Name: fmt.Sprint("S", i), Index: i, Ident: fmt.Sprint("S", i), Initial: i == 0, Final: i == states-1})
	}
	for k := range strides {
		addEvent(m, fmt.Sprint("go", k), k%3 == 0, model.Reject)
		for i := range states - 1 {
			t := &model.Transition{Event: m.Events[k], From: m.States[i : i+1], To: m.States[min(states-1, i+1+k*k)], Index: len(m.Transitions)}
			m.Transitions = append(m.Transitions, t)
			m.Events[k].Cells[i].Transitions = []*model.Transition{t}
		}
	}
	return m
}
