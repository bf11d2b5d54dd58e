package linear

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/pawl-go/pawl/internal/oracle"
)

// Refusal shows why a part of a history was refused.
type Refusal struct {
	// Keys are the rows of the part.
	Keys []string
	// calls are those of the shortest beginning of the part that is refused by itself,
	// culprit the one whose end makes it so, and later counts those left out.
	calls   []*operation
	culprit *operation
	later   int
	// order would do if the culprit had been told something else, and instead says what
	// the definition gives it there, at the moments that it could be.
	order   []*operation
	instead []instead

	c    *checker
	part *partition
}

// instead is what the definition says at a moment.
type instead struct {
	after *operation // nil for the beginning
	says  []string
}

// explain finds the shortest beginning of the part that is refused, as far as there is
// time for it.
func (c *checker) explain(ctx context.Context, p *partition) *Refusal {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r := &Refusal{Keys: p.keys, c: c, part: p}
	times := p.times()
	if len(times) == 0 {
		return r
	}
	low, high := 0, len(times)-1 // the whole is refused
	for low < high && ctx.Err() == nil {
		middle := (low + high) / 2
		if result, err := c.decide(ctx, p.until(times[middle])); err == nil && result == Refused {
			high = middle
		} else {
			low = middle + 1
		}
	}
	end := times[high]
	first := p.until(end)
	r.calls, r.later = first.ops, len(p.ops)-len(first.ops)
	at := slices.IndexFunc(r.calls, func(op *operation) bool { return op.to == end && !op.void })
	if at < 0 { // it began after its end
		return r
	}
	r.culprit = r.calls[at]
	unknown := r.culprit.pending()
	r.moments(ctx, &partition{first.keys, slices.Replace(slices.Clone(first.ops), at, at+1, unknown), first.starts}, unknown)
	return r
}

// times are when operations ended that say something, each once.
func (p *partition) times() []int64 {
	var times []int64
	for _, op := range p.ops {
		if !op.void && op.to != never {
			times = append(times, op.to)
		}
	}
	slices.Sort(times)
	return slices.Compact(times)
}

// until is what was known at a time: who had not been answered then may have had an
// effect or not.
func (p *partition) until(end int64) *partition {
	first := &partition{keys: p.keys, starts: p.starts}
	for _, op := range p.ops {
		switch {
		case op.from > end:
		case op.to > end && op.kind != reads && !op.void:
			first.ops = append(first.ops, op.pending())
		case op.to <= end || op.void:
			first.ops = append(first.ops, op)
		}
	}
	return first
}

// pending is the operation before it was answered, if it ever was.
func (op *operation) pending() *operation {
	return &operation{
		place: op.place, kind: op.kind, client: op.client, key: op.key, event: op.event, params: op.params, expect: op.expect, now: op.now,
		target: op.target, interval: interval{op.from, never}, void: op.kind == reads, later: op.to != never, values: op.values,
	}
}

// moments asks what the culprit could have been told, in an order that would do if it
// had been told something else. others has it as if nobody knew.
func (r *Refusal) moments(ctx context.Context, others *partition, unknown *operation) {
	q, err := r.c.question(ctx, others)
	if err != nil {
		return
	}
	start, err := r.c.begin(others)
	if err != nil {
		return
	}
	all := q.order(r.c.timeout)
	if all == nil {
		return
	}
	worlds := []state{{World: start}}
	var after *operation
	for i := 0; ; i++ {
		if !slices.ContainsFunc(all[i:], func(op *operation) bool { return op.to < r.culprit.from }) {
			r.moment(after, worlds)
		}
		if i == len(all) || all[i].kind == ends || all[i] == unknown {
			break
		}
		var next []state
		for _, w := range worlds {
			next = append(next, r.c.step(w, all[i])...)
		}
		worlds, after = next, all[i]
	}
	r.order = slices.DeleteFunc(all, func(op *operation) bool { return op.kind == ends })
}

func (r *Refusal) moment(after *operation, worlds []state) {
	m := instead{after: after}
	for _, w := range worlds {
		if r.culprit.kind == reads {
			m.says = append(m.says, r.c.contradiction(w.World, r.culprit))
			continue
		}
		for _, p := range r.c.possible(w.World, r.culprit) {
			says := answerText(p.Answer)
			if told := r.culprit.told; told != nil && !r.c.sameColumns(p.Columns, told.columns) {
				says += ", with" + columnsText(r.c.m, p.Columns)
			}
			m.says = append(m.says, says)
		}
	}
	r.instead = append(r.instead, m)
}

// shownCalls is how many calls of a refusal are shown at most, the last ones.
const shownCalls = 60

