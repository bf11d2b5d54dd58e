package studio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-go/pawl/internal/wording"
)

// Options say what is shown, and to whom.
type Options struct {
	// Root is the folder of the project; empty is for the working directory.
	Root string
	// Paths are the files and folders of definitions, below Root, with forward slashes.
	Paths []string
	// Addr is the address that is listened on, host:port. Beyond loopback a token
	// is needed.
	Addr string
	// Token is what a browser must show once; empty is for none.
	Token string
	// Database is the URL of the database whose rows are shown; empty is for none.
	Database string
	// Links lead to other pages of the user's, from every page.
	Links []Link
	// Actions are buttons on every page: a form without fields, posted to an address of
	// another program. Its answer should be 204, which leaves the page where it is.
	Actions []Link
	// Ticks say when to look whether definitions were edited; nil is for some
	// times a second.
	Ticks <-chan time.Time
	// Now is the time by which figures of the database are old; nil is for the clock's.
	Now func() time.Time
	// Log is told of what went wrong on our side; nil is for standard error.
	Log io.Writer
}

// Link leads to an address of somebody else.
type Link struct {
	Text, URL string
	// Chinese is the text of pages in Chinese; empty for Text.
	Chinese string
}

// In is the text in a language of the studio.
func (l Link) In(lang string) string {
	return wording.Phrase{EN: l.Text, ZH: cmp.Or(l.Chinese, l.Text)}.In(lang)
}

// NoTokenError says that an address beyond this computer is to be listened on
// without a token.
type NoTokenError struct{ Addr string }

// Error names the address.
func (e *NoTokenError) Error() string {
	return fmt.Sprintf("%s can be reached from other computers, so a token is needed", e.Addr)
}

// Studio serves the pages. All of it may be used from many goroutines.
type Studio struct {
	options Options
	hosts   hosts
	policy  string
	parts   []part
	mux     *http.ServeMux
	pages   map[tongue]pages
	assets  map[string]asset
	streams *streams

	clock  func() time.Time
	now    atomic.Pointer[snapshot]
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// looks is how often files are looked at.
const looks = 300 * time.Millisecond

// New reads the definitions and begins to watch them; Close ends that. Definitions
// that are wrong are no error, since the pages show what is wrong with them. The
// errors are those of pipeline.Read, a *NoTokenError, those of a link and of a part.
func New(ctx context.Context, o Options) (*Studio, error) {
	o.Root = cmp.Or(o.Root, ".")
	if o.Log == nil {
		o.Log = os.Stderr
	}
	s := &Studio{options: o, mux: http.NewServeMux(), assets: assetsOf(), clock: o.Now}
	if s.clock == nil {
		s.clock = time.Now
	}
	var err error
	if s.hosts, err = hostsOf(o); err != nil {
		return nil, err
	}
	if s.policy, err = policyOf(o.Links, o.Actions); err != nil {
		return nil, err
	}
	first, err := s.load(ctx, nil)
	if err != nil {
		return nil, err
	}
	s.now.Store(first)
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	s.streams = newStreams(running, &s.done)
	if err := s.assemble(); err != nil {
		s.Close()
		return nil, err
	}
	ticks := o.Ticks
	if ticks == nil {
		ticker := time.NewTicker(looks)
		context.AfterFunc(running, ticker.Stop)
		ticks = ticker.C
	}
	s.done.Go(func() { s.watch(running, ticks, first.listing) })
	return s, nil
}

// Handler answers requests.
func (s *Studio) Handler() http.Handler { return s.guarded(s.mux) }

// Close ends streams and watching, and returns when they have ended. A handler
// still answers then, from the last definitions.
func (s *Studio) Close() {
	s.cancel()
	s.done.Wait()
	for _, p := range s.parts {
		if p.close != nil {
			p.close()
		}
	}
}

// publish sends an event to the pages that listen to a topic, all when it is empty.
// A page that reads too slowly misses events and hears of the next.
func (s *Studio) publish(topic, event, data string) { s.streams.publish(message{topic, event, data}) }

// policyOf is the content security policy of all pages. Forms go to the studio itself,
// and to where actions are.
func policyOf(links, actions []Link) (string, error) {
	policy := "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
	for _, l := range links {
		if _, err := originOf(l); err != nil {
			return "", fmt.Errorf("the link %q %w", l.Text, err)
		}
	}
	for _, a := range actions {
		origin, err := originOf(a)
		if err != nil {
			return "", fmt.Errorf("the action %q %w", a.Text, err)
		}
		policy += " " + origin
	}
	return policy, nil
}

// errNoAddress is what is wrong with a link.
var errNoAddress = errors.New("must lead to an address that begins with http:// or https://")

// originOf is the scheme and host of an address. A host that could end the policy's list
// is none.
func originOf(l Link) (string, error) {
	u, err := url.Parse(l.URL)
	if err != nil || u.Host == "" || strings.ContainsAny(u.Host, ";, '\"*") || u.Scheme != "http" && u.Scheme != "https" {
		return "", errNoAddress
	}
	return u.Scheme + "://" + u.Host, nil
}
