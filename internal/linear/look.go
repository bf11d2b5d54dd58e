package linear

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// look takes what was seen of a row, or of all.
func (f *reader) look(l *line) error {
	if l.Type == typeRead && l.Since == 0 {
		return f.err("a read needs the time since which it was under way")
	}
	if l.Key == nil {
		switch {
		case !l.Gone:
			return f.err("the row has no key")
		case l.Type == typeRead:
			f.wholes = append(f.wholes, interval{l.Since, l.At})
		default:
			f.all = true
		}
		return nil
	}
	if err := f.columns(l.Columns); err != nil {
		return err
	}
	s := l.seen()
	key := f.keyed(*l.Key)
	if l.Type == typeRead {
		f.ops = append(f.ops, &operation{place: f.place, kind: reads, client: l.Client, key: key, interval: interval{l.Since, l.At}, seen: s})
		return nil
	}
	if !s.gone && stateOf(f.machine, s.state) == nil {
		return f.err("machine %s has no state %q", f.machine.Name, s.state)
	}
	if f.starts[key] != nil {
		return f.err("the row %s begins twice", key)
	}
	f.starts[key] = &start{f.place, l.At, s}
	return nil
}

// columns refuses columns that the definition does not have, and values that are none
// of theirs: nothing could be held against them.
func (f *reader) columns(given map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		at := slices.IndexFunc(f.machine.Table.Columns, func(c *model.Column) bool { return c.Name == name })
		if at < 0 {
			return f.err("machine %s has no column %q", f.machine.Name, name)
		}
		if _, err := decode(f.machine.Table.Columns[at].Type, given[name]); err != nil {
			return f.err("%s: %w", name, err)
		}
	}
	return nil
}

// seen reads what was seen of a row.
func (l *line) seen() *seen {
	s := &seen{gone: l.Gone, state: l.State, version: l.Version, columns: bytesOf(l.Columns),
		looked: looks{l.History != nil, l.Facts != nil, l.Outbox != nil}}
	if l.History != nil {
		for _, t := range *l.History {
			t.Outcome = string(oracle.Applied)
			s.history = append(s.history, t.made())
		}
	}
	if l.Facts != nil {
		for _, v := range *l.Facts {
			v.transition.Event = v.Event
			s.facts = append(s.facts, fact{v.Event, v.Identity, v.Fingerprint, v.made()})
		}
	}
	if l.Outbox != nil {
		for _, v := range *l.Outbox {
			s.emitted = append(s.emitted, emitted{v.Event, v.Topic, v.Version})
		}
	}
	return s
}

func bytesOf(columns map[string]json.RawMessage) map[string][]byte {
	all := make(map[string][]byte, len(columns))
	for name, v := range columns {
		all[name] = v
	}
	return all
}
