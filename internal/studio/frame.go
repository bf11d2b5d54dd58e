package studio

import (
	"html/template"
	"net/url"
	"strings"

	"github.com/pawl-go/pawl/internal/gendocs"
	"github.com/pawl-go/pawl/internal/wording"
)

// page is what a route gives to the frame.
type page struct {
	Title string
	// Machine is the one that the page is about; nil for none.
	Machine *machine
	// Entry is the page's own in the menu, or at the top.
	Entry string
	// Template makes the content of main from Data.
	Template string
	Data     any
	// Sections are listed beside the content; none for a page that has the whole width.
	Sections []gendocs.Section
	// Topics are what the page listens to.
	Topics []string
	// bare leaves out all that leads anywhere.
	bare bool
}

// framed is what the template of the frame shows.
type framed struct {
	page
	tongue
	Main           template.HTML
	Heard          string
	Unread         string
	Passed         []string
	Menu           []menuEntry
	Top            []menuEntry
	Languages      []menuEntry
	Machines       []menuEntry
	Links, Actions []Link
	Style          string
	HeadScript     string
	Script         string
	StreamTopics   string
	Icon           template.URL
}

// menuEntry leads somewhere. Without Href it cannot be taken, and Hint says why.
type menuEntry struct {
	Text, Href, Hint, Lang string
	Current                bool
	// Errors and Warnings are shown beside it.
	Errors, Warnings int
}

// Bare reports whether the page leads nowhere.
func (f framed) Bare() bool { return f.bare }

// framed puts the frame around a page.
func (v *visit) framed(p page, main template.HTML) framed {
	s := v.studio
	f := framed{
		page: p, tongue: v.tongue, Main: main, Heard: v.now.heard(), Links: s.options.Links, Actions: s.options.Actions, Icon: template.URL(gendocs.Icon),
		Style: s.address("style.css"), HeadScript: s.address("head.js"), Script: s.address("studio.js"),
	}
	for _, lang := range gendocs.Languages() {
		query := v.URL.Query()
		query.Set("lang", lang)
		query.Del("token")
		f.Languages = append(f.Languages, menuEntry{
			Text: map[string]string{"en": "EN", "zh": "中文"}[lang], Lang: lang, Current: lang == v.Lang,
			Href: (&url.URL{Path: v.URL.Path, RawPath: v.URL.RawPath, RawQuery: query.Encode()}).RequestURI(), // a key may have a slash
		})
	}
	if p.bare {
		f.Links, f.Actions = nil, nil
		return f
	}
	f.StreamTopics = url.Values{"topic": p.Topics}.Encode()
	if v.now.unread != nil {
		f.Unread = strings.TrimSuffix(withoutPasswords(v.now.unread.Error()), ".") // the sentence has its own stop
	}
	for _, p := range v.now.passed {
		f.Passed = append(f.Passed, withoutPasswords(p.Err.Error()))
	}
	for _, part := range s.parts {
		for _, e := range part.top {
			f.Top = append(f.Top, menuEntry{Text: v.say(e.text), Href: v.at(strings.Split(e.path, "/")...), Current: e.name == p.Entry})
		}
	}
	if p.Machine != nil {
		v.addMenu(&f)
	}
	return f
}

// addMenu adds the pages of the machine, and the other machines.
func (v *visit) addMenu(f *framed) {
	for _, e := range menu {
		if !v.studio.has(e.name) && !(e.database && v.studio.options.Database == "") {
			continue
		}
		entry := menuEntry{Text: v.say(e.text), Href: v.at("m", f.Machine.Name, e.path), Current: e.name == f.Entry}
		if e.name == "source" {
			entry.Errors, entry.Warnings = f.Machine.Errors(), f.Machine.Warnings()
		}
		if e.database && v.studio.options.Database == "" {
			entry.Href, entry.Hint = "", v.say(wording.Phrase{EN: "start fsmgen studio with --database URL", ZH: "启动时加上 --database URL"})
		}
		f.Menu = append(f.Menu, entry)
	}
	for _, m := range v.now.machines {
		f.Machines = append(f.Machines, menuEntry{Text: m.Name, Href: v.at("m", m.Name), Current: m == f.Machine, Errors: m.Errors()})
	}
}

// pages are the templates of a tongue.
type pages = *template.Template

// parsePages reads the templates, once for each language and for whether addresses
// keep it.
func parsePages() (map[tongue]pages, error) {
	all := map[tongue]pages{}
	for _, lang := range gendocs.Languages() {
		for _, asked := range []bool{false, true} {
			t := tongue{lang, asked}
			set, err := gendocs.Templates(lang).Funcs(t.functions()).Funcs(liveFunctions(lang)).ParseFS(embedded, "assets/*.html")
			if err != nil {
				return nil, err
			}
			all[t] = set
		}
	}
	return all, nil
}

// functions are what templates call beside those of gendocs.
func (t tongue) functions() template.FuncMap {
	return template.FuncMap{
		"at": t.at,
		"lang": func() string { // what a form must keep of the address
			if t.Asked {
				return t.Lang
			}
			return ""
		},
		"ask": func(key, value string, elements ...string) string {
			return t.with(url.Values{key: {value}}, elements...)
		},
		"pairs": func(list ...any) map[string]any { // names and values, for a template that shows several things
			m := map[string]any{}
			for i := 0; i+1 < len(list); i += 2 {
				if name, ok := list[i].(string); ok {
					m[name] = list[i+1]
				}
			}
			return m
		},
	}
}
