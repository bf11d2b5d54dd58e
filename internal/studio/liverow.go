package studio

import (
	"net/http"
	"slices"
	"time"

	"github.com/pawl-go/pawl/internal/live"
	"github.com/pawl-go/pawl/internal/wording"
)

// rowPage is one row's life.
type rowPage struct {
	*machine
	live.Life
	Trouble *trouble
	// Lacking are tables beside the row's that could not be read.
	Lacking []trouble
	Policed *policed
	// Shown is the key as it is read, and found.
	Shown string
	// NoKey says that the address has no key of the machine.
	NoKey bool
	// Title is the state's label, empty for none.
	Title    string
	Timeline []happened
	Standing time.Duration
}

// happened is one thing that happened, or that was told and made nothing happen.
type happened struct {
	At time.Time
	// Kind is entry, fact, delivery or attempt; it decides which of the others is set.
	Kind     string
	Entry    *live.Entry
	Fact     *live.FactOf
	Delivery *live.Delivery
	Attempt  *live.Attempt
	Messages []live.Message
	// Last says that the row stands so now.
	Last bool
}

func (l *rows) row(v *visit) error {
	m, err := v.machine()
	if err != nil {
		return err
	}
	data := rowPage{machine: m}
	p := page{Machine: m, Entry: "live", Template: "live-row"}
	if m.Model == nil || m.Model.Table == nil {
		return &notFound{what: wording.Phrase{EN: "The machine has no rows.", ZH: "该状态机没有数据行。"}}
	}
	key := keyAsked(v)
	data.NoKey = !live.IsKey(m.Model, key)
	data.Life.Key = key
	if !data.NoKey {
		data.Life, err = l.db.Life(v.Context(), m.Model, key)
		data.Trouble = v.trouble(l, err)
		for _, err := range data.Unread {
			data.Lacking = append(data.Lacking, *v.trouble(l, err))
		}
	}
	data.Shown = live.KeyShown(key)
	data.Policed = l.policed(data.Life.Policies)
	data.Timeline = timeline(data.Life)
	data.Standing = standsFor(data.Entries)
	if s := m.Model.State(data.State); s != nil && s.Label(v.Lang) != s.Name {
		data.Title = s.Label(v.Lang)
	}
	p.Title, p.Data = m.Name+" "+data.Shown, data
	if data.NoKey || !data.There && data.Trouble == nil && len(data.Entries) == 0 {
		return v.answer(http.StatusNotFound, p)
	}
	return v.show(p)
}

// standsFor is how long a row has been in its state, whatever led from the state to itself
// since it came there.
func standsFor(entries []live.Entry) time.Duration {
	var all time.Duration
	for _, e := range slices.Backward(entries) {
		all += e.Stayed
		if e.From != e.To {
			break
		}
	}
	return all
}

// timeline puts what is known of a row in order: the history by its versions, and what
// was told in between by its time; the newest comes first.
func timeline(life live.Life) []happened {
	var list, told []happened
	left := slices.Clone(life.Messages)
	// claim takes the messages of a version and event; those of a fact that moved nothing
	// have the version that the row had, so they are known by their time.
	claim := func(version int64, event string, at *time.Time) (claimed []live.Message) {
		left = slices.DeleteFunc(left, func(msg live.Message) bool {
			own := msg.Version == version && msg.Event == event && (at == nil || msg.At.Equal(*at))
			if own {
				claimed = append(claimed, msg)
			}
			return own
		})
		return claimed
	}
	for f := range life.Facts {
		if fact := &life.Facts[f]; fact.Outcome != "Applied" {
			told = append(told, happened{At: fact.At, Kind: "fact", Fact: fact, Messages: claim(fact.Version, fact.Event, &fact.At)})
		}
	}
	for i := range life.Entries {
		e := &life.Entries[i]
		at := happened{At: e.At, Kind: "entry", Entry: e, Last: i == len(life.Entries)-1 && life.There, Messages: claim(e.Version, e.Event, nil)}
		for f := range life.Facts {
			if fact := &life.Facts[f]; fact.Outcome == "Applied" && fact.Version == e.Version && fact.Event == e.Event {
				at.Fact = fact
			}
		}
		list = append(list, at)
	}
	for d := range life.Deliveries {
		told = append(told, happened{At: life.Deliveries[d].ReceivedAt, Kind: "delivery", Delivery: &life.Deliveries[d]})
	}
	for a := range life.Attempts {
		told = append(told, happened{At: life.Attempts[a].CreatedAt, Kind: "attempt", Attempt: &life.Attempts[a]})
	}
	slices.SortStableFunc(told, func(a, b happened) int { return a.At.Compare(b.At) })
	all := make([]happened, 0, len(list)+len(told))
	for _, e := range list {
		for len(told) > 0 && told[0].At.Before(e.At) {
			all, told = append(all, told[0]), told[1:]
		}
		all = append(all, e)
	}
	all = append(all, told...)
	slices.Reverse(all)
	return all
}
