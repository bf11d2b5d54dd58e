package studio

import (
	"errors"
	"html/template"
	"strconv"
	"sync"

	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
)

// pictures are those of one definition that pages mark or fill in. Each is laid out when
// it is first asked for, and goes with the definition; there can be no more than its
// languages and states make.
type pictures struct {
	machine *model.Machine

	mu   sync.Mutex
	kept map[pictureOf]func() (*gensvg.Drawing, error)
}

// pictureOf names a picture.
type pictureOf struct {
	lang string
	// live is one with places for figures, and without a legend.
	live bool
	// slice is the state that is shown with its neighbours alone; nil for the whole.
	slice *model.State
}

// marked returns a picture with marks, which may be nil; empty for a machine that is too
// large for one.
func (p *pictures) marked(of pictureOf, marks *gensvg.Marks) (template.HTML, error) {
	p.mu.Lock()
	lay, ok := p.kept[of]
	if !ok {
		if p.kept == nil {
			p.kept = map[pictureOf]func() (*gensvg.Drawing, error){}
		}
		lay = sync.OnceValues(func() (*gensvg.Drawing, error) { return of.lay(p.machine) })
		p.kept[of] = lay
	}
	p.mu.Unlock()
	drawing, err := lay()
	return shown(drawing, marks), err
}

// shown is a drawing with marks, empty for none.
func shown(d *gensvg.Drawing, marks *gensvg.Marks) template.HTML {
	if d == nil {
		return ""
	}
	return template.HTML(d.Marked(marks)) // gensvg has escaped it, and marks are our own
}

// lay lays the picture out, nil for a machine that is too large for one.
func (of pictureOf) lay(m *model.Machine) (*gensvg.Drawing, error) {
	options := gensvg.Options{Lang: of.lang, ID: m.Name, NoTitle: true}
	if of.slice != nil {
		options.ID += "-slice" + strconv.Itoa(of.slice.Index)
		return gensvg.Draw(picture.Of(m).Slice(of.slice), options)
	}
	if of.live {
		options.ID += "-live"
		options.NoLegend, options.Figures = true, true
	}
	return layWhole(m, options)
}

// layWhole lays out a machine, of a large one the overview; nil for one that is too large
// for a picture.
func layWhole(m *model.Machine, o gensvg.Options) (*gensvg.Drawing, error) {
	p := picture.Of(m)
	if len(m.States) > picture.Large {
		p = p.Overview()
	}
	d, err := gensvg.Draw(p, o)
	if large := (*gensvg.TooLarge)(nil); errors.As(err, &large) {
		return nil, nil
	}
	return d, err
}
