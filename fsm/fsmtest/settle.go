package fsmtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-go/pawl/fsm"
)

// settle finds values for the cases of which only the database can say whether
// the CHECKs take them. A case for which none is found says so in Skip.
func (e *engine) settle(ctx context.Context) {
	for i, c := range e.m.Columns {
		if c.Check != "" && c.Value != "" {
			e.m.Columns[i].Value = e.settledColumn(ctx, c)
		}
	}
	for i, c := range e.m.Cases {
		if len(c.Unsure) > 0 {
			e.m.Cases[i] = e.settled(ctx, c)
		}
	}
}

// settledColumn is a value of a column with which a row can be made, its own one
// first: where there is none, the default, or nothing for a column that may be NULL.
func (e *engine) settledColumn(ctx context.Context, c Column) string {
	plain := c
	plain.Optional = false
	for _, value := range append(append([]string{c.Value}, e.values[c.Name]...), guessed(plain)...) {
		tx, err := e.pool.Begin(ctx)
		if err != nil {
			break
		}
		_, err = e.newRowOn(ctx, tx, seed{state: e.m.Initial, event: createEvent, values: Values{c.Name: value}})
		_ = tx.Rollback(context.WithoutCancel(ctx))
		if err == nil {
			return value
		}
	}
	if c.Default == "" && !c.Optional {
		return c.Value
	}
	return c.Default
}

// settled is a case with values with which the database says that every guard
// and CHECK is as the case says, in each of its states. Those of the case come
// first. What is asked are the definition's own expressions in a plain SELECT,
// never a generated statement.
func (e *engine) settled(ctx context.Context, c Case) Case {
	list := e.guesses(c.Unsure, e.event(c.Event))
	var first, last error
	n := tries([]Values{c.Given, c.Params}, list, func(v []Values) bool {
		try := c
		try.Given, try.Params = v[0], v[1]
		last = e.suits(ctx, try)
		if first == nil {
			first = last
		}
		if last == nil {
			c.Given, c.Params, c.Skip = v[0], v[1], ""
		}
		return last != nil && ctx.Err() == nil
	})
	if last != nil {
		c.Skip = e.notFound(c.Skip, n, list, first)
	}
	return c
}

// notFound says what was tried, and what the user can do.
func (e *engine) notFound(why string, n int, list []guess, first error) string {
	if why != "" {
		why += ": "
	}
	if len(list) == 0 {
		return fmt.Sprintf("%sthere is no column or parameter to give other values to, and the row as it is made does not suit since %v", why, first)
	}
	return fmt.Sprintf("%snone of %d that were tried suit, and those found for the guards do not since %v; give values for %s in %s, as in {%q: {%s: [%s]}}",
		why, n, first, names(list), strings.TrimPrefix(filepath.ToSlash(filepath.Join(filepath.Dir(e.m.Before), valuesFile)), "../../"),
		e.m.Name, strconv.Quote(names(list[:1])), strconv.Quote(list[0].values[0]))
}

// suits reports why the values of a case do not suit it in one of its states; nil
// where they do.
func (e *engine) suits(ctx context.Context, c Case) error {
	for _, state := range c.In {
		if err := e.suitsIn(ctx, c, state); err != nil {
			return fmt.Errorf("in %s %w", state, err)
		}
	}
	return nil
}

func (e *engine) suitsIn(ctx context.Context, c Case, state string) error {
	tx, err := e.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	r, err := e.newRowOn(ctx, tx, seed{state: state, event: c.Event, values: c.Given, apart: c.Variant == ""})
	if err != nil {
		return err
	}
	before, err := e.look(ctx, tx, r)
	if err != nil {
		return err
	}
	s := shotOf(e.event(c.Event), c.Params)
	j, err := e.judge(ctx, tx, r, before, s)
	if err != nil {
		return err
	}
	if j.outcome != c.Outcome || j.move != nil && j.move.To != c.To {
		return fmt.Errorf("the guards say %s, not %s", j.outcome, c.Outcome)
	}
	return e.passes(ctx, tx, r, s, j)
}

// passes asks the CHECKs of the definition about the parameters of a judged call
// and about the row that it would leave. The error says which one refuses.
func (e *engine) passes(ctx context.Context, q querier, r *row, s shot, j judged) error {
	refusal := func(check, name string) string {
		return "CASE WHEN (" + check + ") IS FALSE THEN " + literal(name) + " END"
	}
	var params, columns []string
	for _, p := range s.event.Params {
		if p.Check != "" {
			params = append(params, refusal(p.Check, "@"+p.Name))
		}
		if slices.Contains(s.event.Identity, p.Name) && slices.Contains([]string{"text", "character varying", "varchar"}, base(p.Type)) {
			params = append(params, refusal("p."+quoted(p.Name)+" <> ''", "@"+p.Name)) // which calls look at
		}
	}
	for _, c := range e.m.Columns {
		if c.Check != "" {
			columns = append(columns, refusal(c.Check, c.Name))
		}
	}
	if j.move == nil {
		columns = nil
	}
	if len(params)+len(columns) == 0 {
		return nil
	}
	sql := "to_jsonb(concat_ws(', ', " + strings.Join(params, ", ") + "))"
	if len(columns) > 0 {
		sql = "(SELECT to_jsonb(concat_ws(', ', " + strings.Join(append(params, columns...), ", ") + ")) FROM (SELECT " + e.left(j.move) + ") AS o)"
	}
	refused := ""
	if err := e.ask(ctx, q, r, s, sql, &refused); err != nil {
		return err
	}
	if refused != "" {
		return errors.New("the CHECK of " + refused + " refuses what the call would leave")
	}
	return nil
}

