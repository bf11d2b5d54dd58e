package pipeline

import (
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/genfire"
	"github.com/pawl-go/pawl/internal/gengo"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/suite"
)

// embeds reports whether the project's migrations are a Go package with a
// variable FS, as init makes it: the tests that run themselves migrate by it.
func embeds(fsys fs.FS) (bool, error) {
	entries, err := fs.ReadDir(fsys, Migrations)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if e.IsDir() || path.Ext(e.Name()) != ".go" || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		src, err := readRegular(fsys, path.Join(Migrations, e.Name()), math.MaxInt64)
		if err != nil {
			return false, err
		}
		f, err := parser.ParseFile(token.NewFileSet(), e.Name(), src, parser.SkipObjectResolution)
		if err == nil && slices.Contains(topLevel(f), "FS") {
			return true, nil
		}
	}
	return false, nil
}

// matrix renders the test that fires the machine's cases.
func matrix(m *model.Machine, module string) (gengo.File, error) {
	in := genfire.Input{Machine: m, Package: path.Join(module, Gen, m.Package), Migrations: path.Join(module, Migrations)}
	if len(m.States)*len(m.Events) > genfire.MaxCells {
		in.Cells, in.Races = genfire.Plain(m)
	} else {
		in.Cells = slices.Concat(suite.AllCells(m).Cases, suite.Guards(m).Cases)
		in.Races = suite.Races(m).Cases
	}
	content, err := genfire.Test(in)
	return gengo.File{Name: genfire.Name, Content: content}, err
}
