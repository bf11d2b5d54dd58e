// Package pipeline knows all stages of generation: it reads a project, checks
// its definitions, and renders everything into one file set. It writes
// nothing; what happens with the set is the caller's business.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/pawl-go/pawl/internal/bypass"
	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/fileset"
	"github.com/pawl-go/pawl/internal/gengo"
	"github.com/pawl-go/pawl/internal/genroles"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlcgen"
	"github.com/pawl-go/pawl/internal/syntax"
)

// Folders of a project, relative to its root.
const (
	Definitions = "definitions"
	Migrations  = "migrations"
	Queries     = "queries"
	Gen         = "gen"
)

// Owned is what generation looks after in a project.
func Owned() fileset.Owned {
	return fileset.Owned{Dirs: []string{Gen, Queries}, AppendOnly: []string{Migrations}, Unmarked: unmarked, Apart: []string{citusFile}}
}

// Codes of problems that only the whole pipeline sees.
const (
	// CodeSQL: the SQL analyser refuses a fragment of a definition, or a
	// hand-written query or migration.
	CodeSQL diag.Code = "FSM091"
)

// Rules documents every code, in order.
func Rules() []diag.Rule {
	rules := slices.Concat(syntax.Rules(), check.Rules(), gensql.Rules(), bypass.Rules(), []diag.Rule{{
		Code: CodeSQL, Severity: diag.Error, Short: "SQL refused",
		Cause: "The SQL analyser refuses a fragment of a definition, or a hand-written query or migration: a function or type that does not exist, for example.",
		Fix:   "Correct the SQL at the place named.",
	}})
	slices.SortStableFunc(rules, func(a, b diag.Rule) int { return strings.Compare(string(a.Code), string(b.Code)) })
	return rules
}

// ErrNoDefinitions says that there is nothing to work from.
var ErrNoDefinitions = errors.New("no definitions: no .yaml file found")

// Lint reads and checks the definitions under the given files or folders of
// fsys, and returns the usable machines in order of file names. Every problem
// is added to problems. The error is of reading: ErrNoDefinitions, ErrNotRegular,
// ErrLinkedFolder, or the file system's; or it is that of ctx, which is looked
// at between files.
func Lint(ctx context.Context, fsys fs.FS, paths []string, problems *diag.List) ([]*model.Machine, error) {
	definitions, err := Read(ctx, fsys, paths)
	if err != nil {
		return nil, err
	}
	return Check(ctx, definitions, problems)
}

// Definition is a file of a definition as it was read.
type Definition struct {
	// Name is its path, with forward slashes.
	Name string
	// Text is its content, cut where no definition goes on.
	Text []byte
}

// Check is Lint of definitions that were read; its error is that of ctx.
func Check(ctx context.Context, definitions []Definition, problems *diag.List) ([]*model.Machine, error) {
	var machines []*model.Machine
	for _, d := range definitions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if m := check.Run(syntax.Parse(d.Name, d.Text, problems), problems); m != nil {
			machines = append(machines, m)
		}
	}
	check.Set(machines, problems)
	return machines, nil
}

// Generate renders everything of the project whose root is fsys. With errors
// among the problems the set is nil: nothing is to be written. The error says
// that generation could not be tried or is broken: it is not the definitions'
// fault.
func Generate(ctx context.Context, fsys fs.FS, problems *diag.List) (*fileset.Set, error) {
	set, _, err := GenerateWaiting(ctx, fsys, problems)
	return set, err
}

// GenerateWaiting is Generate, and returns what then waits for the programs of
// before to be gone; none when nothing does, or the set is nil.
func GenerateWaiting(ctx context.Context, fsys fs.FS, problems *diag.List, options ...Option) (*fileset.Set, []Waiting, error) {
	return generate(ctx, fsys, way{step: difference}.with(options), problems)
}

