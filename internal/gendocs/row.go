package gendocs

import (
	"slices"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/wording"
)

// columnEntry is one column of the row.
type columnEntry struct {
	Name, Type, Check, Default, Describe string
	// Own says what a column is for that is the machine's own.
	Own                    string
	Key, Optional, Created bool
	// SetBy are the events whose transitions set the column.
	SetBy []*model.Event
}

// columnEntries has the key, the declared columns, and then the machine's own.
func columnEntries(m *model.Machine, lang string) []columnEntry {
	if m.Table == nil {
		return nil
	}
	var entries []columnEntry
	created := m.Created()
	for _, c := range slices.Concat(m.Table.Keys, m.Table.Columns) {
		key := slices.Contains(m.Table.Keys, c)
		e := columnEntry{
			Name: c.Name, Type: c.Type.SQL, Describe: c.Describe, Key: key, Optional: c.Optional,
			Created: key || slices.Contains(created, c), SetBy: setters(m, c),
		}
		if c.Check != nil {
			e.Check = c.Check.Source
		}
		if c.Default != nil {
			e.Default = c.Default.Source
		}
		entries = append(entries, e)
	}
	return append(entries, ownColumns(m, lang)...)
}

func setters(m *model.Machine, c *model.Column) []*model.Event {
	var events []*model.Event
	for _, t := range m.Transitions {
		sets := slices.ContainsFunc(t.Set, func(a model.Assignment) bool { return a.Column == c })
		if sets && !slices.Contains(events, t.Event) {
			events = append(events, t.Event)
		}
	}
	return events
}

// ownColumns are those that the machine keeps by itself.
func ownColumns(m *model.Machine, lang string) []columnEntry {
	t := m.Table
	own := []columnEntry{
		{Name: t.Status.Column, Type: t.Status.Type, Own: wording.Phrase{EN: "the state", ZH: "状态"}.In(lang)},
		{Name: t.Version, Type: t.VersionType, Own: wording.Phrase{EN: "raised by one with every transition", ZH: "每次转换加一"}.In(lang)},
	}
	if m.Deadlines() {
		own = append(own, columnEntry{Name: t.Deadline, Type: "timestamptz", Optional: true, Own: wording.Phrase{EN: "when the state's deadline is due", ZH: "状态期限的到期时间"}.In(lang)})
	}
	if m.CountsRuns() {
		own = append(own, columnEntry{Name: t.Runs, Type: "integer", Own: wording.Phrase{EN: "how often the deadline has run in this state", ZH: "在该状态下期限已触发的次数"}.In(lang)})
	}
	return own
}
