package hostile

import (
	"path"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/pipeline"
	"github.com/pawl-go/pawl/internal/suite"
)

// tried are the suites that are made of a changed machine.
var tried = []string{"n-plus", "races", "guards"}

// paper makes all that people and their tools get of a machine, holds each file to
// its format, and returns what they are made of.
func paper(t testing.TB, m *model.Machine, problems *diag.List) vocabulary {
	t.Helper()
	v := vocabulary{}
	look := func(files []pipeline.Material, err error) {
		t.Helper()
		require.NoError(t, err)
		for _, f := range files {
			require.Equal(t, path.Base(f.Name), f.Name)
			v.markup(t, f.Name, f.Content)
			holdsDiagram(t, f.Name, f.Content)
			switch path.Ext(f.Name) {
			case ".csv":
				holdsCSV(t, f.Name, f.Content)
			case ".xlsx":
				holdsXLSX(t, f.Name, f.Content)
			}
		}
	}
	for _, lang := range []string{"en", "zh"} {
		for _, format := range pipeline.DiagramFormats() {
			look(pipeline.Diagram(m, format, pipeline.DiagramOptions{Lang: lang}))
		}
		for _, format := range pipeline.MatrixFormats() {
			look(pipeline.Matrix(m, format, lang))
		}
	}
	for _, name := range tried {
		for _, format := range pipeline.TestFormats() {
			files, err := pipeline.Tests(m, name, format, "en", 1000)
			look(files, err)
			if format == "gherkin" {
				s, err := suite.Make(m, name, 1000)
				require.NoError(t, err)
				holdsFeature(t, files[0].Name, files[0].Content, len(s.Cases))
			}
		}
	}
	set, err := pipeline.Docs([]*model.Machine{m}, problems, nil)
	require.NoError(t, err)
	for _, name := range set.Paths() {
		content, _ := set.Get(name)
		look([]pipeline.Material{{Name: path.Base(name), Content: content}}, nil)
	}
	return v
}

// shown are the definitions of which all pages are made in no time.
var shown = sync.OnceValues(func() ([]definition, error) { return read("testdata/pages/*.yaml") })

var vocabularies sync.Map

// words are what the pages of a definition are made of.
func words(t testing.TB, d definition) vocabulary {
	t.Helper()
	if v, ok := vocabularies.Load(d.name); ok {
		return v.(vocabulary)
	}
	m, problems := checked(t, d.source)
	require.NotNil(t, m, "%s: %v", d.name, problems.Sorted())
	v := paper(t, m, problems)
	vocabularies.Store(d.name, v)
	return v
}

// holdPages compares what the pages of a changed definition are made of with what
// those of the definition are.
func holdPages(t testing.TB, d definition, changes ...change) {
	t.Helper()
	was := words(t, d)
	m, problems := checked(t, d.mutated(t, changes...))
	if m == nil {
		return
	}
	paper(t, m, problems).within(t, was)
}

// FuzzPages puts texts into definitions, and looks at all that is made of them for
// people.
func FuzzPages(f *testing.F) {
	all, err := shown()
	require.NoError(f, err)
	for _, d := range all {
		words(f, d)
	}
	throw(f, all, 4<<10, holdPages)
}
