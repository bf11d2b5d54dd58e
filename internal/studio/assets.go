package studio

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/gendocs"
	"github.com/pawl-go/pawl/internal/genmatrix"
	"github.com/pawl-go/pawl/internal/gensvg"
)

//go:embed assets
var embedded embed.FS

// asset is a file that pages load, and what names its content.
type asset struct {
	content       []byte
	kind, version string
}

// assetsOf puts together what all pages load: the style and scripts of the folder of pages,
// of pictures and matrices, of the frame, and then of the parts.
func assetsOf() map[string]asset {
	style := gendocs.Style() + gensvg.Style(gensvg.Auto) + string(genmatrix.Style()) + joined("studio.css")
	script := gendocs.Script() + "function pawlMatrix() {\n" + string(genmatrix.Script()) + "\n}\n" + joined("studio.js")
	all := map[string]asset{}
	for name, content := range map[string]string{"style.css": style, "studio.js": script, "head.js": gendocs.HeadScript()} {
		sum := sha256.Sum256([]byte(content))
		kind := "text/javascript; charset=utf-8"
		if path.Ext(name) == ".css" {
			kind = "text/css; charset=utf-8"
		}
		all[name] = asset{[]byte(content), kind, hex.EncodeToString(sum[:8])}
	}
	return all
}

// joined is a file of the frame with those of the same kind behind it, in the order of
// their names.
func joined(first string) string {
	entries, err := embedded.ReadDir("assets")
	if err != nil {
		panic(err) // it is embedded: the program could not have been built without it
	}
	var names []string
	for _, e := range entries {
		if path.Ext(e.Name()) == path.Ext(first) && e.Name() != first {
			names = append(names, e.Name())
		}
	}
	var b strings.Builder
	for _, name := range slices.Insert(names, 0, first) {
		text, err := embedded.ReadFile("assets/" + name)
		if err != nil {
			panic(err) // as above
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.String()
}

// serveAsset serves a file for good, since its address changes with its content.
func (s *Studio) serveAsset(w http.ResponseWriter, r *http.Request) {
	a, ok := s.assets[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", a.kind)
	if r.URL.Query().Get("v") == a.version {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = w.Write(a.content)
}

// address is where an asset is found.
func (s *Studio) address(name string) string {
	return "/assets/" + name + "?v=" + s.assets[name].version
}
