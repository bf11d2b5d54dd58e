package picture_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
	"github.com/pawl-go/pawl/internal/syntax"
)

// machine reads a definition; a machine with warnings will do.
func machine(t *testing.T, text string) *model.Machine {
	t.Helper()
	var problems diag.List
	m := check.Run(syntax.Parse("test.yaml", []byte(text), &problems), &problems)
	require.NotNil(t, m, "%v", problems.Sorted())
	return m
}

func definition(t *testing.T, path string) *model.Machine {
	t.Helper()
	text, err := os.ReadFile("../../" + path)
	require.NoError(t, err)
	return machine(t, string(text))
}

// walks is a definition with states and transitions only: "a b*" declares a and
// the final b ("b?" would be resting), "a>b" is a transition of an event of its own.
func walks(t *testing.T, states, edges string) *model.Machine {
	t.Helper()
	var b strings.Builder
	b.WriteString("machine: m\nstates:\n")
	for i, s := range strings.Fields(states) {
		name := strings.TrimRight(s, "*?")
		fmt.Fprintf(&b, "  %s: {initial: %t, final: %t, resting: %t}\n", name, i == 0, strings.HasSuffix(s, "*"), strings.HasSuffix(s, "?"))
	}
	b.WriteString("events:\n")
	for i := range strings.Fields(edges) {
		fmt.Fprintf(&b, "  e%d: {expect: version}\n", i)
	}
	b.WriteString("transitions:\n")
	for i, e := range strings.Fields(edges) {
		from, to, _ := strings.Cut(e, ">")
		fmt.Fprintf(&b, "  - {event: e%d, from: %s, to: %s}\n", i, from, to)
	}
	return machine(t, b.String())
}

func names(states []*model.State) string {
	var all []string
	for _, s := range states {
		all = append(all, s.Name)
	}
	return strings.Join(all, " ")
}

func drawn(p *picture.Picture) (nodes, edges string) {
	var n, e []string
	for _, node := range p.Nodes {
		n = append(n, node.State.Name)
	}
	for _, edge := range p.Edges {
		e = append(e, edge.From.Name+">"+edge.To.Name)
	}
	return strings.Join(n, " "), strings.Join(e, " ")
}

func TestHappyPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, states, edges, want string }{
		{"a line", "a b c*", "a>b b>c", "a b c"},
		{"a step over a state waits for the step to it", "a b c*", "a>c a>b b>c", "a b c"},
		{"steps back are left out", "a b c*", "b>a a>b b>b b>c", "a b c"},
		{"the first end ends it", "a b? c*", "a>b b>c", "a b"},
		{"a resting state that only leads on is an end", "a b? c* d*", "a>b a>d a>c b>c", "a b"},
		{"a resting state that leads back is a halt", "a b? c* d*", "a>b a>d a>c b>c b>a", "a c"},
		{"a way that cannot end is not taken", "a stuck b*", "a>stuck stuck>a a>b", "a b"},
		{"an end declared before what leads to it", "a done* b c", "a>b b>c c>done", "a b c done"},
		{"the shortest of ways back", "a done* b c d", "a>b b>c a>d c>d d>done b>done", "a b done"},
		{"no end at all: on as long as it goes", "a b c d", "a>b b>c c>a c>d d>b", "a b c d"},
		{"an end out of reach counts for nothing", "a b c*", "a>b b>a", "a b"},
		{"one state", "a*", "", "a"},
	} {
		require.Equal(t, c.want, names(picture.Of(walks(t, c.states, c.edges)).Happy), c.why)
	}
}

// The ways that the sources of these machines call the usual ones.
func TestHappyPathOfRealMachines(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"definitions/order.yaml":                                "PENDING PAYING PAID SHIPPED COMPLETED",
		"definitions/payment.yaml":                              "CREATED SUBMITTED SUCCEEDED",
		"definitions/refund.yaml":                               "REQUESTED SENT SUCCEEDED",
		"internal/check/testdata/lifecycles/wechat_trade.yaml":  "NOTPAY USERPAYING SUCCESS",
		"internal/check/testdata/lifecycles/article.yaml":       "draft in_review published archived",
		"internal/check/testdata/lifecycles/wechat_refund.yaml": "PROCESSING SUCCESS",
	} {
		require.Equal(t, want, names(picture.Of(definition(t, file)).Happy), file)
	}
}

