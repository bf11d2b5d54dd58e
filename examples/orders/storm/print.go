package storm

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-go/pawl/fsm"
)

// outcomeColumns are the columns of the table of outcomes, with two lines of
// heading each. A long name stands above, where it reaches over the column
// before, with a stroke down to its own figures.
var outcomeColumns = []struct {
	outcome   fsm.Outcome
	over, sub string
}{
	{fsm.Applied, "", "Applied"},
	{fsm.Replayed, "", "Replayed"},
	{fsm.Ignored, "", "Ignored"},
	{fsm.Compensated, "Compensated", "|"},
	{fsm.Rejected, "", "Rejected"},
	{fsm.GuardFailed, "GuardFailed", "|"},
	{fsm.Stale, "", "Stale"},
	{fsm.Mismatched, "Mismatched", "|"},
	{toldRefused, "not", "believed"},
	{toldNotYet, "not", "yet"},
}

// Style says how a report is printed.
type Style struct {
	// Color marks what went well and what did not. Leave it out where the output
	// is no terminal, or where NO_COLOR is set.
	Color bool
}

func (s Style) paint(code, text string) string {
	if !s.Color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s Style) good(text string) string  { return s.paint("32", text) }
func (s Style) bad(text string) string   { return s.paint("31;1", text) }
func (s Style) faint(text string) string { return s.paint("2", text) }
func (s Style) bold(text string) string  { return s.paint("1", text) }

// Print writes the reports beside each other; the first is the one that counts.
// Lines are at most 100 columns. The error is w's.
func Print(w io.Writer, style Style, reports ...*Report) error {
	var b strings.Builder
	if len(reports) > 0 {
		printOutcomes(&b, style, reports[0])
		printPromises(&b, style, reports)
		printMoney(&b, style, reports)
		printSpeed(&b, style, reports)
		printVerdict(&b, style, reports)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

const (
	eventWidth   = 17
	promiseWidth = 42
	figureWidth  = 16
)

func printOutcomes(b *strings.Builder, style Style, r *Report) {
	if len(r.Outcomes) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n\n", style.bold("What became of each event ("+r.Name+")"))
	over, sub := left("", eventWidth), left("event", eventWidth)
	for _, c := range outcomeColumns {
		sub += right(c.sub, columnWidth(c.sub))
		if c.over != "" {
			over += right(c.over, len(sub)-len(over))
		}
	}
	fmt.Fprintf(b, "  %s\n  %s\n", style.faint(over), style.faint(sub))
	for _, e := range events() {
		line, any := left(string(e), eventWidth), false
		for _, c := range outcomeColumns {
			n := 0
			for _, o := range r.Outcomes {
				if o.Event == e && o.Outcome == c.outcome {
					n, any = o.Count, true
				}
			}
			line += right(countOrDot(n), columnWidth(c.sub))
		}
		if any {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
}

func columnWidth(sub string) int { return max(len(sub), len("10,000")) + 1 }

func printPromises(b *strings.Builder, style Style, reports []*Report) {
	fmt.Fprintf(b, "\n%s\n\n  %s", style.bold("Promises, and how often each was broken"), left("", promiseWidth))
	for _, r := range reports {
		b.WriteString(style.faint(right(r.Name, figureWidth)))
	}
	b.WriteByte('\n')
	for i, p := range reports[0].Promises {
		fmt.Fprintf(b, "  %s", left(p.Name, promiseWidth))
		for _, r := range reports {
			text := right(thousands(int64(r.Promises[i].Violations)), figureWidth)
			if r.Promises[i].Violations == 0 {
				b.WriteString(style.good(text))
			} else {
				b.WriteString(style.bad(text))
			}
		}
		b.WriteByte('\n')
	}
	for _, p := range reports[0].Promises {
		if len(p.Examples) > 0 {
			fmt.Fprintf(b, "  %s\n", style.bad(clip("broken: "+p.Name+": "+strings.Join(p.Examples, "; "), 98)))
		}
	}
}

func printMoney(b *strings.Builder, style Style, reports []*Report) {
	fmt.Fprintf(b, "\n%s\n\n", style.bold("Money"))
	for _, line := range []struct {
		name string
		of   func(Money) int64
	}{
		{"customers paid in", func(m Money) int64 { return m.In }},
		{"kept", func(m Money) int64 { return m.Kept }},
		{"owed back", func(m Money) int64 { return m.Owed }},
		{"  too late, the order was over", func(m Money) int64 { return m.Late }},
		{"  a second payment, or a wrong amount", func(m Money) int64 { return m.Second }},
		{"  refunds that customers asked for", func(m Money) int64 { return m.Refunds }},
		{"unaccounted for", func(m Money) int64 { return m.In - m.Kept - m.Owed }},
	} {
		fmt.Fprintf(b, "  %s", left(line.name, promiseWidth))
		for _, r := range reports {
			text := right(cents(line.of(r.Money)), figureWidth)
			switch {
			case line.name != "unaccounted for":
				b.WriteString(text)
			case line.of(r.Money) == 0:
				b.WriteString(style.good(text))
			default:
				b.WriteString(style.bad(text))
			}
		}
		b.WriteByte('\n')
	}
}

func printSpeed(b *strings.Builder, style Style, reports []*Report) {
	fmt.Fprintf(b, "\n%s\n\n", style.bold("Speed"))
	for _, line := range []struct {
		name string
		of   func(Speed) string
	}{
		{"requests answered", func(s Speed) string { return thousands(int64(s.Requests)) }},
		{"a second", func(s Speed) string { return thousands(perSecond(s.Requests, s.Took)) }},
		{"first deliveries, ms p50 / p99", func(s Speed) string { return ms(s.FirstP50) + " / " + ms(s.FirstP99) }},
		{"deliveries told again, ms p50 / p99", func(s Speed) string { return ms(s.RepeatedP50) + " / " + ms(s.RepeatedP99) }},
	} {
		fmt.Fprintf(b, "  %s", left(line.name, promiseWidth))
		for _, r := range reports {
			b.WriteString(right(line.of(r.Speed), figureWidth))
		}
		b.WriteByte('\n')
	}
}

func printVerdict(b *strings.Builder, style Style, reports []*Report) {
	b.WriteByte('\n')
	for i, r := range reports {
		n, text := r.Violations(), ""
		switch {
		case n == 0 && i == 0:
			text = style.good(r.Name + " kept every promise")
		case n == 0:
			text = r.Name + " broke none this time: too little came at once to show it"
		default:
			text = style.bad(fmt.Sprintf("%s broke promises %s times", r.Name, thousands(int64(n))))
		}
		fmt.Fprintf(b, "  %s, in %s s\n", text, strconv.FormatFloat(r.Speed.Took.Seconds(), 'f', 1, 64))
		if r.Note != "" {
			fmt.Fprintf(b, "  %s\n", style.faint("("+r.Note+")"))
		}
	}
}

func perSecond(n int, took time.Duration) int64 {
	if took <= 0 {
		return 0
	}
	return int64(float64(n) / took.Seconds())
}

func ms(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64)
}

// thousands writes n with a comma after each three digits from the right.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return sign + text
}

// cents writes an amount of cents in units.
func cents(n int64) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%s.%02d", sign, thousands(n/100), n%100)
}

func countOrDot(n int) string {
	if n == 0 {
		return "·"
	}
	return thousands(int64(n))
}

func left(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

func right(text string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text))) + text
}

func clip(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}
