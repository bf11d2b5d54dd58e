package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/fileset"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlcgen"
)

// ErrNoCore says that the project's migrations lack the tables that all
// machines share.
var ErrNoCore = errors.New("the core migration is missing: run fsmgen init first")

// ErrNothingWaits says that no machine has anything that waits for programs of
// before to be gone.
var ErrNothingWaits = errors.New("nothing waits for programs of before")

// landed is what the project's migrations have made so far.
type landed struct {
	files []sqlcgen.File // in the order in which goose runs them
	// newest holds, for each machine, what its newest migration made, and in
	// which file.
	newest map[string]gensql.Schema
	// made holds, for each machine, what all of its migrations made, in order.
	made map[string][]gensql.Schema
	// first holds, for each table, what the first migration of it made.
	first map[string]gensql.Schema
	in    map[string]string
	core  bool
	last  uint64
	added int // how many of the files are new
}

func readLanded(fsys fs.FS) (*landed, error) {
	files, err := sqlFiles(fsys, Migrations)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(files, func(a, b sqlcgen.File) int { return cmp.Compare(number(a.Name), number(b.Name)) })
	l := &landed{files: files, newest: map[string]gensql.Schema{}, made: map[string][]gensql.Schema{}, first: map[string]gensql.Schema{}, in: map[string]string{}}
	for _, f := range files {
		l.core = l.core || bytes.Contains(f.Content, []byte(gensql.CoreMark))
		schemas, err := gensql.Embedded(f.Content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path.Join(Migrations, f.Name), err)
		}
		for _, s := range schemas {
			l.note(s, f.Name)
		}
		l.last = max(l.last, number(f.Name))
	}
	return l, nil
}

// note takes down what a migration made.
func (l *landed) note(s gensql.Schema, file string) {
	l.newest[s.Machine], l.in[s.Machine] = s, file
	l.made[s.Machine] = append(l.made[s.Machine], s)
	if _, there := l.first[s.Table]; !there {
		l.first[s.Table] = s
	}
}

func (l *landed) schema(machine string) *gensql.Schema {
	if s, ok := l.newest[machine]; ok {
		return &s
	}
	return nil
}

// renamed reports a machine that is new and takes the table of one that was
// migrated before.
func (l *landed) renamed(m *model.Machine, problems *diag.List) bool {
	names := slices.Sorted(maps.Keys(l.newest))
	for _, name := range names {
		if l.newest[name].Table == m.Table.Name && name != m.Name {
			problems.Addf(m.Pos, gensql.CodeMigration, diag.Error,
				"the table %q is that of machine %q, made in %s: a machine that is renamed would lose its history and facts; migrate it by hand (see fsmgen rules FSM090)",
				m.Table.Name, name, path.Join(Migrations, l.in[name]))
			return true
		}
	}
	return false
}

// next renders the migrations that bring a machine from what has landed, which
// is nil for a new one, to where it shall be.
type next func(m *model.Machine, prev *gensql.Schema, problems *diag.List) [][]byte

// difference is what a changed definition needs.
func difference(m *model.Machine, prev *gensql.Schema, problems *diag.List) [][]byte {
	return gensql.Migrations(m, prev, problems)
}

// advance is what may come when the programs of before are gone.
func advance(m *model.Machine, prev *gensql.Schema, problems *diag.List) [][]byte {
	if prev == nil {
		problems.Addf(m.Pos, gensql.CodeNotMigrated, diag.Error, "%q has no migration yet: run fsmgen generate and deploy it first", m.Name)
		return nil
	}
	return gensql.Advance(m, *prev, problems)
}

// migrations reads the migrations there are, adds to the set those that the
// machines need, and returns what has landed with them, in order.
func migrations(fsys fs.FS, machines []*model.Machine, set *fileset.Set, to next, problems *diag.List) (*landed, error) {
	l, err := readLanded(fsys)
	if err != nil {
		return nil, err
	}
	for _, m := range machines {
		if m.Table == nil {
			continue
		}
		if !l.core {
			return nil, ErrNoCore
		}
		prev := l.schema(m.Name)
		if prev == nil && l.renamed(m, problems) {
			continue
		}
		gensql.FormerNames(m, l.made[m.Name], problems)
		for _, content := range to(m, prev, problems) {
			if err := l.add(m, content, set); err != nil {
				return nil, err
			}
		}
	}
	return l, nil
}

// add lands one more migration of a machine.
func (l *landed) add(m *model.Machine, content []byte, set *fileset.Set) error {
	f := sqlcgen.File{Name: fmt.Sprintf("%05d_%s.sql", l.last+1, m.Name), Content: content}
	schemas, err := gensql.Embedded(content)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	if err := set.Add(path.Join(Migrations, f.Name), f.Content); err != nil {
		return err
	}
	for _, s := range schemas {
		l.note(s, f.Name)
	}
	l.last++
	l.added++
	l.files = append(l.files, f)
	return nil
}

// Waiting is what the database does for programs generated before, and for
// them alone, until [Advance] ends it.
type Waiting struct {
	Machine string
	// What is one thing each, in words.
	What []string
}

// waiting lists what waits, by machine in order; none when nothing does.
func (l *landed) waiting(machines []*model.Machine) []Waiting {
	var list []Waiting
	for _, m := range machines {
		if s := l.schema(m.Name); m.Table != nil && s != nil {
			if what := s.Waits(); len(what) > 0 {
				list = append(list, Waiting{m.Name, what})
			}
		}
	}
	return list
}

// Past returns what the project's migrations made of each machine that its
// definition says no longer, by the machine's name; nothing for one without
// migrations. The error is of reading them.
func Past(fsys fs.FS) (map[string]model.Past, error) {
	l, err := readLanded(fsys)
	if err != nil {
		return nil, err
	}
	past := map[string]model.Past{}
	for machine, made := range l.made {
		past[machine] = gensql.PastOf(made)
	}
	return past, nil
}

// Marks returns, for each machine with a table, the line by which a migration
// says what it made: what a hand-written one must carry, so that the next
// difference starts from there. Without names it returns all; a name that is
// no machine with a table is an error.
func Marks(ctx context.Context, fsys fs.FS, names []string, problems *diag.List) ([]string, error) {
	machines, err := Lint(ctx, fsys, []string{Definitions}, problems)
	if err != nil || problems.Errors() > 0 {
		return nil, err
	}
	l, err := readLanded(fsys)
	if err != nil {
		return nil, err
	}
	var marks []string
	found := map[string]bool{}
	for _, m := range machines {
		if m.Table == nil || len(names) > 0 && !slices.Contains(names, m.Name) {
			continue
		}
		found[m.Name] = true
		mark, err := gensql.Mark(m, l.schema(m.Name))
		if err != nil {
			return nil, err
		}
		marks = append(marks, mark)
	}
	for _, name := range names {
		if !found[name] {
			return nil, fmt.Errorf("there is no machine %q with a table", name)
		}
	}
	return marks, nil
}

// number is goose's version of a migration: the digits before the first
// underscore, 0 for a file that is none.
func number(name string) uint64 {
	digits, _, _ := strings.Cut(name, "_")
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil {
		return 0
	}
	return n
}
