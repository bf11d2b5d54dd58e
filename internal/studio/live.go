package studio

import (
	"context"
	"html/template"
	"strings"
	"time"

	"github.com/pawl-go/pawl/internal/live"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/wording"
)

// livePart shows the rows that live in a database. Without one its pages say what they
// lack, since their addresses are sent around and kept.
func livePart(s *Studio) (part, error) {
	l := &rows{studio: s}
	routes := []route{
		{"/m/{machine}/live", l.page},
		{"/m/{machine}/rows/{key...}", l.row},
		{"/find", l.find},
		{"/lags", l.lags},
	}
	if s.options.Database == "" {
		for i := range routes {
			routes[i].serve = func(*visit) error { return unasked }
		}
		return part{routes: routes}, nil
	}
	db, err := live.Open(s.options.Database)
	if err != nil {
		return part{}, err
	}
	l.db = db
	l.watch = live.NewWatch(db, func() []*model.Machine { return l.machines(s.now.Load()) }, s.clock)
	return part{
		entry:  "live",
		routes: routes,
		top: []topEntry{
			{"find", wording.Phrase{EN: "Find", ZH: "查找"}, "find"},
			{"lags", wording.Phrase{EN: "Waiting", ZH: "积压"}, "lags"},
		},
		topic: liveTopic,
		watch: l.publish,
		card:  l.card,
		close: func() {
			l.watch.Close()
			db.Close()
		},
	}, nil
}

// rows has the pages of the database.
type rows struct {
	studio *Studio
	db     *live.Database
	watch  *live.Watch
}

// machines are those whose rows can be read.
func (l *rows) machines(now *snapshot) []*model.Machine {
	var all []*model.Machine
	for _, m := range now.machines {
		if m.Model != nil && m.Model.Table != nil {
			all = append(all, m.Model)
		}
	}
	return all
}

// liveTopic begins the topics of pages that show figures.
const liveTopic = "live/"

// liveTopics are what the first page listens to; none without a database.
func (s *Studio) liveTopics() []string {
	if s.options.Database == "" {
		return nil
	}
	return []string{liveTopic + string(live.All)}
}

// publish says that there are new figures of a topic, as long as somebody listens.
func (l *rows) publish(ctx context.Context, topic string) {
	of := live.Topic(strings.TrimPrefix(topic, liveTopic))
	news, stop := l.watch.Listen(of)
	defer stop()
	defer l.watch.Look(of)()
	for {
		select {
		case <-ctx.Done():
			return
		case <-news:
			l.studio.publish(topic, "live", "")
		}
	}
}

const (
	// glance is how long a page that was fetched counts as somebody who looks: until
	// its stream is open, or for those who have none.
	glance = 5 * time.Second
	// patience is how long a page waits for figures that are not there yet, in all.
	patience = 400 * time.Millisecond
)

// look says that somebody looks, and waits until what the page shows first is there and
// of now, if only for a moment: what was read for somebody who has gone may be old.
func (l *rows) look(v *visit, at live.Topic, there func() bool) {
	news, deaf := l.watch.Listen(at)
	defer deaf()
	time.AfterFunc(glance, l.watch.Look(at))
	late := time.NewTimer(time.Until(v.begun.Add(patience)))
	defer late.Stop()
	for !there() && !l.watch.StillAway() {
		select {
		case <-news:
		case <-late.C:
			return
		case <-v.Context().Done():
			return
		}
	}
}

// card is the line of a machine on the first page.
func (l *rows) card(v *visit, m *machine) (template.HTML, error) {
	if m.Model == nil || m.Model.Table == nil {
		return "", nil
	}
	var now live.View
	l.look(v, live.All, func() bool {
		now = l.watch.Machine(m.Model.Name)
		return now.Counts.Current(l.studio.clock())
	})
	return v.render("live-card", struct {
		*machine
		Trouble *trouble
		Away    bool
		Counts  live.Figure[live.Counts]
		Late    live.Figure[live.Deadlines]
		Policed *policed
	}{m, v.trouble(l, now.Counts.Err), !l.watch.Away().IsZero(), now.Counts, now.Deadlines, l.policed(now.Counts.Value.Policies)})
}
