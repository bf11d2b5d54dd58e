package hostile

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	xhtml "golang.org/x/net/html"
)

// vocabulary is what files of a kind are made of: elements, attributes, the schemes
// of addresses, scripts and styles, by the kind.
type vocabulary map[string]bool

// within requires that every word is one of the other's.
func (v vocabulary) within(t testing.TB, other vocabulary) {
	t.Helper()
	for word := range v {
		require.True(t, other[word], "only the changed definition has %q", word)
	}
}

// markup adds what a file of HTML, SVG or Markdown is made of.
func (v vocabulary) markup(t testing.TB, name string, content []byte) {
	t.Helper()
	switch path.Ext(name) {
	case ".html":
		v.html(t, "html", content)
	case ".svg":
		v.svg(t, content)
	case ".md":
		var b bytes.Buffer
		require.NoError(t, goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe())).Convert(content, &b))
		v.html(t, "md", b.Bytes())
	}
}

func (v vocabulary) html(t testing.TB, kind string, content []byte) {
	t.Helper()
	page, err := xhtml.Parse(bytes.NewReader(content))
	require.NoError(t, err)
	for n := range page.Descendants() {
		if n.Type != xhtml.ElementNode {
			continue
		}
		v[kind+" "+n.Data] = true
		for _, a := range n.Attr {
			v.attribute(t, kind, n.Data, a.Key, a.Val)
		}
		if n.Data == "script" || n.Data == "style" {
			for c := range n.ChildNodes() {
				v[kind+" "+n.Data+" "+c.Data] = true
			}
		}
	}
}

func (v vocabulary) svg(t testing.TB, content []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(content))
	styled := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		switch e := token.(type) {
		case xml.StartElement:
			v["svg "+e.Name.Local] = true
			styled = e.Name.Local == "style"
			for _, a := range e.Attr {
				v.attribute(t, "svg", e.Name.Local, a.Name.Local, a.Value)
			}
		case xml.CharData:
			if styled {
				v["svg style "+string(e)] = true
			}
		case xml.EndElement:
			styled = false
		}
	}
}

var plainStyle = regexp.MustCompile(`^[-a-z0-9:;.%,()# ]*$`)

func (v vocabulary) attribute(t testing.TB, kind, element, name, value string) {
	t.Helper()
	v[kind+" "+element+" "+name] = true
	require.False(t, strings.HasPrefix(strings.ToLower(name), "on"), "%s %s", element, name)
	switch strings.ToLower(name) {
	case "href", "src", "action", "formaction", "content":
		address, err := url.Parse(value)
		if name != "content" {
			require.NoError(t, err, "%s %s=%q", element, name, value)
		}
		if err == nil {
			scheme, _, _ := strings.Cut(address.Scheme+","+address.Host, ";")
			v[kind+" "+element+" "+name+" of "+scheme] = true
		}
	case "style":
		require.Regexp(t, plainStyle, value)
	}
}
