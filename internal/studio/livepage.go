package studio

import (
	"html/template"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pawl-go/pawl/internal/gendocs"
	"github.com/pawl-go/pawl/internal/live"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
	"github.com/pawl-go/pawl/internal/wording"
)

// livePage is what the page of a machine's rows shows.
type livePage struct {
	*machine
	live.View
	kept
	Away       time.Time
	Old        time.Time // of when the figures are, where newer ones were waited for in vain
	Policed    *policed
	Troubles   []trouble
	Picture    template.HTML
	Large      bool
	Flow       string
	States     []stateRow
	Deliveries live.Figure[live.Deliveries]
	Moves      chart
	Told       chart
	Others     bool // there are more machines, whose deliveries are among those told
	visit      *visit
}

// Row is the address of a row's page.
func (p livePage) Row(key []string) string { return p.visit.rowAddress(p.Name, key) }

// stateRow is one line of the table of states.
type stateRow struct {
	live.StateCount
	Title  string
	Share  float64 // of all rows, in percent
	Late   int64
	Oldest []live.Oldest // those that have stood there longest
	// Due is when the first deadline of the state is, as far as counted.
	Deadline string
}

func (l *rows) page(v *visit) error {
	m, err := v.machine()
	if err != nil {
		return err
	}
	p := page{Title: v.say(wording.Phrase{EN: "%s: live", ZH: "%s：实时"}, m.Name), Machine: m, Entry: "live", Template: "live", Data: livePage{machine: m, visit: v}}
	if m.Model == nil || m.Model.Table == nil {
		return v.show(p)
	}
	name := m.Model.Name
	l.look(v, live.Of(name), func() bool {
		w := l.watch.Machine(name)
		at := l.studio.clock()
		return w.Counts.Current(at) && w.Moves.Current(at) && (!m.Model.Deadlines() || w.Deadlines.Current(at)) && (!l.watch.Deliveries().Known() || l.watch.Deliveries().Current(at))
	})
	data := livePage{machine: m, visit: v, View: l.watch.Machine(name), Deliveries: l.watch.Deliveries(), Away: l.watch.Away(), Others: len(l.machines(v.now)) > 1, Large: len(m.Model.States) > picture.Large}
	for _, err := range []error{data.Counts.Err, data.View.Moves.Err, data.Deadlines.Err, data.Oldest.Err, data.Deliveries.Err} {
		if t := v.trouble(l, err); t != nil && data.Away.IsZero() && !slices.Contains(data.Troubles, *t) {
			data.Troubles = append(data.Troubles, *t)
		}
	}
	if data.Away.IsZero() {
		data.Old = data.old(l.studio.clock())
	}
	data.Policed = l.policed(data.Counts.Value.Policies, data.Deadlines.Value.Policies, data.View.Moves.Value.Policies, data.Deliveries.Value.Policies)
	data.kept = v.keptOf(m.Model)
	if data.Picture, err = withFigures(&m.pictures, v.Lang, data.View, data.marks); err != nil {
		return err
	}
	if data.View.Moves.Known() {
		data.Flow = rate(data.View.Moves.Value.Rate())
	}
	data.States = statesOf(m.Model, data.View, v.Lang)
	data.Moves, data.Told = v.charts(data)
	p.Data, p.Topics = data, []string{liveTopic + string(live.Of(name))}
	p.Sections = data.sections(v)
	return v.show(p)
}

// old is when the oldest figure was read, where one has been waited for in vain: each is
// read by itself, and deliveries and deadlines come after those that have their time beside them.
func (p livePage) old(at time.Time) (read time.Time) {
	waited := false
	for _, f := range []struct {
		old, known bool
		at         time.Time
	}{
		{p.Counts.Old(at), p.Counts.Known(), p.Counts.At},
		{p.View.Moves.Old(at), p.View.Moves.Known(), p.View.Moves.At},
		{p.Deadlines.Old(at), p.Deadlines.Known(), p.Deadlines.At},
		{p.Deliveries.Old(at), p.Deliveries.Known(), p.Deliveries.At},
	} {
		waited = waited || f.old
		if f.known && (read.IsZero() || f.at.Before(read)) {
			read = f.at
		}
	}
	if !waited {
		return time.Time{}
	}
	return read
}

