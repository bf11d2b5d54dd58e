package storm

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// Report is what a storm left behind.
type Report struct {
	// Name and Note are the target's.
	Name string `json:"name"`
	Note string `json:"note,omitempty"`
	// Promises are in a fixed order, the same for every target.
	Promises []Promise `json:"promises"`
	Money    Money     `json:"money_cents"`
	// Outcomes are by event and outcome, in the order of the definition; empty
	// for a target without counters.
	Outcomes []Outcome `json:"outcomes,omitempty"`
	Speed    Speed     `json:"speed"`
}

// Promise is one promise and how often it was broken.
type Promise struct {
	Name       string `json:"name"`
	Violations int    `json:"violations"`
	// Examples are a few of what is wrong: keys, numbers.
	Examples []string `json:"examples,omitempty"`
}

// Money is in cents. In is what the oracle says customers paid, the others are
// what the database says.
type Money struct {
	In   int64 `json:"in"`
	Kept int64 `json:"kept"`
	// Owed is what has to go back: of late payments, of second and wrong ones,
	// and of refunds that customers asked for.
	Owed    int64 `json:"owed_back"`
	Late    int64 `json:"owed_late"`
	Second  int64 `json:"owed_second_or_wrong"`
	Refunds int64 `json:"owed_refunds"`
}

// Outcome says how often an event had an outcome, by the service's own count.
// The outcomes Refused (not believed) and NotYet (no such order yet) are the
// callers' count.
type Outcome struct {
	Event   order.Event `json:"event"`
	Outcome fsm.Outcome `json:"outcome"`
	Count   int         `json:"count"`
}

// Speed is how fast it went. First deliveries did something, repeated ones had.
type Speed struct {
	Requests    int           `json:"requests"`
	Took        time.Duration `json:"took_ns"`
	First       int           `json:"first"`
	FirstP50    time.Duration `json:"first_p50_ns"`
	FirstP99    time.Duration `json:"first_p99_ns"`
	Repeated    int           `json:"repeated"`
	RepeatedP50 time.Duration `json:"repeated_p50_ns"`
	RepeatedP99 time.Duration `json:"repeated_p99_ns"`
}

// Violations is the sum over all promises.
func (r *Report) Violations() int {
	n := 0
	for _, p := range r.Promises {
		n += p.Violations
	}
	return n
}

const maxExamples = 3

func (r *Report) promise(name string, broken []string) {
	r.Promises = append(r.Promises, Promise{Name: name, Violations: len(broken), Examples: broken[:min(len(broken), maxExamples)]})
}

// querier is a pool, or the transaction of a test.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// examine asks the database for every promise.
func examine(ctx context.Context, on querier, s *Script, l *log) (*Report, error) {
	ends, err := readEnds(ctx, on)
	if err != nil {
		return nil, fmt.Errorf("read orders: %w", err)
	}
	f := foresee(s, l, ends)
	r := &Report{Money: Money{In: f.in}, Speed: speedOf(l)}
	for _, p := range promises {
		var args []any
		if p.args != nil {
			args = p.args(s, f)
		}
		rows, err := on.Query(ctx, p.sql, args...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		broken, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		r.promise(p.name, broken)
	}
	r.promise("every answer as foreseen", f.strangeAnswers)
	r.promise("every order ends as foreseen", f.strangeEnds)
	m := &r.Money
	if err := on.QueryRow(ctx, moneySQL).Scan(&m.Kept, &m.Owed, &m.Late, &m.Second, &m.Refunds); err != nil {
		return nil, fmt.Errorf("money: %w", err)
	}
	return r, nil
}

func speedOf(l *log) Speed {
	return Speed{
		Requests: l.requests, Took: l.took,
		First: len(l.first), FirstP50: percentile(l.first, 50), FirstP99: percentile(l.first, 99),
		Repeated: len(l.repeated), RepeatedP50: percentile(l.repeated, 50), RepeatedP99: percentile(l.repeated, 99),
	}
}

// countersPath is where an operator finds the counters.
const countersPath = "/debug/counters"

// countOutcomes asks the service for its counters; one without them has no
// table of outcomes.
func countOutcomes(ctx context.Context, c *client, l *log) ([]Outcome, error) {
	var counted struct {
		Outcomes []struct {
			Machine string
			Event   order.Event
			Outcome fsm.Outcome
			Count   int
		}
	}
	if err := c.call(ctx, http.MethodGet, countersPath, nil, &counted); err != nil {
		return nil, ctx.Err()
	}
	counts := map[eventOutcome]int{}
	for _, o := range counted.Outcomes {
		if o.Machine == "order" {
			counts[eventOutcome{o.Event, o.Outcome}] += o.Count
		}
	}
	for a, n := range l.told {
		if a.told == toldRefused {
			counts[eventOutcome{a.event, toldRefused}] += n
		}
	}
	for e, n := range l.unsettled {
		counts[e] += n
	}
	var outcomes []Outcome
	for _, e := range events() {
		for _, o := range outcomeColumns {
			if n := counts[eventOutcome{e, o.outcome}]; n > 0 {
				outcomes = append(outcomes, Outcome{e, o.outcome, n})
			}
		}
	}
	return outcomes, nil
}