// String is the table of the calls, and what is wrong.
func (r *Refusal) String() string {
	var b strings.Builder
	calls, until := "these calls", ""
	if r.culprit != nil {
		calls = map[bool]string{true: "this call", false: fmt.Sprintf("these %d calls", len(r.calls))}[len(r.calls) == 1]
		until = fmt.Sprintf(", up to the %s of %s", map[bool]string{true: "look", false: "answer"}[r.culprit.kind == reads], r.number(r.culprit))
	}
	fmt.Fprintf(&b, "%s %s: refused: there is no order of %s%s, each somewhere between its beginning and its end, that gives these answers.\n\n",
		r.c.m.Name, strings.Join(r.Keys, ", "), calls, until)
	if r.culprit != nil {
		r.calledTable(&b)
		r.reasons(&b)
	}
	return b.String()
}

// calledTable is the calls in the order of their beginnings.
func (r *Refusal) calledTable(b *strings.Builder) {
	first := max(0, len(r.calls)-shownCalls)
	rows := [][]string{{"", "", "from", "to", "client", "call", "told"}}
	for i, op := range r.calls[first:] {
		mark := ""
		if op == r.culprit {
			mark = ">"
		}
		rows = append(rows, []string{mark, fmt.Sprint(first + i + 1), r.clock(op.from), r.end(op), op.client, r.called(op), op.answer()})
	}
	table(b, rows)
	if first > 0 {
		fmt.Fprintf(b, "(%s before these)\n", count(first, "call"))
	}
	if r.later > 0 {
		fmt.Fprintf(b, "(%s that began later: left out)\n", count(r.later, "call"))
	}
}

// reasons say what the definition gives the culprit.
func (r *Refusal) reasons(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s %s: %s.\n", r.number(r.culprit), map[bool]string{true: "saw", false: "was told"}[r.culprit.kind == reads], r.culprit.answer())
	if len(r.instead) == 0 {
		return
	}
	fmt.Fprintf(b, "Were it told otherwise, the order %s would do. In that the definition gives it\n", r.numbers())
	for _, m := range r.instead {
		after := "at the beginning"
		if m.after != nil {
			after = "after " + r.number(m.after)
		}
		fmt.Fprintf(b, "  %s: %s\n", after, strings.Join(slices.Compact(m.says), ", or "))
	}
}

// number is how the table calls an operation.
func (r *Refusal) number(op *operation) string {
	for i, other := range r.calls {
		if other == op || other.place == op.place && other.key == op.key && other.from == op.from {
			return fmt.Sprintf("call %d", i+1)
		}
	}
	return "a call"
}

func (r *Refusal) numbers() string {
	var words []string
	for _, op := range r.order[max(0, len(r.order)-shownCalls):] {
		words = append(words, strings.TrimPrefix(r.number(op), "call "))
	}
	if len(words) == 0 {
		return "of none"
	}
	return strings.Join(words, " ")
}

// called is the call, with its row where there are several.
func (r *Refusal) called(op *operation) string {
	if len(r.Keys) > 1 {
		return op.key + " " + op.String()
	}
	return op.String()
}

// clock is a time since the first call.
func (r *Refusal) clock(at int64) string { return time.Duration(at - r.calls[0].from).String() }

// end is when a call ended, as far as the shown beginning of the history knows.
func (r *Refusal) end(op *operation) string {
	switch {
	case op.later:
		return "later"
	case op.to == never:
		return "?"
	}
	return r.clock(op.to)
}

// Visualize writes a page that draws the part, for a browser. The search for what it
// draws takes at most as long as the one before, and ends with ctx.
func (r *Refusal) Visualize(ctx context.Context, w io.Writer) error {
	q, err := r.c.question(ctx, &partition{r.Keys, r.calls, r.part.starts})
	if err != nil {
		return err
	}
	_, info := porcupine.CheckOperationsVerbose(q.model, q.ops, r.c.timeout)
	if err := ctx.Err(); err != nil {
		return err
	}
	return porcupine.Visualize(q.model, info, w)
}

// table writes columns that stand below each other.
func table(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		text := ""
		for i, cell := range row {
			text += cell + strings.Repeat(" ", widths[i]-len([]rune(cell))+2)
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
}

// answerText is an answer in a line.
func answerText(a oracle.Answer) string {
	switch a.Outcome {
	case "":
		return "whatever hangs on an untold value"
	case oracle.NotFound, oracle.BadArgument, oracle.CheckFailed:
		return string(a.Outcome)
	case failed:
		return "an error of PostgreSQL's: " + a.State
	}
	return toldText(a.Outcome, a.State, a.Version, &a.Made)
}

func toldText(o oracle.Outcome, state string, version int64, made *oracle.Transition) string {
	text := fmt.Sprintf("%s %s %d", o, state, version)
	switch {
	case made == nil || made.Event == oracle.EventUntold:
	case *made == oracle.Transition{}:
		text += ", made so by nothing"
	default:
		text += ", made so by " + madeText(*made)
	}
	return text
}

func madeText(t oracle.Transition) string {
	text := fmt.Sprintf("%s %s→%s %d", t.Event, t.From, t.To, t.Version)
	if t.Outcome != oracle.Applied {
		text += " " + string(t.Outcome)
	}
	return text
}

func rowText(r oracle.Row) string { return fmt.Sprintf("%s %d", r.State.Name, r.Version) }