// sections are what the page has, in order.
func (p livePage) sections(v *visit) []gendocs.Section {
	list := []gendocs.Section{{ID: "picture", Title: v.say(wording.Phrase{EN: "Picture", ZH: "状态图"})}, {ID: "outcomes", Title: v.say(wording.Phrase{EN: "Last hour", ZH: "最近一小时"})}, {ID: "states", Title: v.say(wording.Phrase{EN: "States", ZH: "状态"})}}
	if p.Model.Deadlines() {
		list = append(list, gendocs.Section{ID: "deadlines", Title: v.say(wording.Phrase{EN: "Deadlines", ZH: "期限"})})
	}
	return append(list, gendocs.Section{ID: "refused", Title: v.say(wording.Phrase{EN: "Nothing moved", ZH: "未推进的通知"})}, gendocs.Section{ID: "sources", Title: v.say(wording.Phrase{EN: "Where figures come from", ZH: "数据来源"})})
}

func statesOf(m *model.Machine, v live.View, lang string) []stateRow {
	counts := v.Counts.Value.States
	if !v.Counts.Known() {
		for _, s := range m.States {
			counts = append(counts, live.StateCount{State: s.Name, Declared: true})
		}
	}
	list := make([]stateRow, len(counts))
	for i, c := range counts {
		r := stateRow{StateCount: c, Late: v.Deadlines.Value.Of(c.State)}
		if v.Counts.Value.Total > 0 {
			r.Share = 100 * float64(c.Rows) / float64(v.Counts.Value.Total)
		}
		if s := m.State(c.State); s != nil && c.Declared {
			if title, name := picture.Title(s, lang); name != "" {
				r.Title = title
			}
			if s.Deadline != nil {
				r.Deadline = wording.Duration(s.Deadline.After, lang)
			}
		}
		for _, o := range v.Oldest.Value {
			if o.State == c.State && c.Declared {
				r.Oldest = append(r.Oldest, o)
			}
		}
		list[i] = r
	}
	return list
}

// charts are the moves of the machine, and what was told to the inbox, by minute.
func (v *visit) charts(p livePage) (moves, told chart) {
	applied := series{Class: "applied", Name: v.say(wording.Phrase{EN: "Applied", ZH: "已应用"})}
	forced := series{Class: "forced", Name: v.say(wording.Phrase{EN: "Corrected by hand", ZH: "人工更正"})}
	compensated := series{Class: "compensated", Name: v.say(wording.Phrase{EN: "Compensated", ZH: "已补偿"})}
	for _, m := range p.View.Moves.Value.Moves {
		if m.Forced {
			forced.add(m.Minute, m.N)
		} else {
			applied.add(m.Minute, m.N)
		}
	}
	for _, m := range p.View.Moves.Value.Compensated {
		compensated.add(m.Minute, m.N)
	}
	done := series{Class: "applied", Name: v.say(wording.Phrase{EN: "Taken", ZH: "已处理"})}
	duplicate := series{Class: "duplicate", Name: v.say(wording.Phrase{EN: "Told again", ZH: "重复"})}
	stale := series{Class: "stale", Name: v.say(wording.Phrase{EN: "Refused or too late", ZH: "拒绝或过时"})}
	wait := series{Class: "compensated", Name: v.say(wording.Phrase{EN: "Put off", ZH: "待重试"})}
	odd := series{Class: "odd", Name: v.say(wording.Phrase{EN: "For a person", ZH: "待人工"})}
	for _, t := range p.Deliveries.Value.Verdicts {
		switch t.Verdict {
		case "done", "ignored":
			done.add(t.Minute, t.N)
		case "duplicate", "running":
			duplicate.add(t.Minute, t.N)
		case "stale":
			stale.add(t.Minute, t.N)
		case "parked", "deferred", "interrupted":
			wait.add(t.Minute, t.N)
		default:
			odd.add(t.Minute, t.N)
		}
	}
	moves = chart{ID: "moves", Series: []series{applied, forced, compensated}}.drawn(p.View.Moves.Value.Back)
	told = chart{ID: "told", Series: []series{done, duplicate, stale, wait, odd}}.drawn(p.Deliveries.Value.Back)
	return moves, told
}

// rowAddress is where the page of a row is. A key that a path cannot say is in the query.
func (t tongue) rowAddress(machine string, key []string) string {
	if slices.ContainsFunc(key, func(k string) bool { return k == "" || k == "." || k == ".." }) {
		return t.with(url.Values{"key": key}, "m", machine, "rows", "-")
	}
	return t.at(append([]string{"m", machine, "rows"}, key...)...)
}

// keyAsked is the key that the address names. Its columns may hold slashes, so the path
// is taken apart as it was sent.
func keyAsked(v *visit) []string {
	if key := v.URL.Query()["key"]; len(key) > 0 {
		return key
	}
	parts := strings.Split(v.URL.EscapedPath(), "/")
	if len(parts) < 5 {
		return nil
	}
	var key []string
	for _, p := range parts[4:] {
		text, err := url.PathUnescape(p)
		if err != nil {
			return nil
		}
		key = append(key, text)
	}
	return key
}
