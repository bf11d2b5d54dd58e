package studio

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// message is one event of the stream.
type message struct{ topic, event, data string }

// streams are the pages that listen, and what is run for them.
type streams struct {
	ctx  context.Context
	done *sync.WaitGroup

	mu      sync.Mutex
	open    map[*stream]bool
	sources []source
	running map[string]*run
}

// stream is one page that listens.
type stream struct {
	topics []string
	queue  chan message
}

// source is a part that has something to say to those who listen to its topics.
type source struct {
	topic string
	watch func(ctx context.Context, topic string)
}

// run is a source that runs for a topic, and for how many.
type run struct {
	listeners int
	cancel    context.CancelFunc
}

func newStreams(ctx context.Context, done *sync.WaitGroup) *streams {
	return &streams{ctx: ctx, done: done, open: map[*stream]bool{}, running: map[string]*run{}}
}

func (s *streams) source(topic string, watch func(context.Context, string)) {
	s.sources = append(s.sources, source{topic, watch})
}

// most are the streams and topics that are served at once, and waiting the messages
// kept for a page that reads slowly.
const (
	mostStreams = 200
	mostTopics  = 8
	waiting     = 32
)

// join begins a stream; nil when there are too many, or all has ended.
func (s *streams) join(topics []string) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= mostStreams || s.ctx.Err() != nil {
		return nil
	}
	st := &stream{topics: topics[:min(len(topics), mostTopics)], queue: make(chan message, waiting)}
	s.open[st] = true
	for _, topic := range st.topics {
		if r := s.running[topic]; r != nil {
			r.listeners++
			continue
		}
		for _, src := range s.sources {
			if strings.HasPrefix(topic, src.topic) {
				ctx, cancel := context.WithCancel(s.ctx)
				s.running[topic] = &run{listeners: 1, cancel: cancel}
				s.done.Go(func() { src.watch(ctx, topic) })
				break
			}
		}
	}
	return st
}

func (s *streams) leave(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, st)
	for _, topic := range st.topics {
		r := s.running[topic]
		if r == nil {
			continue
		}
		if r.listeners--; r.listeners == 0 {
			r.cancel()
			delete(s.running, topic)
		}
	}
}

func (s *streams) publish(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.open {
		if !st.hears(m.topic) {
			continue
		}
		select {
		case st.queue <- m:
		default:
		}
	}
}

func (st *stream) hears(topic string) bool {
	if topic == "" {
		return true
	}
	for _, t := range st.topics {
		if t == topic {
			return true
		}
	}
	return false
}

// serveEvents is the stream of one page. It begins with what the definitions are
// now, so that a page which was away hears what it has missed.
func (s *Studio) serveEvents(w http.ResponseWriter, r *http.Request) {
	st := s.streams.join(unique(r.URL.Query()["topic"]))
	if st == nil {
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	defer s.streams.leave(st)
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(m message) error {
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", m.event, strings.ReplaceAll(m.data, "\n", "\ndata: ")); err != nil {
			return err
		}
		return out.Flush()
	}
	m := message{event: "changed", data: s.now.Load().heard()}
	for send(m) == nil {
		select {
		case m = <-st.queue:
		case <-r.Context().Done():
			return
		case <-s.streams.ctx.Done():
			return
		}
	}
}

// unique drops repeats and what is too long to be a topic.
func unique(topics []string) []string {
	var list []string
	seen := map[string]bool{}
	for _, t := range topics {
		if t != "" && len(t) <= 300 && !seen[t] {
			seen[t] = true
			list = append(list, t)
		}
	}
	return list
}
