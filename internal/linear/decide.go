package linear

import (
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/pawl-go/pawl/internal/oracle"
)

// decide says whether there is an order for the operations of a part.
func (c *checker) decide(p *partition) (Result, error) {
	q, err := c.question(p)
	if err != nil {
		return Unknown, err
	}
	return q.ask(c.timeout), nil
}

// question is what porcupine is asked.
type question struct {
	model porcupine.Model
	ops   []porcupine.Operation
}

// question puts a part into porcupine's words. Operations that certainly did nothing
// are left out: had they done something, nothing would explain it.
func (c *checker) question(p *partition) (question, error) {
	start, err := c.begin(p)
	if err != nil {
		return question{}, err
	}
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{state{World: start}} },
		Step: func(from, input, _ any) []any {
			next := c.step(from.(state), input.(*operation)) //nolint:forcetypeassert // nothing else is given to it
			states := make([]any, len(next))
			for i, s := range next {
				states[i] = s
			}
			return states
		},
		Equal: func(a, b any) bool {
			s, t := a.(state), b.(state) //nolint:forcetypeassert // as above
			return s.over == t.over && slices.Equal(s.waiting, t.waiting) && s.Same(t.World)
		},
		DescribeOperation: func(input, _ any) string {
			op := input.(*operation) //nolint:forcetypeassert // as above
			return op.String() + ": " + op.answer()
		},
		DescribeState: func(s any) string { return describe(s.(state).World) }, //nolint:forcetypeassert // as above
	}
	q := question{model: m.ToModel()}
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
	switch porcupine.CheckOperationsTimeout(q.model, q.ops, timeout) {
	case porcupine.Ok:
		return Accepted
	case porcupine.Illegal:
		return Refused
	}
	return Unknown
}

// order is an order of the operations that explains them, nil when there is none or it
// was not found in time.
func (q question) order(timeout time.Duration) []*operation {
	result, info := porcupine.CheckOperationsVerbose(q.model, q.ops, timeout)
	if result != porcupine.Ok {
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