func TestOrderIsDrawnHappyPathFirst(t *testing.T) {
	t.Parallel()
	nodes, edges := drawn(picture.Of(definition(t, "definitions/order.yaml")))
	require.Equal(t, "PENDING PAYING PAID SHIPPED COMPLETED CANCELLED REFUNDING REFUNDED", nodes)
	require.Equal(t, "PENDING>PAYING PAYING>PAID PAID>SHIPPED SHIPPED>COMPLETED "+
		"PENDING>CANCELLED PENDING>PAID PAYING>PAYING PAYING>CANCELLED PAYING>PENDING "+
		"PAID>PAID PAID>REFUNDING SHIPPED>SHIPPED SHIPPED>REFUNDING COMPLETED>COMPLETED COMPLETED>REFUNDING "+
		"CANCELLED>REFUNDING REFUNDING>REFUNDING REFUNDING>REFUNDED", edges)
}

func texts(remarks []picture.Remark) (all []string) {
	for _, r := range remarks {
		all = append(all, r.Text(""))
	}
	return all
}

func TestWhatIsWritten(t *testing.T) {
	t.Parallel()
	p := picture.Of(definition(t, "definitions/order.yaml"))
	m := p.Machine
	arcs := func(from, to, lang string, emits bool) (texts []string) {
		for _, e := range p.Edges {
			if e.From == m.State(from) && e.To == m.State(to) {
				for _, a := range e.Arcs {
					texts = append(texts, a.Text(lang, emits))
				}
			}
		}
		return texts
	}
	remarks := func(state, lang string) (texts []string) {
		for _, r := range p.Node(m.State(state)).Remarks {
			texts = append(texts, r.Text(lang))
		}
		return texts
	}
	require.Equal(t, []string{"○ after 30 minutes: expire", "cancel"}, arcs("PENDING", "CANCELLED", "", false))
	require.Equal(t, []string{"○ 15 分钟后：query_payment（最多 20 次） ► payment_query_due"}, arcs("PAYING", "PAYING", "zh", true))
	require.Equal(t, []string{"refund [refund_is_part]", "◄ refund_succeeded [part_returned]"}, arcs("PAID", "PAID", "en", false))
	require.Equal(t, []string{"◄ payment_succeeded [amount_matches] ► order_paid"}, arcs("PENDING", "PAID", "", true))
	require.Equal(t, []string{"× refuses ship, receive, refund"}, remarks("PENDING", "en"))
	require.Equal(t, []string{
		"▲ compensates payment_succeeded ► refund_due, wherever nothing moves",
		"▲ compensates refund_succeeded, wherever nothing moves",
		"▲ compensates refund_failed ► refund_stuck, wherever nothing moves",
	}, texts(p.Everywhere))
	pending := p.Slice(m.State("PENDING"))
	require.Empty(t, pending.Everywhere)
	require.Equal(t, []string{
		"× refuses ship, receive, refund",
		"▲ compensates payment_succeeded [else] ► refund_due",
		"▲ compensates refund_succeeded",
		"▲ compensates refund_failed ► refund_stuck",
	}, texts(pending.Node(m.State("PENDING")).Remarks))
	require.Equal(t, "× 拒绝 pay、cancel、ship、receive、refund", remarks("REFUNDED", "zh")[0])

	title, name := picture.Title(m.State("PAID"), "zh")
	require.Equal(t, []string{"已支付", "PAID"}, []string{title, name})
	title, name = picture.Title(m.State("PAID"), "")
	require.Equal(t, []string{"PAID", ""}, []string{title, name})
	require.Equal(t, "□ may stay", picture.Standing(m.State("COMPLETED"), "en"))
	require.Empty(t, picture.Standing(m.State("PAID"), "en"))
	require.Equal(t, "□ 可停留 ¬ 已停用", picture.Standing(&model.State{Resting: true, Retired: true}, "zh"))

	var legend []string
	for _, e := range p.Legend("", false) {
		legend = append(legend, strings.TrimSpace(e.Mark+" "+strings.SplitN(e.Text, ":", 2)[0]))
	}
	require.Equal(t, []string{"the way when all goes well", "◄ callback", "○ deadline", "final", "□ may stay for good, and can still be moved", "× refused", "▲ compensated", "► written to the outbox"}, legend)
	require.Len(t, p.Guards(), 5)
	require.Empty(t, p.Overview().Guards())
}

