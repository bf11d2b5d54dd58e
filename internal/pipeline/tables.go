package pipeline

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/fileset"
	"github.com/pawl-go/pawl/internal/tables"
)

// TablePart is one of the sets of tables that a project may take.
type TablePart struct {
	Name, Describe string
	// In is the migration of the project that makes it; empty for none.
	In string
}

// TableParts lists the parts, and which of them the project has.
func TableParts(fsys fs.FS) ([]TablePart, error) {
	l, err := readLanded(fsys)
	if err != nil {
		return nil, err
	}
	in := l.parts()
	var list []TablePart
	for _, p := range tables.Parts() {
		list = append(list, TablePart{p.Name, p.Describe, in[p.Name]})
	}
	return list, nil
}

// parts says which migration makes which part.
func (l *landed) parts() map[string]string {
	in := map[string]string{}
	for _, f := range l.files {
		for _, name := range tables.Made(f.Content) {
			in[name] = f.Name
		}
	}
	return in
}

// UnknownPartError says that there is no such part.
type UnknownPartError struct {
	Name string
	// Near is the part that was perhaps meant; empty for none.
	Near string
}

// Error names the part.
func (e *UnknownPartError) Error() string {
	text := fmt.Sprintf("there are no tables %q", e.Name)
	if e.Near != "" {
		text += "; did you mean " + e.Near + "?"
	}
	return text
}

// Tables returns the migrations that make the named parts, each the next in
// number, without those that the project has already; the set may be empty. It
// returns an UnknownPartError for a name that is no part, and [ErrNoCore] in a
// project without the core migration.
func Tables(fsys fs.FS, names []string) (*fileset.Set, error) {
	l, err := readLanded(fsys)
	if err != nil {
		return nil, err
	}
	if !l.core {
		return nil, ErrNoCore
	}
	set, in, parts := fileset.New(), l.parts(), tables.Parts()
	for _, name := range names {
		at := slices.IndexFunc(parts, func(p tables.Part) bool { return p.Name == name })
		if at < 0 {
			return nil, &UnknownPartError{name, nearestPart(name, parts)}
		}
		if in[name] != "" {
			continue
		}
		l.last++
		in[name] = fmt.Sprintf("%05d_fsm_%s.sql", l.last, name)
		if err := set.Add(path.Join(Migrations, in[name]), parts[at].SQL); err != nil {
			return nil, err
		}
	}
	return set, nil
}

func nearestPart(name string, parts []tables.Part) string {
	var known []string
	for _, p := range parts {
		known = append(known, p.Name)
	}
	name = strings.TrimPrefix(name, "fsm_")
	if slices.Contains(known, name) {
		return name
	}
	return diag.Nearest(name, known)
}
