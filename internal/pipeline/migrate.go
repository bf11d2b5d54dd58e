package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
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

// migrations reads the migrations there are, adds to the set those that the
// machines need, and returns all of them in order.
func migrations(fsys fs.FS, machines []*model.Machine, set *fileset.Set, problems *diag.List) ([]sqlcgen.File, error) {
	files, err := sqlFiles(fsys, Migrations)
	if err != nil {
		return nil, err
	}
	core, newest, last := false, map[string]gensql.Schema{}, uint64(0)
	for _, f := range files {
		core = core || bytes.Contains(f.Content, []byte(gensql.CoreMark))
		schemas, err := gensql.Embedded(f.Content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path.Join(Migrations, f.Name), err)
		}
		for _, s := range schemas {
			newest[s.Machine] = s
		}
		last = max(last, number(f.Name))
	}
	for _, m := range machines {
		if m.Table == nil {
			continue
		}
		if !core {
			return nil, ErrNoCore
		}
		var prev *gensql.Schema
		if s, ok := newest[m.Name]; ok {
			prev = &s
		}
		content := gensql.Migration(m, prev, problems)
		if content == nil {
			continue
		}
		last++
		f := sqlcgen.File{Name: fmt.Sprintf("%05d_%s.sql", last, m.Name), Content: content}
		if err := set.Add(path.Join(Migrations, f.Name), f.Content); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
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
