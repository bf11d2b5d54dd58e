package check

import (
	"strings"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

// maps reads what the words of outside systems mean.
func (c *checker) maps(top *syntax.Mapping) {
	entries, _ := c.section(top, "maps", "")
	idents := idents{c, "map", make(map[string]string)}
	reached := make(map[*model.Event]bool)
	for _, e := range entries {
		c.clear(e.Key)
		if !c.lowerName(e.Key, "map", maxBase) {
			continue
		}
		m := &model.Map{Name: e.Key.Text, Pos: e.Key.Pos, Ident: c.exported(e.Key, "map")}
		idents.take(m.Pos, m.Name, m.Ident)
		words := c.mapping(e.Value, "a map")
		if words == nil {
			c.gaps = true
			continue
		}
		if len(words.Entries) == 0 {
			c.errorf(e.Key.Pos, CodeMissing, "map %s is empty; write the words of the outside system and their events, as in TRADE_SUCCESS: payment_succeeded", quote(m.Name))
		}
		for _, w := range words.Entries {
			if v, ok := c.mapped(w); ok {
				reached[v.Event] = true
				m.Values = append(m.Values, v)
			}
		}
		c.machine.Maps = append(c.machine.Maps, m)
	}
	if len(c.machine.Maps) == 0 || c.gaps {
		return
	}
	for _, e := range c.machine.Events {
		if e.Callback && !reached[e] {
			c.warnf(e.Pos, CodeUnmapped, "event %s comes from outside, but no word of %s leads to it; map a word to it", quote(e.Name), mapNames(c.machine.Maps))
		}
	}
}

// mapped reads one word of an outside system.
func (c *checker) mapped(w syntax.Entry) (model.MapValue, bool) {
	c.clear(w.Key)
	v := model.MapValue{Word: w.Key.Text, Pos: w.Key.Pos}
	if !c.printableName(w.Key, "word") {
		return v, false
	}
	if fields := w.Value.AsMapping(); fields != nil {
		c.keys(fields, "kept")
		n := fields.Get("keep")
		if s := n.AsScalar(); s == nil || n.IsNull() || strings.TrimSpace(s.Text) == "" {
			c.errorf(w.Key.Pos, CodeMissing, "word %s does not say why it moves nothing; write %s: {keep: the customer has not paid yet}", quote(v.Word), w.Key.Text)
			return v, false
		}
		v.Keep = strings.TrimSpace(n.AsScalar().Text)
		return v, true
	}
	if w.Value.IsNull() {
		c.errorf(w.Key.Pos, CodeMissing, "word %s has no event; write one, or {keep: why it moves nothing}", quote(v.Word))
		return v, false
	}
	s := c.nameValue(w.Value, "the event of a word")
	if s == nil {
		return v, false
	}
	if v.Event = c.event(s); v.Event == nil {
		return v, false
	}
	if !v.Event.Callback {
		c.errorf(s.Pos, CodeMapEvent, "word %s comes from outside, but event %s does not; write source: callback for it, so that every cell is decided", quote(v.Word), quote(v.Event.Name))
	}
	return v, true
}

func mapNames(maps []*model.Map) string {
	names := make([]string, len(maps))
	for i, m := range maps {
		names[i] = m.Name
	}
	return some(names)
}