// Many refusals are told by what is not refused, and else counted.
func TestManyRefusals(t *testing.T) {
	t.Parallel()
	var states, edges []string
	for i := range 20 {
		states = append(states, fmt.Sprintf("s%02d", i))
		edges = append(edges, fmt.Sprintf("s%02d>s%02d", i, (i+1)%20))
	}
	text := func(edges []string) string {
		m := walks(t, strings.Join(states, " "), strings.Join(edges, " "))
		return picture.Of(m).Node(m.State("s00")).Remarks[0].Text("")
	}
	require.Equal(t, "× refuses all but e0", text(edges))
	many := edges
	for i := range 7 {
		many = append(many, fmt.Sprintf("s00>s%02d", i+2))
	}
	require.Equal(t, "× refuses 19 of 27 events", text(many))
	require.Equal(t, "× refuses everything", func() string {
		m := walks(t, "a b*", strings.Repeat("a>b ", 7))
		return picture.Of(m).Node(m.State("b")).Remarks[0].Text("")
	}())
}

func TestKindOfAnEdgeIsThatOfAllItsArcs(t *testing.T) {
	t.Parallel()
	kinds := map[string]picture.Kind{}
	for _, e := range picture.Of(definition(t, "definitions/order.yaml")).Edges {
		kinds[e.From.Name+">"+e.To.Name] = e.Kind()
	}
	require.Equal(t, picture.Callback, kinds["PENDING>PAID"])
	require.Equal(t, picture.Deadline, kinds["PAYING>PAYING"])
	require.Equal(t, picture.Plain, kinds["PENDING>PAYING"])
	require.Equal(t, picture.Plain, kinds["PENDING>CANCELLED"], "a deadline and a call")
}

func TestSlice(t *testing.T) {
	t.Parallel()
	whole := picture.Of(definition(t, "definitions/order.yaml"))
	s := whole.Slice(whole.Machine.State("CANCELLED"))
	nodes, edges := drawn(s)
	require.Equal(t, "PENDING PAYING CANCELLED REFUNDING", nodes)
	require.Equal(t, "PENDING>CANCELLED PAYING>CANCELLED CANCELLED>REFUNDING", edges)
	for _, n := range s.Nodes {
		require.Equal(t, n.State.Name == "CANCELLED", len(n.Remarks) > 0, "only the focus has remarks")
	}
	require.NotEmpty(t, whole.Nodes[0].Remarks, "the whole picture keeps its own")
}

func TestSplitKeepsEverythingOnce(t *testing.T) {
	t.Parallel()
	whole := picture.Of(definition(t, "definitions/order.yaml"))
	for limit := 1; limit <= len(whole.Edges); limit++ {
		parts := whole.Split(func(p *picture.Picture) bool { return len(p.Edges) <= limit })
		var edges []*picture.Edge
		states := map[*model.State]bool{}
		for i, part := range parts {
			edges = append(edges, part.Edges...)
			for _, n := range part.Nodes {
				states[n.State] = true
			}
			for _, e := range part.Edges {
				require.NotNil(t, part.Node(e.From))
				require.NotNil(t, part.Node(e.To))
			}
			if len(parts) > 1 {
				require.Equal(t, []int{i + 1, len(parts)}, []int{part.Part, part.Parts})
			}
		}
		require.Equal(t, whole.Edges, edges)
		require.Len(t, states, len(whole.Nodes))
	}
	require.Equal(t, []*picture.Picture{whole}, whole.Split(func(*picture.Picture) bool { return true }))
	loop := picture.Of(walks(t, "a b*", "a>a a>a a>a a>b"))
	arcs := 0
	for _, part := range loop.Split(func(p *picture.Picture) bool { return len(p.Edges) == 1 && len(p.Edges[0].Arcs) == 1 }) {
		arcs += len(part.Edges[0].Arcs)
	}
	require.Equal(t, 4, arcs, "an edge that is too much alone is cut")
	lone := picture.Of(walks(t, "a b c* d*", "a>c"))
	parts := lone.Split(func(p *picture.Picture) bool { return len(p.Nodes) <= 2 })
	require.Len(t, parts, 2, "states without an edge are drawn too")
}

func TestLongTextsAreCut(t *testing.T) {
	t.Parallel()
	m := machine(t, "machine: m\nstates:\n  A: {initial: true, label: {zh: "+strings.Repeat("长", 500)+"}}\n")
	title, _ := picture.Title(m.States[0], "zh")
	require.Equal(t, strings.Repeat("长", 119)+"…", title)
	require.Equal(t, "[g] "+strings.Repeat("x", 239)+"…", picture.Explained(&model.Guard{Name: "g", Describe: strings.Repeat("x", 241)}))
}
