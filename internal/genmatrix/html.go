package genmatrix

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/wording"
)

var (
	//go:embed matrix.tmpl
	templates string
	//go:embed matrix.css
	style string
	//go:embed page.css
	pageStyle string
	//go:embed matrix.js
	script string
)

var parsed = template.Must(template.New("").Parse(templates))

// Table renders the matrix as a piece of a page: a section of the class
// pawl-matrix with a search field and a legend above the table. Every cell has
// data-state, data-event and data-kind, and a class pawl-KIND, where KIND is one
// of moves, guarded, compensate, replay, ignore and reject; headers have
// data-state or data-event. A page has Style once, and Script once and at its
// end; without the script the table is complete and the search field hidden.
//
// The error is a *SizeError.
func Table(m *model.Machine, lang string) (template.HTML, error) {
	if err := bounded(m, "html", MaxHTML); err != nil {
		return "", err
	}
	return fragment(newView(m, lang))
}

// Style is the style sheet of Table. It is light or dark as the reader's system
// is, or as the attribute data-theme of the root element says.
func Style() template.CSS { return template.CSS(style) }

// Script makes Table searchable.
func Script() template.JS { return template.JS(script) }

func fragment(v view) (template.HTML, error) {
	var b bytes.Buffer
	err := parsed.ExecuteTemplate(&b, "matrix", v.htmlMatrix())
	return template.HTML(b.String()), err
}

// page renders a page that stands alone: nothing is loaded, and no other script
// than its own may run.
func page(v view) ([]byte, error) {
	table, err := fragment(v)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(script))
	data := pageData{
		Lang: v.lang, Title: v.say(title, v.Name), Describe: v.Describe, Matrix: table, Keys: v.htmlKeys(),
		Size:   v.say(size, len(v.States), len(v.Events), len(v.States)*len(v.Events)),
		Legend: v.say(legend), Source: v.say(source, v.Source),
		PageStyle: template.CSS(pageStyle), Style: Style(), Script: Script(),
		Hash: "sha256-" + base64.StdEncoding.EncodeToString(sum[:]),
	}
	if v.Owner != "" {
		data.Owner = v.say(ownedBy, v.Owner)
	}
	if v.Facts() {
		data.Told = v.say(told)
	}
	for _, t := range v.tables() {
		about := aboutData{Title: v.say(t.title), Rows: t.rows}
		for _, c := range t.columns {
			about.Headers = append(about.Headers, v.say(c.header))
		}
		data.Tables = append(data.Tables, about)
	}
	b := bytes.NewBufferString("<!-- " + generated + " -->\n")
	err = parsed.ExecuteTemplate(b, "page", data)
	return b.Bytes(), err
}

// What the templates are filled with.
type (
	pageData struct {
		Lang, Title, Describe, Owner, Size, Legend, Told, Source, Hash string
		Matrix                                                         template.HTML
		Keys                                                           []keyData
		Tables                                                         []aboutData
		PageStyle, Style                                               template.CSS
		Script                                                         template.JS
	}
	aboutData struct {
		Title   string
		Headers []string
		Rows    [][]string
	}
	matrixData struct {
		Machine, Caption, Corner, Search, Found string
		Keys                                    []keyData
		Columns                                 []headData
		Rows                                    []rowData
	}
	keyData struct {
		Kind        kind
		Word, Means string
		Count       int
	}
	headData struct {
		State, Event, Name, Label, Means, Marks, Due string
	}
	rowData struct {
		Head  headData
		Cells []cellData
	}
	cellData struct {
		Kind              kind
		State, Event, Due string
		Ways              []wayData
	}
	wayData struct {
		Variant          string
		When             *whenData
		Gap, Then, Emits string
		Moves            bool
	}
	whenData struct {
		Text, Title string
		Guard       bool
	}
)

func (v view) htmlMatrix() matrixData {
	data := matrixData{
		Machine: v.Name, Corner: v.corner(), Search: v.say(search), Found: v.say(found), Keys: v.htmlKeys(),
		Caption: v.say(title, v.Name),
	}
	columns := v.columns()
	for _, h := range columns {
		data.Columns = append(data.Columns, v.htmlHead(h))
	}
	for i, h := range v.rows() {
		row := rowData{Head: v.htmlHead(h)}
		for j := range columns {
			row.Cells = append(row.Cells, v.htmlCell(v.cell(i, j)))
		}
		data.Rows = append(data.Rows, row)
	}
	return data
}

func (v view) htmlKeys() []keyData {
	var keys []keyData
	for _, g := range v.groups() {
		keys = append(keys, keyData{Kind: g.kind, Word: v.say(g.word), Means: v.say(g.means), Count: g.count})
	}
	return keys
}

func (v view) htmlHead(h head) headData {
	data := headData{Name: h.name, Label: h.label}
	if s := h.state; s != nil {
		data.State, data.Means, data.Due = s.Name, s.Describe, wording.Deadline(s.Deadline, v.lang)
		data.Marks = strings.Join(wording.Marks(s, v.lang), ", ")
	}
	if e := h.event; e != nil {
		data.Event, data.Means = e.Name, e.Describe
		if e.Callback {
			data.Marks = v.say(callback)
		}
	}
	return data
}

func (v view) htmlCell(c *model.Cell) cellData {
	data := cellData{Kind: kindOf(c), State: c.State.Name, Event: c.Event.Name, Due: v.due(c)}
	for _, w := range wording.Ways(c) {
		way := wayData{Variant: w.Variant, Gap: w.Gap(v.lang), Then: w.Then(v.lang), Moves: w.Transition != nil}
		if when := w.When(v.lang); when != "" {
			way.When = &whenData{Text: when}
			if g := w.Guard(); g != nil {
				way.When.Guard = true
				way.When.Title = strings.TrimPrefix(g.Name+": "+g.SQL.Source, ": ")
			}
		}
		if way.Moves && len(w.Emit) > 0 {
			way.Emits = v.say(emits, strings.Join(w.Emit, ", "))
		}
		data.Ways = append(data.Ways, way)
	}
	return data
}
