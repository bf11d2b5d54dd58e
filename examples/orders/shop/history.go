package shop

import (
	"net/http"
	"strconv"
	"time"

	"github.com/pawl-go/pawl/gen/order"
)

const (
	defaultEntries = 100
	maxEntries     = 1000
)

// historyView is one page of an order's history, by version.
type historyView struct {
	Entries []entryView `json:"entries"`
	// Next is the after of the next page, absent when this one was not full.
	Next int64 `json:"next,omitempty"`
}

type entryView struct {
	Version int64       `json:"version"`
	Event   string      `json:"event"`
	From    order.State `json:"from,omitempty"`
	To      order.State `json:"to"`
	Actor   string      `json:"actor"`
	Reason  string      `json:"reason,omitempty"`
	// RequestID is the delivery's id where a callback made the transition.
	RequestID string    `json:"request_id,omitempty"`
	Forced    bool      `json:"forced,omitempty"`
	At        time.Time `json:"at"`
}

func (s *Service) getHistory(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	after, err := queryInt(r, "after", 0, 0, 1<<62)
	if err != nil {
		return err
	}
	limit, err := queryInt(r, "limit", defaultEntries, 1, maxEntries)
	if err != nil {
		return err
	}
	entries, err := order.History(r.Context(), s.pool, order.Key(id), after, int32(limit))
	if err != nil {
		return err
	}
	if len(entries) == 0 { // past the end, or no order at all
		if _, err := order.Get(r.Context(), s.pool, order.Key(id)); err != nil {
			return err
		}
	}
	view := historyView{Entries: make([]entryView, len(entries))}
	for i, e := range entries {
		view.Entries[i] = entryView{
			Version: e.Version, Event: e.Event, From: e.From, To: e.To, Actor: e.Actor,
			Reason: e.Reason, RequestID: e.RequestID, Forced: e.Forced, At: e.At,
		}
	}
	if int64(len(entries)) == limit {
		view.Next = entries[len(entries)-1].Version
	}
	return writeJSON(w, http.StatusOK, view)
}

// queryInt returns a number of the query, or the fallback when it is not given.
func queryInt(r *http.Request, name string, fallback, low, high int64) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return fallback, nil
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, &FieldError{name, "is not a number"}
	}
	var f fields
	f.between(name, v, low, high)
	return v, f.err
}