// left lists the columns of the row that a transition leaves, over the one before.
func (e *engine) left(t *Transition) string {
	m := e.m
	list := []string{
		typed(literal(e.state(t.To).Stored[0]), e.statusType()) + " AS " + quoted(m.Status),
		"o." + quoted(m.Version) + " + 1 AS " + quoted(m.Version),
	}
	for _, k := range m.Key {
		list = append(list, "o."+quoted(k.Name))
	}
	for _, c := range m.Columns {
		value := "o." + quoted(c.Name)
		for _, a := range t.Set {
			if a.Column == c.Name {
				value = typed(a.SQL, c.Type)
			}
		}
		list = append(list, value+" AS "+quoted(c.Name))
	}
	return strings.Join(list, ", ")
}

// settledRace is a race with values with which its second call is told what the
// race says after the first. Where it has none, those of its calls' own cases
// come first.
func (e *engine) settledRace(ctx context.Context, r Race) Race {
	first, second := e.event(r.First.Event), e.event(r.Second.Event)
	list := e.guesses(r.Unsure, first, second)
	begin := r
	if r.Skip != "" {
		begin = e.fromCases(ctx, r)
	}
	var why, last error
	n := tries([]Values{begin.Given, begin.First.Params, begin.Second.Params}, list, func(v []Values) bool {
		try := r
		try.Given, try.First.Params, try.Second.Params = v[0], v[1], v[2]
		last = e.suitsRace(ctx, try, first, second)
		if why == nil {
			why = last
		}
		if last == nil {
			r = try
			r.Skip = ""
		}
		return last != nil && ctx.Err() == nil
	})
	if last != nil {
		r.Skip = e.notFound(r.Skip, n, list, why)
	}
	return r
}

// fromCases gives a race the values with which each of its calls is fired alone,
// the second where the first leads. Two facts of one event are told apart.
func (e *engine) fromCases(ctx context.Context, r Race) Race {
	given := Values{}
	alone := func(event, state string, suits func(Case) bool) Case {
		for _, c := range e.m.Cases {
			if c.Event != event || !slices.Contains(c.In, state) || !suits(c) {
				continue
			}
			if c.Skip != "" {
				c = e.settled(ctx, c)
			}
			if c.Skip == "" {
				return c
			}
		}
		return Case{To: state}
	}
	first := alone(r.First.Event, r.In, func(c Case) bool { return c.Outcome == fsm.Applied || c.Outcome == fsm.Compensated })
	second := alone(r.Second.Event, cmp.Or(first.To, r.In), func(c Case) bool {
		return c.Outcome == r.Outcome || c.Outcome == fsm.Applied && r.Outcome == fsm.Stale
	})
	maps.Copy(given, second.Given)
	maps.Copy(given, first.Given)
	r.Given, r.First.Params, r.Second.Params = given, first.Params, maps.Clone(second.Params)
	event := e.event(r.Second.Event)
	switch {
	case r.First.Event != event.Name || len(event.Identity) == 0:
	case strings.HasSuffix(r.Variant, "same fact"):
		r.Second.Params = first.Params
	default:
		if r.Second.Params == nil {
			r.Second.Params = Values{}
		}
		for _, p := range event.Params {
			if p.Name == event.Identity[0] {
				r.Second.Params[p.Name] = others(p.Type, r.First.Params[p.Name], p.Value)[0]
			}
		}
	}
	return r
}

func (e *engine) suitsRace(ctx context.Context, r Race, first, second *Event) error {
	tx, err := e.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	row, err := e.newRowOn(ctx, tx, seed{state: r.In, event: r.First.Event, values: r.Given})
	if err != nil {
		return err
	}
	alone := shotOf(second, r.Second.Params) // as it comes when the first is rolled back
	before, err := e.look(ctx, tx, row)
	if err != nil {
		return err
	}
	j, err := e.judge(ctx, tx, row, before, alone)
	if err == nil {
		err = e.passes(ctx, tx, row, alone, j)
	}
	if err != nil {
		return fmt.Errorf("the second call without the first: %w", err)
	}
	for i, event := range []*Event{first, second} {
		s := shotOf(event, []Values{r.First.Params, r.Second.Params}[i])
		before, err := e.look(ctx, tx, row)
		if err != nil {
			return err
		}
		j, known, err := e.known(ctx, tx, row, s)
		if err == nil && !known {
			j, err = e.judge(ctx, tx, row, before, s)
		}
		if err == nil {
			err = e.passes(ctx, tx, row, s, j)
		}
		if err != nil {
			return err
		}
		if i == 1 {
			if event.NeedsVersion && j.outcome == fsm.Applied {
				j.outcome = fsm.Stale // it expects the version of before
			}
			if j.outcome != r.Outcome {
				return fmt.Errorf("the guards say %s of the second call, not %s", j.outcome, r.Outcome)
			}
			break
		}
		f := firing{event: event}
		got, err := e.fire(ctx, tx, event, row, s.values, f.any()...)
		if err == nil && got.Outcome != fsm.Applied && got.Outcome != fsm.Compensated {
			err = fmt.Errorf("it says %s", got.Outcome)
		}
		if err != nil {
			return fmt.Errorf("the first call should write: %w", err)
		}
	}
	return nil
}

// untested ends a test for which no values are known: it fails, since what was
// not tested must not look green, unless the user says that this is meant.
func untested(t *testing.T, why string) {
	t.Helper()
	if os.Getenv(skipVariable) != "" {
		t.Skipf("no values are known: %s", why)
	}
	t.Fatalf("no values are known: %s; set %s=1 to go without the tests that have none", why, skipVariable)
}
