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
	if err := fill(&in); err != nil {
		return gengo.File{}, err
	}
	content, err := genfire.Test(in)
	return gengo.File{Name: genfire.Name, Content: content}, err
}

// fill gives the test its cases and races: those of the suites, or plain ones
// instead of suites that are too large.
func fill(in *genfire.Input) error {
	in.Cells, in.Races = genfire.Plain(in.Machine)
	maker := suite.For(in.Machine)
	cells, err := made(maker, "all-cells")
	if err != nil || cells == nil {
		return err
	}
	guards, err := made(maker, "guards")
	if err != nil {
		return err
	}
	in.Cells = slices.Concat(cells, guards)
	races, err := made(maker, "races")
	if races != nil {
		in.Races = races
	}
	return err
}

// made are the cases of a suite; nil for one that is too large.
func made(maker *suite.Maker, name string) ([]*suite.Case, error) {
	s, err := maker.Make(name, genfire.MaxCases)
	if large := (*suite.LimitError)(nil); errors.As(err, &large) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return append([]*suite.Case{}, s.Cases...), nil
}
