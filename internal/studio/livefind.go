package studio

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/live"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/wording"
)

// findPage is what was found.
type findPage struct {
	Text     string
	Found    []foundRow
	Troubles []trouble
	Away     bool
	// Identities are the parameters by which facts are known.
	Identities []string
}

type foundRow struct {
	live.Found
	KeyText, Href string
}

func (l *rows) find(v *visit) error {
	data := findPage{Text: strings.TrimSpace(v.URL.Query().Get("q"))}
	machines := l.machines(v.now)
	if data.Text != "" {
		found, errs := l.db.Find(v.Context(), machines, data.Text)
		for _, f := range found {
			data.Found = append(data.Found, foundRow{f, live.KeyShown(f.Key), v.rowAddress(f.Machine, f.Key)})
		}
		unread := slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return errors.Is(err, live.ErrMissing) }) // without a table there is no row
		for _, err := range errs {
			if t := v.trouble(l, err); t != nil && (len(data.Found) == 0 || len(unread) > 0) {
				data.Troubles = append(data.Troubles, *t)
			}
		}
		if len(data.Found) == 1 && len(unread) == 0 && v.URL.Query().Get("stay") == "" {
			http.Redirect(v.w, v.Request, data.Found[0].Href, http.StatusSeeOther)
			return nil
		}
	}
	data.Identities = identitiesOf(machines)
	return v.show(page{Title: v.say(wording.Phrase{EN: "Find a row", ZH: "查找数据行"}), Entry: "find", Template: "live-find", Data: data})
}

// identitiesOf are the names of what makes facts, once each.
func identitiesOf(machines []*model.Machine) []string {
	var names []string
	seen := map[string]bool{}
	for _, m := range machines {
		for _, e := range m.Events {
			for _, p := range e.Identity {
				if !seen[p.Name] {
					seen[p.Name] = true
					names = append(names, p.Name)
				}
			}
		}
	}
	return names
}

// lagsPage is what waits beside the machines.
type lagsPage struct {
	live.Figure[live.Lags]
	Deliveries live.Figure[live.Deliveries]
	Told       chart
	Away       bool
	Trouble    *trouble
	Policed    *policed
	Failed     []failedPart
	visit      *visit
	machines   []*model.Machine
}

type failedPart struct {
	Part string
	trouble
}

// Row is the address of the row with that key as the outbox has it, empty where the
// machine is none of the definitions'.
func (p lagsPage) Row(machine, text string) string {
	for _, m := range p.machines {
		if m.Name != machine {
			continue
		}
		if key := live.KeyOf(m, text); key != nil {
			return p.visit.rowAddress(machine, key)
		}
	}
	return ""
}

// MoreDead are the events for a person that are not shown one by one, live.Most for that
// many or more, and MoreWaiting those that are to be tried again.
func (p lagsPage) MoreDead() int64 { return p.more(p.Value.Inbox.Dead, true) }

// MoreWaiting is said with MoreDead.
func (p lagsPage) MoreWaiting() int64 { return p.more(p.Value.Inbox.Waiting, false) }

func (p lagsPage) more(of int64, dead bool) int64 {
	if of >= live.Most {
		return live.Most
	}
	for _, e := range p.Value.Inbox.Events {
		if (e.State == "dead") == dead {
			of--
		}
	}
	return max(0, of)
}

func (l *rows) lags(v *visit) error {
	l.look(v, live.Beside, func() bool { return l.watch.Lags().Current(l.studio.clock()) })
	data := lagsPage{Figure: l.watch.Lags(), Deliveries: l.watch.Deliveries(), Away: !l.watch.Away().IsZero(), visit: v, machines: l.machines(v.now)}
	if !data.Away {
		data.Trouble = v.trouble(l, data.Err)
	}
	data.Policed = l.policed(data.Value.Policies, data.Deliveries.Value.Policies)
	for _, f := range data.Value.Failed {
		data.Failed = append(data.Failed, failedPart{f.Part, *v.trouble(l, f.Err)})
	}
	_, data.Told = v.charts(livePage{Deliveries: data.Deliveries})
	return v.show(page{Title: v.say(wording.Phrase{EN: "What waits", ZH: "积压"}), Entry: "lags", Template: "live-lags", Data: data, Topics: []string{liveTopic + string(live.Beside)}})
}
