package linear

import (
	"context"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/pawl-go/pawl/internal/oracle"
)

// decide says whether there is an order for the operations of a part.
func (c *checker) decide(ctx context.Context, p *partition) (Result, error) {
	q, err := c.question(ctx, p)
	if err != nil {
		return Unknown, err
	}
	return q.ask(c.timeout), nil
}

// question is what porcupine is asked.
type question struct {
	model porcupine.Model
	ops   []porcupine.Operation
	ended func() bool // whether nobody waits for the answer any more
}

// question puts a part into porcupine's words. Operations that certainly did nothing
// are left out: had they done something, nothing would explain it. When ctx has ended
// no further step is possible, so that the search is over soon; its result says nothing.
func (c *checker) question(ctx context.Context, p *partition) (question, error) {
	start, err := c.begin(p)
	if err != nil {
		return question{}, err
	}
	q := question{ended: func() bool { return ctx.Err() != nil }}
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{state{World: start}} },
		Step: func(from, input, _ any) []any {
			if q.ended() {
				return nil
			}
			next := c.step(from.(state), input.(*operation)) //nolint:forcetypeassert // nothing else is given to it
			states := make([]any, len(next))
			for i, s := range next {
				states[i] = s
			}
			return states
		},
		Equal: func(a, b any) bool {
			s, t := a.(state), b.(state) //nolint:forcetypeassert // as above
			return q.ended() || s.over == t.over && slices.Equal(s.waiting, t.waiting) && s.Same(t.World)
		},
		DescribeOperation: func(input, _ any) string {
			op := input.(*operation) //nolint:forcetypeassert // as above
			return op.String() + ": " + op.answer()
		},
		DescribeState: func(s any) string { return describe(s.(state).World) }, //nolint:forcetypeassert // as above
	}
	q.model = m.ToModel()
	clients := map[string]int{}
	last := int64(0)
	for _, op := range p.ops {
		if op.void {
			continue
		}
		if op.fact, err = op.identity(c.m); err == nil {
			err = op.read(c.m)
		}
		if err != nil {
			return question{}, err
		}
		if op.kind == fires || op.kind == creates || op.kind == corrects {
			op.unfit = op.isUnfit(c.m)
		}
		id, known := clients[op.client]
		if !known {
			id = len(clients)
			clients[op.client] = id
		}
		q.ops = append(q.ops, porcupine.Operation{ClientId: id, Input: op, Call: op.from, Return: op.to})
		if last = max(last, op.from); op.to != never {
			last = max(last, op.to)
		}
	}
	if slices.ContainsFunc(p.ops, (*operation).unknown) {
		end := &operation{kind: ends, interval: interval{last + 1, last + 1}}
		q.ops = append(q.ops, porcupine.Operation{ClientId: len(clients), Input: end, Call: end.from, Return: end.to})
	}
	return q, nil
}

// ask has porcupine search.
func (q question) ask(timeout time.Duration) Result {
	result := porcupine.CheckOperationsTimeout(q.model, q.ops, timeout)
	switch {
	case q.ended():
		return Unknown
	case result == porcupine.Ok:
		return Accepted
	case result == porcupine.Illegal:
		return Refused
	}
	return Unknown
}

// order is an order of the operations that explains them, nil when there is none or it
// was not found in time.
func (q question) order(timeout time.Duration) []*operation {
	if len(q.ops) == 0 {
		return []*operation{}
	}
	result, info := porcupine.CheckOperationsVerbose(q.model, q.ops, timeout)
	if result != porcupine.Ok || q.ended() {
		return nil
	}
	for _, found := range info.PartialLinearizationsOperations()[0] {
		if len(found) == len(q.ops) {
			var ops []*operation
			for _, op := range found {
				ops = append(ops, op.Input.(*operation)) //nolint:forcetypeassert // nothing else is given to it
			}
			return ops
		}
	}
	return nil
}

// describe is a world in a line.
func describe(w oracle.World) string {
	text := ""
	for _, key := range w.Keys() {
		r, _ := w.Row(key)
		if text != "" {
			text += "; "
		}
		text += rowText(r)
	}
	if text == "" {
		return "no row"
	}
	return text
}
