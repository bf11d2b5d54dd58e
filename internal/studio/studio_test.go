package studio_test

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/pawl-go/pawl/internal/studio"
)

// open is a studio over a project of its own.
type open struct {
	*testing.T
	dir    string
	ticks  chan<- time.Time
	studio *studio.Studio
	server *httptest.Server
}

// lamp is a small definition without findings.
const lamp = `machine: lamp
describe: A lamp
states:
  "OFF": {initial: true}
  "ON": {}
events:
  press: {expect: version}
transitions:
  - {event: press, from: "OFF", to: "ON"}
  - {event: press, from: "ON", to: "OFF"}
`

// project makes a folder with definitions, given by the names of their files.
func project(t *testing.T, definitions map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "definitions"), 0o755))
	for name, text := range definitions {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "definitions", name), []byte(text), 0o644))
	}
	return dir
}

// serve opens a studio that looks at files when it is told to. Its options are completed.
func serve(t *testing.T, dir string, o studio.Options) *open {
	t.Helper()
	ticks := make(chan time.Time)
	o.Ticks = ticks
	s := watching(t, dir, o)
	s.ticks = ticks
	return s
}

// watching opens one that looks by itself.
func watching(t *testing.T, dir string, o studio.Options) *open {
	t.Helper()
	s := &open{T: t, dir: dir}
	o.Root, o.Paths, o.Log = dir, []string{"definitions"}, io.Discard
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	var err error
	s.studio, err = studio.New(t.Context(), o)
	require.NoError(t, err)
	s.server = httptest.NewServer(s.studio.Handler())
	t.Cleanup(func() {
		s.studio.Close()
		s.server.Close()
	})
	return s
}

// write writes a definition, and has the studio look twice: at what is edited, and at
// what is no longer edited.
func (s *open) write(name, text string) {
	s.Helper()
	path := filepath.Join(s.dir, "definitions", name)
	require.NoError(s, os.WriteFile(path, []byte(text), 0o644))
	s.look()
}

// look waits until the studio has seen what there is: the third look begins
// when the second, which may take a snapshot, has ended.
func (s *open) look() {
	for range 3 {
		s.ticks <- time.Time{}
	}
}

// get asks for a page, and wants a status.
func (s *open) get(status int, path string, header ...string) (*http.Response, string) {
	s.Helper()
	return s.ask(http.MethodGet, status, path, header...)
}

func (s *open) ask(method string, status int, path string, header ...string) (*http.Response, string) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.server.URL+path, nil)
	require.NoError(s, err)
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	require.NoError(s, err)
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	require.NoError(s, err)
	require.Equal(s, status, answer.StatusCode, "%s: %s", path, body)
	return answer, string(body)
}

// listen opens the stream, and returns a function that waits for its next event.
func (s *open) listen() func() (event, data string) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.server.URL+"/events", nil)
	require.NoError(s, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(s, err)
	s.Cleanup(func() { _ = answer.Body.Close() })
	require.Equal(s, "text/event-stream", answer.Header.Get("Content-Type"))
	lines := bufio.NewScanner(answer.Body)
	return func() (event, data string) {
		for lines.Scan() {
			line := lines.Text()
			if e, ok := strings.CutPrefix(line, "event: "); ok {
				event = e
			} else if d, ok := strings.CutPrefix(line, "data: "); ok {
				data = d
			} else if line == "" {
				return event, data
			}
		}
		return "", ""
	}
}

// parsed is the tree of a page.
func (s *open) parsed(path string) *html.Node {
	s.Helper()
	_, body := s.get(http.StatusOK, path)
	root, err := html.Parse(strings.NewReader(body))
	require.NoError(s, err)
	return root
}

func attribute(n *html.Node, key string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val, true
		}
	}
	return "", false
}

// said is the text of a page, without what is in tags.
func said(root *html.Node) string {
	var b strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "script" && n.Parent.Data != "style" {
			b.WriteString(n.Data)
		}
	}
	return b.String()
}

func shared(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../gendocs/testdata/" + name)
	require.NoError(t, err)
	return string(text)
}