// Advance is GenerateWaiting for when the programs generated before the newest
// definition are gone: it renders the migrations that take the next step, and
// programs to match. A definition that has changed since its newest migration
// is a problem. Where nothing waits, it renders nothing: ErrNothingWaits.
func Advance(ctx context.Context, fsys fs.FS, problems *diag.List, options ...Option) (*fileset.Set, []Waiting, error) {
	return generate(ctx, fsys, way{step: advance, must: true}.with(options), problems)
}

// way is how migrations come about, and whether there must be one; over what the
// tables are distributed, if anything; and which roles there are.
type way struct {
	step         next
	must         bool
	distribution Distribution
	// roles are those to make, nil to go by the file that is there.
	roles *genroles.Names
}

func generate(ctx context.Context, fsys fs.FS, to way, problems *diag.List) (*fileset.Set, []Waiting, error) {
	module, err := modulePath(fsys)
	if err != nil {
		return nil, nil, err
	}
	machines, err := Lint(ctx, fsys, []string{Definitions}, problems)
	if err != nil {
		return nil, nil, err
	}
	distributable(to.distribution, machines, problems)
	if problems.Errors() > 0 {
		return nil, nil, nil
	}
	set := fileset.New()
	schema, err := Schema()
	if err != nil {
		return nil, nil, err
	}
	if err := set.Add(schemaFile, schema); err != nil {
		return nil, nil, err
	}
	l, err := migrations(fsys, machines, set, to.step, problems)
	if err != nil || problems.Errors() > 0 {
		return nil, nil, err
	}
	if to.must && l.added == 0 {
		return nil, nil, ErrNothingWaits
	}
	to.roles, err = to.rolesFor(fsys)
	if err != nil {
		return nil, nil, err
	}
	if err := render(ctx, fsys, module, machines, l, set, *to.roles, problems); err != nil || problems.Errors() > 0 {
		return nil, nil, err
	}
	if err := distribute(to.distribution, machines, l, set); err != nil {
		return nil, nil, err
	}
	return set, l.waiting(machines), nil
}

// render adds everything but the migrations to the set.
func render(ctx context.Context, fsys fs.FS, module string, machines []*model.Machine, l *landed, set *fileset.Set, roles genroles.Names, problems *diag.List) error {
	db := sqlcgen.Input{Migrations: append(standIns(machines, l), l.files...)}
	var err error
	if db.Queries, err = queries(fsys, machines, l, set); err != nil {
		return err
	}
	tested, err := embeds(fsys)
	if err != nil {
		return err
	}
	packages := packagesOf(machines, module, tested)
	if len(db.Queries) > 0 {
		if err := database(ctx, machines, db, l, set, roles, problems); err != nil || problems.Errors() > 0 {
			return err
		}
	}
	for i, p := range packages() {
		if p.err != nil {
			return p.err
		}
		for _, f := range p.files {
			if err := set.Add(path.Join(Gen, machines[i].Package, f.Name), f.Content); err != nil {
				return err
			}
		}
		for _, f := range p.paper {
			if err := set.Add(path.Join(Gen, machines[i].Package, f.Name), f.Content); err != nil {
				return err
			}
		}
	}
	return nil
}

// rendered is the Go package of one machine.
type rendered struct {
	files []gengo.File
	paper []Material
	err   error
}

// packagesOf renders the machines' packages, with their tests if they are to
// have some, while others work; what it returns waits for them. They are the same
// whatever becomes of sqlc.
func packagesOf(machines []*model.Machine, module string, tested bool) func() []rendered {
	packages := make([]rendered, len(machines))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i, m := range machines {
			p := &packages[i]
			if p.files, p.err = gengo.Package(m, path.Join(module, Gen, "db")); p.err != nil || !tested || m.Table == nil {
				continue
			}
			var test gengo.File
			test, p.err = matrix(m, module)
			p.files = append(p.files, test)
		}
		for i, m := range machines {
			if p := &packages[i]; p.err == nil {
				p.paper, p.err = paper(m, paperLang)
			}
		}
	}()
	return func() []rendered {
		<-done
		return packages
	}
}

