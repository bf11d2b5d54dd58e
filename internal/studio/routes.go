package studio

import (
	"context"
	"html/template"
	"net/http"

	"github.com/pawl-go/pawl/internal/wording"
)

// parts are what the studio is made of, each in files of its own: doc.go says how one
// is added.
var parts = []func(*Studio) (part, error){
	machinesPart,
	lifecyclePart,
	simulatePart,
	livePart,
	sourcePart,
	suitesPart,
	diffPart,
}

// part is one of them. Every field may be left out.
type part struct {
	routes []route
	// entry is the name of an entry of menu.
	entry string
	top   []topEntry
	// topic begins the topics that watch is run for.
	topic string
	watch func(ctx context.Context, topic string)
	// card is a line for the card of a machine on the first page; empty for none.
	card  func(v *visit, m *machine) (template.HTML, error)
	close func()
}

// route is a page, or a file: its pattern is one of http.ServeMux without a method.
type route struct {
	pattern string
	serve   func(*visit) error
}

// topEntry leads to a page that is about no machine.
type topEntry struct {
	name string
	text wording.Phrase
	path string
}

// menu are the pages of a machine, in order; those that a part has are shown.
var menu = []struct {
	name string
	text wording.Phrase
	// path is behind the machine's.
	path string
	// database says that there is no such page without one.
	database bool
}{
	{"lifecycle", wording.Phrase{EN: "Lifecycle", ZH: "生命周期"}, "", false},
	{"source", wording.Phrase{EN: "Source", ZH: "源文件"}, "source", false},
	{"simulate", wording.Phrase{EN: "Simulate", ZH: "模拟"}, "simulate", false},
	{"suites", wording.Phrase{EN: "Suites", ZH: "测试集"}, "suites", false},
	{"diff", wording.Phrase{EN: "Diff", ZH: "差异"}, "diff", false},
	{"live", wording.Phrase{EN: "Live", ZH: "实时"}, "live", true},
}

// assemble registers the routes of all parts.
func (s *Studio) assemble() error {
	var err error
	if s.pages, err = parsePages(); err != nil {
		return err
	}
	for _, make := range parts {
		p, err := make(s)
		if err != nil {
			return err
		}
		s.parts = append(s.parts, p)
	}
	for _, p := range s.parts {
		for _, r := range p.routes {
			s.mux.Handle("GET "+r.pattern, s.visited(r.serve))
		}
		if p.watch != nil {
			s.streams.source(p.topic, p.watch)
		}
	}
	s.mux.HandleFunc("GET /events", s.serveEvents)
	s.mux.HandleFunc("GET /assets/{name}", s.serveAsset)
	s.mux.Handle("/", s.visited(func(v *visit) error { return &notFound{} }))
	return nil
}

// has reports whether a part has the entry of the menu.
func (s *Studio) has(entry string) bool {
	for _, p := range s.parts {
		if p.entry == entry {
			return true
		}
	}
	return false
}

// visited makes a handler of a page's function.
func (s *Studio) visited(serve func(*visit) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := s.visit(w, r)
		if err := serve(v); err != nil {
			v.fail(err)
		}
	})
}
