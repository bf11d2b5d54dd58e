package studio

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/pawl-go/pawl/internal/gendocs"
	"github.com/pawl-go/pawl/internal/wording"
)

// visit is one request, with what is known at its time.
type visit struct {
	*http.Request
	w      http.ResponseWriter
	studio *Studio
	// now is the snapshot that the whole answer is made from.
	now *snapshot
	tongue
	// begun is when it was asked for.
	begun time.Time
}

// tongue is the language of a page, and whether the address says so: then the
// addresses in the page do, too.
type tongue struct {
	Lang  string
	Asked bool
}

// notFound is the error of something that there is not; its words say what, and title
// heads the page in place of the usual words.
type notFound struct{ what, title wording.Phrase }

func (e *notFound) Error() string { return e.what.EN }

func (s *Studio) visit(w http.ResponseWriter, r *http.Request) *visit {
	return &visit{Request: r, w: w, studio: s, now: s.now.Load(), tongue: tongueOf(r), begun: time.Now()}
}

// tongueOf is what the address asks for, else what the browser likes most.
func tongueOf(r *http.Request) tongue {
	asked := r.URL.Query().Get("lang")
	for _, lang := range gendocs.Languages() {
		if asked == lang {
			return tongue{lang, true}
		}
	}
	for like := range strings.SplitSeq(r.Header.Get("Accept-Language"), ",") {
		like, _, _ = strings.Cut(strings.TrimSpace(like), ";")
		like, _, _ = strings.Cut(strings.ToLower(like), "-")
		for _, lang := range gendocs.Languages() {
			if like == lang {
				return tongue{lang, false}
			}
		}
	}
	return tongue{gendocs.Languages()[0], false}
}

// say is a phrase in the visit's language, filled in when there is something to.
func (v *visit) say(p wording.Phrase, args ...any) string {
	if len(args) == 0 {
		return p.In(v.Lang)
	}
	return p.Sprintf(v.Lang, args...)
}

// machine is the one that the address names; the error is a *notFound.
func (v *visit) machine() (*machine, error) {
	name := v.PathValue("machine")
	if m := v.now.machine(name); m != nil {
		return m, nil
	}
	return nil, &notFound{what: wording.Phrase{EN: fmt.Sprintf("There is no machine %q.", name), ZH: fmt.Sprintf("没有状态机 %q。", name)}}
}

// at is an address made of parts, which may hold anything, that keeps the language.
func (t tongue) at(elements ...string) string { return t.with(nil, elements...) }

// with is at with a query.
func (t tongue) with(query url.Values, elements ...string) string {
	var b strings.Builder
	for _, e := range elements {
		if e != "" {
			b.WriteString("/" + url.PathEscape(e))
		}
	}
	if b.Len() == 0 {
		b.WriteByte('/')
	}
	if t.Asked {
		all := url.Values{}
		for k, list := range query {
			all[k] = list
		}
		all.Set("lang", t.Lang)
		query = all
	}
	if len(query) > 0 {
		b.WriteString("?" + query.Encode())
	}
	return b.String()
}

// render executes a template by itself.
func (v *visit) render(name string, data any) (template.HTML, error) {
	var b bytes.Buffer
	if err := v.studio.pages[v.tongue].ExecuteTemplate(&b, name, data); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil // escaped by the template
}

// show answers with a page.
func (v *visit) show(p page) error { return v.answer(http.StatusOK, p) }

func (v *visit) answer(status int, p page) error {
	main, err := v.render(p.Template, p.Data)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := v.studio.pages[v.tongue].ExecuteTemplate(&b, "studio", v.framed(p, main)); err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.Header().Set("Content-Language", v.Lang)
	v.w.Header().Add("Vary", "Accept-Language")
	v.w.WriteHeader(status)
	_, _ = v.w.Write(b.Bytes())
	return nil
}

// fail answers with the page of an error. What is our fault goes to the log, too,
// and neither tells a password.
func (v *visit) fail(err error) {
	var missing *notFound
	status, data := http.StatusInternalServerError, failure{Text: withoutPasswords(err.Error())}
	switch {
	case v.Context().Err() != nil:
		return // nobody waits for it any more
	case errors.As(err, &missing):
		status, data.Missing, data.Title, data.Text = http.StatusNotFound, true, missing.title.In(v.Lang), missing.what.In(v.Lang)
	default:
		_, _ = fmt.Fprintf(v.studio.options.Log, "fsmgen studio: %s: %s\n", v.URL.Path, data.Text)
	}
	for _, m := range v.now.machines {
		data.Machines = append(data.Machines, m.Name)
	}
	title := wording.Phrase{EN: "Something went wrong", ZH: "出错了"}
	if data.Missing {
		title = wording.Phrase{EN: "Not found", ZH: "未找到"}
	}
	if err := v.answer(status, page{Title: v.say(title), Template: "failure", Data: data}); err != nil {
		http.Error(v.w, "a page could not be made", http.StatusInternalServerError)
	}
}

// failure is what the page of an error shows.
type failure struct {
	Missing, Refused bool
	// Title heads the page of what is missing, empty for the usual words.
	Title    string
	Text     string
	Machines []string
}

// refuse answers those who have no token.
func (v *visit) refuse() {
	v.now = &snapshot{version: "-"} // nothing is told to them
	err := v.answer(http.StatusUnauthorized, page{
		Title: v.say(wording.Phrase{EN: "Token needed", ZH: "需要令牌"}), Template: "failure", Data: failure{Refused: true}, bare: true,
	})
	if err != nil {
		http.Error(v.w, "token needed", http.StatusUnauthorized)
	}
}

// credentials are those of an address in a text.
var credentials = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://)[^\s/?#]*@|(password\s*=\s*)('[^']*'|\S+)`)

func withoutPasswords(text string) string { return credentials.ReplaceAllString(text, "$1$2…") }
