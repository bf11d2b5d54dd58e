package gengo

import (
	"fmt"
	"strconv"

	"github.com/pawl-go/pawl/internal/genfile"
	"github.com/pawl-go/pawl/internal/model"
)

// maps renders, for each map, the function that says what a word means and the
// one that lists the words.
func (g *generator) maps(f *genfile.File) {
	f.P("// Kept is what a map says of a word that is known and moves nothing: fire no event, keep the row as it is. It is no")
	f.P("// event of the machine.")
	f.P("const Kept Event = \"\"")
	f.P()
	for _, m := range g.m.Maps {
		g.meaning(f, m)
		g.words(f, m)
	}
}

// meaning renders the switch over the words, each of which has a case of its own.
func (g *generator) meaning(f *genfile.File, m *model.Map) {
	text := fmt.Sprintf("returns the event that a status word of %s means, or [Kept] for a word that moves nothing. A word that "+
		"the definition does not list is an error, a *fsm.UnknownWordError that is fsm.ErrUnknownWord too: keep the row as it is "+
		"and report the word. Words are compared exactly, letter case and blanks included.", m.Name)
	f.Comment(m.Ident+"Event", text)
	f.P("func ", m.Ident, "Event(word string) (Event, error) {")
	f.P("switch word {")
	for _, v := range m.Values {
		f.P("case ", strconv.Quote(v.Word), ":")
		if v.Event == nil {
			f.Comment("", v.Keep)
			f.P("return Kept, nil")
			continue
		}
		f.P("return ", eventConst(v.Event), ", nil")
	}
	f.P("}")
	f.P("return Kept, &", f.Import(RuntimePath, "UnknownWordError"), "{Machine: ", strconv.Quote(g.m.Name), ", Map: ", strconv.Quote(m.Name), ", Word: word}")
	f.P("}")
	f.P()
}

func (g *generator) words(f *genfile.File, m *model.Map) {
	f.Comment(m.Ident+"Words", "returns the words of "+m.Name+" that the machine knows, in the order of the definition.")
	f.P("func ", m.Ident, "Words() []string {")
	f.P("return []string{")
	for _, v := range m.Values {
		f.P(strconv.Quote(v.Word), ",")
	}
	f.P("}")
	f.P("}")
	f.P()
}
