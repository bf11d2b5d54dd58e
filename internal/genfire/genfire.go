// Package genfire renders the test that fires a machine's cases against
// PostgreSQL: matrix_test.go in its package. The file holds the machine and the
// cases as data, and closures onto the generated calls; what is done with them
// is the business of the runtime's package fsmtest. Package genfire is pure: it
// reads no file and runs nothing.
package genfire

import (
	"fmt"
	"path"

	"github.com/pawl-go/pawl/internal/genfile"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/suite"
)

// Name is the name of the file.
const Name = "matrix_test.go"

const (
	runtimePath = "github.com/pawl-go/pawl/fsm"
	testPath    = runtimePath + "/fsmtest"
	pgxPath     = "github.com/jackc/pgx/v5"
)

// Input is what a test is made of.
type Input struct {
	Machine *model.Machine
	// Package and Migrations are the import paths of the machine's package and of
	// the one that embeds the migrations.
	Package, Migrations string
	// Cells are cases of one step; of two with the same states, event and variant
	// the first counts. Races are cases of two steps, the second in a second session.
	Cells, Races []*suite.Case
}

// Test renders the test of a machine, which must have a table. The error says
// that what was rendered is no Go, and shows it.
func Test(in Input) ([]byte, error) {
	g := &generator{Input: in, m: in.Machine, f: genfile.New(in.Machine.Package+"_test", in.Machine.Source)}
	g.tests()
	g.machine()
	g.migrate()
	content, err := g.f.Bytes()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path.Join(in.Machine.Package, Name), err)
	}
	return content, nil
}

type generator struct {
	Input
	m *model.Machine
	f *genfile.File
}

func (g *generator) runtime(name string) genfile.Qualified { return g.f.Import(runtimePath, name) }
func (g *generator) test(name string) genfile.Qualified    { return g.f.Import(testPath, name) }
func (g *generator) own(name string) genfile.Qualified     { return g.f.Import(g.Package, name) }

// tests renders the test functions.
func (g *generator) tests() {
	f := g.f
	f.Reserve("machine", "migrate")
	f.P("// TestMain drops the database of the tests when they are done.")
	f.P("func TestMain(m *", f.Import("testing", "M"), ") { ", g.test("Main"), "(m) }")
	f.P()
	for _, t := range []struct {
		name, does string
		left       bool
	}{
		{"Table", "writes to the tables past the calls, and sees that they refuse what no call may do", false},
		{"Matrix", "fires every cell of the table, and every way of those with guards", false},
		{"Races", "fires every pair of events that both write in one state, from two sessions at once", len(g.Races) == 0},
		{"Batches", "fires every cell by a batch of one", len(g.m.Events) == 0},
		{"BatchRaces", "fires every such pair by batches of one", len(g.Races) == 0},
		{"Deadlines", "runs every sweep over rows that are due, and rows that are not", !g.m.Deadlines()},
		{"Create", "creates a row, again, and with other values", false},
		{"History", "reads pages of a row's history", false},
		{"Correct", "forces a row from each state into each", false},
		{"Absent", "fires every event at a row that is not there, and with impossible values", len(g.m.Events) == 0},
		{"BatchAbsent", "fires them by a batch of one", len(g.m.Events) == 0},
	} {
		if t.left {
			continue
		}
		f.Comment("Test"+t.name, t.does+".")
		f.P("func Test", t.name, "(t *", f.Import("testing", "T"), ") { ", g.test(t.name), "(t, &machine) }")
		f.P()
	}
}

// migrate renders the function that migrates the tests' database.
func (g *generator) migrate() {
	f := g.f
	f.P("// migrate brings the database of the tests to the version of the migrations.")
	f.P("func migrate(ctx ", f.Import("context", "Context"), ", url string) error {")
	f.P("config, err := ", f.Import(pgxPath, "ParseConfig"), "(url)")
	f.P("if err != nil {")
	f.P("return err")
	f.P("}")
	f.P("db := ", f.Import(pgxPath+"/stdlib", "OpenDB"), "(*config)")
	f.P("defer func() { _ = db.Close() }()")
	f.P("provider, err := ", f.Import("github.com/pressly/goose/v3", "NewProvider"), "(", f.Import("github.com/pressly/goose/v3", "DialectPostgres"), ", db, ", f.Import(g.Migrations, "FS"), ")")
	f.P("if err != nil {")
	f.P("return err")
	f.P("}")
	f.P("_, err = provider.Up(ctx)")
	f.P("return err")
	f.P("}")
}
