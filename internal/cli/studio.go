package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-go/pawl/internal/studio"
)

// studioOptions are the flags of studio.
type studioOptions struct {
	// addr is what is listened on, and token what a browser must show there.
	addr, token string
	// database is whose rows are shown; empty for none.
	database       string
	links, actions []studio.Link
	// stdin says that the end of standard input ends it.
	stdin bool
}

// What no flag gives is in these variables: a list of processes would show the password of
// a database, and a token.
const (
	studioVariable = "STUDIO_DATABASE_URL"
	tokenVariable  = "STUDIO_TOKEN"
)

func studioFlags(k *call) {
	k.flags.StringVar(&k.studio.addr, "addr", "127.0.0.1:7295", "listen on `HOST:PORT`; a host that other computers reach needs a token, and port 0 takes a free one")
	k.flags.StringVar(&k.studio.database, "database", "", "the `URL` of a database whose rows are shown, read by a role that may only read (default: the environment variable "+studioVariable+")")
	k.flags.StringVar(&k.studio.token, "token", "", "the `TEXT` that a browser must show once; beyond this computer one is made up when none is given (default: the environment variable "+tokenVariable+")")
	k.flags.Func("link", "lead to another page from every page, as `TEXT=URL` or ENGLISH|CHINESE=URL; may be repeated", linksTo(&k.studio.links))
	k.flags.Func("action", "have a button on every page that posts to another program, as `TEXT=URL` or ENGLISH|CHINESE=URL; may be repeated", linksTo(&k.studio.actions))
	k.flags.BoolVar(&k.studio.stdin, "stdin", false, "end when standard input does, for a program that starts a studio which must not outlive it")
}

// errWhereTo is what is wrong with a link.
var errWhereTo = errors.New("give TEXT=URL, or ENGLISH|CHINESE=URL")

// linksTo reads TEXT=URL or ENGLISH|CHINESE=URL into a list.
func linksTo(list *[]studio.Link) func(string) error {
	return func(value string) error {
		text, to, ok := strings.Cut(value, "=")
		if !ok || to == "" {
			return errWhereTo
		}
		text, chinese, both := strings.Cut(text, "|")
		link := studio.Link{Text: strings.TrimSpace(text), Chinese: strings.TrimSpace(chinese), URL: to}
		if link.Text == "" || both && link.Chinese == "" {
			return errWhereTo
		}
		*list = append(*list, link)
		return nil
	}
}

// headers is how long a browser may take to say what it wants.
const headers = 10 * time.Second

// runStudio serves the pages until it is interrupted.
func runStudio(ctx context.Context, k *call) int {
	paths, err := k.paths()
	if err != nil {
		return k.fail(err)
	}
	o := k.studio
	if o.database == "" {
		o.database = os.Getenv(studioVariable)
	}
	if o.token == "" {
		o.token = os.Getenv(tokenVariable)
	}
	if o.stdin {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go func() { // it goes on for as long as the process, which ends after this
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
	}
	if o.token == "" && !studio.Loopback(o.addr) {
		o.token = studio.NewToken()
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.addr)
	if errors.Is(err, syscall.EADDRINUSE) && !o.stdin { // a program beside which it runs has a word of its own
		return k.fail(fmt.Errorf("%w; another studio, maybe: --addr 127.0.0.1:0 takes a free port", err))
	}
	if err != nil {
		return k.fail(err)
	}
	defer func() { _ = listener.Close() }()
	s, err := studio.New(ctx, studio.Options{
		Root: k.dir, Paths: paths, Addr: o.addr, Token: o.token, Database: o.database, Links: o.links, Actions: o.actions, Log: k.err,
	})
	if err != nil {
		return k.fail(k.atRoot(err))
	}
	defer s.Close()
	if _, err := fmt.Fprintln(k.out, opened(o, listener.Addr())); err != nil {
		return k.fail(err)
	}
	return k.serve(ctx, listener, s)
}

// serve answers until ctx ends. Streams are ended first: they would go on for ever.
func (k *call) serve(ctx context.Context, listener net.Listener, s *studio.Studio) int {
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: headers}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return k.fail(err)
	case <-ctx.Done():
	}
	s.Close()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		_ = server.Close() // somebody still reads; the second is over
	}
	return exitFine
}

// opened is the address to open, with the token where one is needed.
func opened(o studioOptions, at net.Addr) string {
	host, port, err := net.SplitHostPort(o.addr)
	if err != nil {
		return at.String()
	}
	if _, real, err := net.SplitHostPort(at.String()); err == nil {
		port = real
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, port), Path: "/"}
	if o.token != "" {
		u.RawQuery = url.Values{"token": {o.token}}.Encode()
	}
	return u.String()
}
