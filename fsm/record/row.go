package record

import (
	"context"

	"github.com/pawl-go/pawl/fsm"
)

// Begins records a row that was there before the history: all calls of it must follow
// from this. Rows whose creation is recorded need none. A nil History leaves open what
// led to the row, and nil Facts say that it has none.
func (r *Recorder) Begins(key any, row Row) {
	if text, err := keyText(key); err != nil {
		r.to.fail(typeRow, err)
	} else {
		r.to.write((&line{Type: typeRow, Machine: r.machine, Key: &text}).saw(row))
	}
}

// Read reads a row and records what was seen, to be true at one moment between the
// beginning of read and its end. It returns what read returned; nothing is recorded of
// an error.
func (r *Recorder) Read(client string, key any, read func() (Row, error)) (Row, error) {
	since := r.to.now()
	row, err := read()
	if err != nil {
		return row, err
	}
	if text, keyErr := keyText(key); keyErr != nil {
		r.to.fail(typeRead, keyErr)
	} else {
		r.to.write((&line{Type: typeRead, Client: client, Machine: r.machine, Key: &text, Since: since}).saw(row))
	}
	return row, nil
}

// Sweeps returns the sweeps with a recorder around each, for a [fsm.Sweeper]: what a
// deadline moves is a call like any other. A sweep whose end is not known leaves in
// doubt every row that stands in a state with a deadline.
func Sweeps(r *Recorder, client string, sweeps []fsm.Sweep) []fsm.Sweep {
	recorded := make([]fsm.Sweep, len(sweeps))
	for i, sweep := range sweeps {
		recorded[i] = func(ctx context.Context, db fsm.DB, page fsm.SweepPage) ([]fsm.Swept, error) {
			p := &Pending{to: r.to, id: r.to.id()}
			r.to.write(&line{Type: typeCall, ID: p.id, Client: client, Machine: r.machine, Event: eventSweep})
			rows, err := sweep(ctx, db, page)
			if err != nil {
				p.Failed(err)
				return rows, err
			}
			l := &line{}
			for _, s := range rows {
				l.Swept = append(l.Swept, swept{s.Event, s.Key, s.From, s.To, s.Version})
			}
			p.end(l)
			return rows, nil
		}
	}
	return recorded
}
