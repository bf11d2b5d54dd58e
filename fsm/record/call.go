package record

import (
	"errors"
	"sync/atomic"

	"github.com/pawl-go/pawl/fsm"
)

// Calls is where calls are recorded: a [*Recorder] for calls that commit by
// themselves, a [*Tx] for those in a transaction of the caller's.
type Calls interface {
	// Invoke records the beginning of a call; see [Call] for the arguments.
	Invoke(client string, key any, event string, params any, options ...fsm.Option) *Pending
}

// Call makes a call and records it: a line before, and one after with what it
// answered. It returns what call returned.
//
// The client is a name of your choice for who asks, the key that of the row, as it is
// given to the call, or as text for one of several columns, as [fsm.KeyText] makes it.
// The event is that of the definition, or "create" or "correct". The params are the generated struct
// of the event, a map by the definition's names, or nil; for a correction, a map with
// the state under "to". The options are those of the call, given once more: the
// expected version and the clock are taken from them.
func Call[S ~string, R any](on Calls, client string, key any, event string, params any, call func() (fsm.Result[S, R], error), options ...fsm.Option) (fsm.Result[S, R], error) {
	p := on.Invoke(client, key, event, params, options...)
	r, err := call()
	Returned(p, r, err)
	return r, err
}

// Returned records what a call returned, for calls that [Call] cannot make: an item of
// a batch, say.
func Returned[S ~string, R any](p *Pending, r fsm.Result[S, R], err error) {
	if err != nil {
		p.Failed(err)
		return
	}
	t := r.Transition
	p.Answered(Answer{
		Outcome: r.Outcome, State: string(r.State), Version: r.Version, Snapshot: r.Snapshot,
		Transition: &Transition{Event: t.Event, Outcome: t.Outcome, From: string(t.From), To: string(t.To), Version: t.Version},
	})
}

// Pending is a call that has begun. What is recorded of its end first counts, and a
// call whose end is never recorded may have had its effect or not.
type Pending struct {
	to    *sink
	id    string
	tx    *txn // nil for a call that commits by itself
	ended atomic.Bool
}

// Answered records an answer. [Returned] does so for generated calls.
func (p *Pending) Answered(a Answer) {
	p.end(&line{Outcome: a.Outcome, State: a.State, Version: a.Version, Transition: a.Transition, Snapshot: a.Snapshot})
}

// Failed records an error of this package's fsm by its kind. Any other error leaves in
// doubt whether the call had an effect; nil does too, since nobody was told anything.
func (p *Pending) Failed(err error) { p.end(&line{Error: kindOf(err)}) }

func (p *Pending) end(l *line) {
	if !p.ended.CompareAndSwap(false, true) {
		return
	}
	l.Type, l.ID = typeReturn, p.id
	if p.tx != nil && l.Error == "" && p.tx.wait(l) {
		return
	}
	p.to.write(l)
}

// kindOf is the word for an error. Whatever may be an unknown outcome is one.
func kindOf(err error) string {
	var call *fsm.CallError
	switch {
	case errors.Is(err, fsm.ErrUnknown):
		return errorUnknown
	case errors.Is(err, fsm.ErrNotFound):
		return errorNotFound
	case errors.Is(err, fsm.ErrArgument):
		return errorArgument
	case errors.Is(err, fsm.ErrContended):
		return errorContended
	case errors.Is(err, fsm.ErrNothingDone):
		return errorNothingDone
	case errors.As(err, &call) && call.Kind == nil: // that of a Then function, and all was rolled back
		return errorNothingDone
	}
	return errorUnknown
}

// Invoke records the beginning of a call that commits by itself.
func (r *Recorder) Invoke(client string, key any, event string, params any, options ...fsm.Option) *Pending {
	return r.invoke(client, key, event, params, options, nil)
}

func (r *Recorder) invoke(client string, key any, event string, params any, options []fsm.Option, tx *txn) *Pending {
	var c fsm.Call
	for _, o := range options {
		if o != nil {
			o(&c)
		}
	}
	p := &Pending{to: r.to, id: r.to.id(), tx: tx}
	l := &line{Type: typeCall, ID: p.id, Client: client, Machine: r.machine, Event: event, Expect: c.Version, Now: c.Now}
	if tx != nil {
		l.Since = tx.since
	}
	text, err := keyText(key)
	if err == nil {
		l.Key = &text
		l.Params, err = paramsOf(event, params)
	}
	if err != nil {
		r.to.fail(event, err)
		return p
	}
	r.to.write(l)
	return p
}
