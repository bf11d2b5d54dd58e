package compare

import (
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

func (d *differ) maps() {
	for _, p := range merged(d.old.Maps, d.new.Maps, func(o, n *model.Map) bool { return o.Name == n.Name }) {
		switch o, n := p.old, p.new; {
		case o == nil:
			d.add(MapAdded, "maps."+n.Name, diag.Position{}, n.Pos, Minor, "map "+n.Name+" is new", callers("the package reads the words of "+n.Name))
		case n == nil:
			d.add(MapRemoved, "maps."+o.Name, o.Pos, diag.Position{}, Major, "map "+o.Name+" is removed",
				breaks(callers("the package does not read the words of "+o.Name+" any more")))
		default:
			for _, w := range merged(pointers(o.Values), pointers(n.Values), func(a, b *model.MapValue) bool { return a.Word == b.Word }) {
				d.word(n.Name, w.old, w.new)
			}
		}
	}
}

func pointers(values []model.MapValue) []*model.MapValue {
	list := make([]*model.MapValue, len(values))
	for i := range values {
		list[i] = &values[i]
	}
	return list
}

func meaning(v *model.MapValue) string {
	if v.Event == nil {
		return "nothing (keep)"
	}
	return v.Event.Name
}

func (d *differ) word(name string, o, n *model.MapValue) {
	switch {
	case o == nil:
		d.add(WordAdded, "maps."+name+"."+n.Word, diag.Position{}, n.Pos, Minor, "word "+n.Word+" of map "+name+" is new and means "+meaning(n),
			callers("it was unknown, so the row was kept and the word reported"))
		return
	case n == nil:
		d.add(WordRemoved, "maps."+name+"."+o.Word, o.Pos, diag.Position{}, Major, "word "+o.Word+" of map "+name+" is removed; it meant "+meaning(o),
			breaks(callers("it is unknown now: the row is kept and the word reported")))
		return
	}
	path := "maps." + name + "." + n.Word
	was, is := meaning(o), meaning(n)
	switch {
	case was == is && o.Keep != n.Keep:
		d.add(WordKeep, path, o.Pos, n.Pos, Patch, "word "+n.Word+" of map "+name+" is kept for another reason")
	case was != is && o.Event == nil:
		d.add(WordChanged, path, o.Pos, n.Pos, Minor, "word "+n.Word+" of map "+name+" means "+is+"; it meant "+was,
			callers("it moved nothing"), programs("they still keep the row"))
	case was != is:
		d.add(WordChanged, path, o.Pos, n.Pos, Major, "word "+n.Word+" of map "+name+" means "+is+"; it meant "+was,
			breaks(callers("what the outside system says moves rows otherwise than before")))
	}
}
