package gensvg_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/needs"
	"github.com/pawl-go/pawl/internal/picture"
)

// measure says how many texts a page has, and names every text that is not inside
// its box, outside the picture, or on another text of the legend.
const measure = `<pre id="said"></pre><script>
const said = [];
const texts = document.querySelectorAll('svg text');
for (const t of texts) {
  const r = t.getBoundingClientRect(), svg = t.closest('svg').getBoundingClientRect();
  if (r.left < svg.left || r.right > svg.right || r.top < svg.top || r.bottom > svg.bottom) said.push('outside: ' + t.textContent);
  const owner = t.closest('.pawl-graph .pawl-state, .pawl-graph .pawl-edge');
  if (!owner) continue;
  const box = owner.querySelector('.box, .pill').getBoundingClientRect();
  if (r.left < box.left || r.right > box.right || r.top < box.top - 1 || r.bottom > box.bottom + 1) said.push('overflows: ' + t.textContent);
}
for (const l of document.querySelectorAll('.pawl-legend')) {
  const all = [...l.querySelectorAll('text')].map(t => t.getBoundingClientRect());
  all.forEach((a, i) => all.slice(i + 1).forEach(b => {
    if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4) said.push('on each other in a legend');
  }));
}
document.getElementById('said').textContent = texts.length + ' texts;' + said.join(';') + ';';
</script>`

// TestTextsFitInABrowser measures every text as a browser draws it with the
// system's own fonts, which our widths can only guess.
func TestTextsFitInABrowser(t *testing.T) {
	t.Parallel()
	chromium := needs.Chromium(t)
	var page strings.Builder
	fmt.Fprintf(&page, "<!doctype html><meta charset=utf-8><style>%s</style>", gensvg.Style(gensvg.Auto))
	machines := real(t)
	for i := range uint64(12) {
		machines = append(machines, random(rand.New(rand.NewPCG(1129, i)), 8, 8))
	}
	for i, m := range machines {
		whole := picture.Of(m)
		for _, p := range []*picture.Picture{whole, whole.Slice(m.States[len(m.States)-1])} {
			for _, lang := range []string{"en", "zh"} {
				svg, err := gensvg.Fragment(p, gensvg.Options{Lang: lang, Emits: i%2 == 0, ID: fmt.Sprint(m.Name, i, lang)})
				require.NoError(t, err)
				page.Write(svg)
			}
		}
	}
	page.WriteString(measure)
	path := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(path, []byte(page.String()), 0o600))
	out, err := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(),
		"--dump-dom", "file://"+path).Output()
	require.NoError(t, err)
	_, said, found := strings.Cut(string(out), `<pre id="said">`)
	require.True(t, found, "the page's script has not run")
	said, _, _ = strings.Cut(said, "</pre>")
	require.Regexp(t, `^[1-9]\d{3} texts;;$`, said)
}