// modulePath is the module of the project, where gen/db will be imported from.
func modulePath(fsys fs.FS) (string, error) {
	src, err := readRegular(fsys, "go.mod", math.MaxInt64)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("no go.mod here: run go mod init first, or generate at the module's root, see -C")
	}
	if err != nil {
		return "", err
	}
	module := modfile.ModulePath(src)
	if module == "" {
		return "", errors.New("go.mod names no module")
	}
	return module, nil
}

// queries renders the machines' queries and reads the hand-written ones beside
// them, since all of them become gen/db.
func queries(fsys fs.FS, machines []*model.Machine, l *landed, set *fileset.Set) ([]sqlcgen.File, error) {
	var files []sqlcgen.File
	for _, m := range machines {
		if m.Table == nil {
			continue
		}
		f := sqlcgen.File{Name: m.Name + ".sql", Content: gensql.Queries(m, l.schema(m.Name))}
		if err := set.Add(path.Join(Queries, f.Name), f.Content); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	written, err := sqlFiles(fsys, Queries)
	if err != nil {
		return nil, err
	}
	for _, f := range written {
		if _, ours := set.Get(path.Join(Queries, f.Name)); !ours && !strings.HasPrefix(string(f.Content), generatedSQL) {
			files = append(files, f)
		}
	}
	return files, nil
}

const generatedSQL = "-- Code generated by fsmgen. DO NOT EDIT."

// sqlFiles reads the .sql files of a folder, in order of names; none when
// there is no such folder.
func sqlFiles(fsys fs.FS, dir string) ([]sqlcgen.File, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var files []sqlcgen.File
	for _, e := range entries {
		if e.IsDir() || path.Ext(e.Name()) != ".sql" {
			continue
		}
		content, err := readRegular(fsys, path.Join(dir, e.Name()), math.MaxInt64)
		if err != nil {
			return nil, err
		}
		files = append(files, sqlcgen.File{Name: e.Name(), Content: content})
	}
	return files, nil
}

// database adds gen/db to the set. What sqlc finds wrong with a fragment of a
// definition becomes a problem there.
func database(ctx context.Context, machines []*model.Machine, in sqlcgen.Input, l *landed, set *fileset.Set, roles genroles.Names, problems *diag.List) error {
	var probes []gensql.Probe
	for _, m := range machines {
		probes = append(probes, gensql.Probes(m)...)
	}
	for _, p := range probes {
		in.Probes = append(in.Probes, p.SQL)
	}
	files, statements, issues, err := analyse(ctx, in, roles)
	if err != nil {
		return err
	}
	var ours []sqlcgen.Issue
	for _, issue := range issues {
		switch {
		case issue.Probe >= 0 && issue.Probe < len(probes):
			problems.Addf(probes[issue.Probe].Pos, CodeSQL, diag.Error, "%s", issue.Message)
		case issue.Folder == Migrations || issue.File != "" && !generatedFile(in, issue):
			problems.Addf(diag.Position{File: path.Join(issue.Folder, issue.File), Line: issue.Line, Col: issue.Col}, CodeSQL, diag.Error, "%s", issue.Message)
		default:
			ours = append(ours, issue)
		}
	}
	if len(ours) > 0 && problems.Errors() == 0 {
		return fmt.Errorf("sqlc refuses generated SQL, which is a fault of fsmgen: %+v", ours)
	}
	declaredTwice(machines, files, problems)
	if problems.Errors() == 0 {
		if files, err = withRoles(machines, l, files, statements, set, roles); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := set.Add(path.Join(Gen, "db", f.Name), f.Content); err != nil {
			return err
		}
	}
	return nil
}

// generatedFile reports whether the issue's file is one of ours.
func generatedFile(in sqlcgen.Input, issue sqlcgen.Issue) bool {
	for _, f := range slices.Concat(in.Migrations, in.Queries) {
		if f.Name == issue.File {
			return strings.HasPrefix(string(f.Content), generatedSQL)
		}
	}
	return true
}
