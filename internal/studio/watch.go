package studio

import (
	"context"
	"os"
	"time"
)

// watch takes a new snapshot when the files have changed, and are no longer
// changing: an editor may write one in steps.
func (s *Studio) watch(ctx context.Context, ticks <-chan time.Time, loaded string) {
	last := loaded
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		seen := listing(os.DirFS(s.options.Root), s.options.Paths)
		if seen == loaded || seen != last {
			last = seen
			continue
		}
		loaded = s.renew(ctx)
		last = loaded
	}
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
