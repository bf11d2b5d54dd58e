package hostile

import (
	"hash/crc32"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// judged is a definition and what is made of it.
type judged struct {
	rendered
	queries, migration []statement
	program            program
}

// judge renders a definition and holds what it becomes to what it may be; nil for
// one that is refused.
func judge(t testing.TB, source []byte) *judged {
	t.Helper()
	m, problems := checked(t, source)
	twice := crc32.ChecksumIEEE(source)%8 == 0 // of some, since it takes as long again
	if m == nil {
		if twice {
			again, repeated := checked(t, source)
			require.Nil(t, again)
			require.Equal(t, problems.Sorted(), repeated.Sorted())
		}
		return nil
	}
	r := render(t, m)
	if twice {
		again, _ := checked(t, source)
		require.NotNil(t, again)
		repeated := render(t, again)
		require.Equal(t, string(r.migration), string(repeated.migration))
		require.Equal(t, string(r.queries), string(repeated.queries))
		require.Equal(t, r.packages, repeated.packages)
	}
	j := &judged{rendered: r, program: holdsGo(t, r)}
	if m.Table != nil {
		j.queries, j.migration = holdsQueries(t, r), holdsMigration(t, r)
	}
	return j
}

// bases are the definitions as they are, judged.
var bases sync.Map

func base(t testing.TB, d definition) *judged {
	t.Helper()
	if j, ok := bases.Load(d.name); ok {
		return j.(*judged)
	}
	j := judge(t, d.source)
	require.NotNil(t, j, d.name)
	bases.Store(d.name, j)
	return j
}

// hold compares what a changed definition becomes with what the definition does.
// What people read changes no statement and no line of Go; a name changes constants
// and what is made of it.
func hold(t testing.TB, d definition, changes ...change) {
	t.Helper()
	was, is := base(t, d), judge(t, d.mutated(t, changes...))
	if is == nil {
		return
	}
	changed := func(kinds ...kind) bool {
		return !slices.ContainsFunc(changes, func(c change) bool {
			return c.way == everyone && !onlyKinds(d, c, kinds) || !slices.Contains(kinds, d.places[c.place].kind())
		})
	}
	emptied := slices.ContainsFunc(changes, func(c change) bool { return strings.TrimSpace(c.way.of(d.places[c.place].text, c.text)) == "" })
	switch {
	case emptied: // what is not said is left out
	case changed(prose):
		require.Equal(t, string(was.rendered.migration), string(is.rendered.migration))
		require.Equal(t, shapes(was.queries, true), shapes(is.queries, true))
		require.Equal(t, was.program, is.program)
	case changed(prose, name):
		require.Equal(t, shapes(was.migration, false), shapes(is.migration, false))
		require.Equal(t, shapes(was.queries, false), shapes(is.queries, false))
		require.Equal(t, was.program.imports, is.program.imports)
		require.Equal(t, was.program.decl, is.program.decl)
	case changed(prose, name, sqlText):
		require.Equal(t, kinds(was.migration), kinds(is.migration))
		require.Equal(t, kinds(was.queries), kinds(is.queries))
		require.Equal(t, was.program.decl, is.program.decl)
	}
}

// onlyKinds reports whether all places with the text of a change are of some kinds,
// or are mentions of a name.
func onlyKinds(d definition, c change, kinds []kind) bool {
	for _, p := range d.places {
		if p.text == d.places[c.place].text && !slices.Contains(kinds, p.kind()) && (p.key || !slices.Contains(kinds, name)) {
			return false
		}
	}
	return true
}

func kinds(all []statement) []string {
	var out []string
	for _, s := range all {
		out = append(out, s.kind+" "+strings.Join(s.writes, ", "))
	}
	return out
}

// FuzzDefinition puts texts into the places of definitions, two at a time.
func FuzzDefinition(f *testing.F) {
	all, err := definitions()
	require.NoError(f, err)
	for _, d := range all {
		base(f, d)
	}
	throw(f, all, 8<<10, hold)
}

// throw puts texts of up to so many bytes into the definitions, two at a time, and has
// what comes of it looked at. What is made once, the parser too, is to be there before:
// one execution that takes 10 s passes for a hang, and all are slow on a busy machine.
func throw(f *testing.F, all []definition, most int, look func(testing.TB, definition, ...change)) {
	require.NotEmpty(f, all)
	for i, text := range some(slices.Concat(texts, expressions)) {
		f.Add(uint8(i%len(all)), uint16(i*7), uint8(i), text, uint16(i*13+5), uint8(i/2), texts[(i*3)%len(texts)])
	}
	f.Fuzz(func(t *testing.T, which uint8, place uint16, how uint8, text string, place2 uint16, how2 uint8, text2 string) {
		if len(text)+len(text2) > most {
			return
		}
		d := all[int(which)%len(all)]
		look(t, d, change{int(place) % len(d.places), way(how) % ways, text}, change{int(place2) % len(d.places), way(how2) % ways, text2})
	})
}

// Texts in the places of their kind that a definition has, with -every each in each.
func TestEveryTextInEveryPlace(t *testing.T) {
	t.Parallel()
	all, err := definitions()
	require.NoError(t, err)
	at := slices.IndexFunc(all, func(d definition) bool { return d.name == "rich.yaml" })
	d, accepted := all[at], 0
	for i, p := range d.places {
		with, w := texts, behind
		switch p.kind() {
		case sqlText:
			with, w = expressions, instead
		case name:
			w = everyone
		case prose:
			w = instead
		default:
			continue
		}
		for n, text := range with {
			if !*every && (n+i)%101 != 0 {
				continue
			}
			hold(t, d, change{i, w, text})
			accepted++
		}
	}
	require.Positive(t, accepted)
}
