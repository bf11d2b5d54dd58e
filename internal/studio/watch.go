package studio

import (
	"context"
	"os"
	"time"
)

// watcher knows what the files looked like when they were loaded, and when they were
// last looked at. One goroutine has it.
type watcher struct {
	*Studio
	loaded, last string
}

// watch looks at the files at every tick, until ctx ends.
func (s *Studio) watch(ctx context.Context, ticks <-chan time.Time, loaded string) {
	w := watcher{s, loaded, loaded}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		w.look(ctx)
	}
}

// look takes a new snapshot when the files have changed, and are no longer
// changing: an editor may write one in steps.
func (w *watcher) look(ctx context.Context) {
	seen := listing(os.DirFS(w.options.Root), w.options.Paths)
	if seen == w.loaded || seen != w.last {
		w.last = seen
		return
	}
	w.loaded = w.renew(ctx)
	w.last = w.loaded
}

// renew takes a new snapshot and says so to the pages, when it is another. It
// returns what the files looked like.
func (s *Studio) renew(ctx context.Context) string {
	before := s.now.Load()
	now, err := s.load(ctx, before)
	if ctx.Err() != nil {
		return before.listing
	}
	if err != nil {
		now.version, now.machines, now.unread = before.version, before.machines, err
	}
	s.now.Store(now)
	if now.version != before.version || unread(now) != unread(before) {
		s.publish("", "changed", now.heard())
	}
	return now.listing
}

func unread(s *snapshot) string {
	if s.unread == nil {
		return ""
	}
	return s.unread.Error()
}

// heard names what pages show of a snapshot.
func (s *snapshot) heard() string {
	if s.unread != nil {
		return s.version + "!"
	}
	return s.version
}
