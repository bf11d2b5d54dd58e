package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// lintOptions are the flags of lint.
type lintOptions struct {
	// queries are the folders of hand-written SQL to look at too.
	queries []string
	// explain is the code to explain instead of checking anything.
	explain string
}

func lintFlags(k *call) {
	k.flags.StringVar(&k.lint.explain, "explain", "", "check nothing; explain the `CODE` of a problem, with a case that fails and one that passes")
	k.flags.Func("queries", "a `FOLDER` of .sql files, looked through for statements that go around the machines; may be repeated",
		func(folder string) error { k.lint.queries = append(k.lint.queries, folder); return nil })
}

// runLint checks the definitions that are named, or all, and then the queries;
// or it explains a code.
func runLint(ctx context.Context, k *call) int {
	if k.lint.explain != "" {
		if len(k.args) > 0 {
			return k.fail(fmt.Errorf("lint --explain takes one code and no files: %q", k.args))
		}
		return k.explain([]string{k.lint.explain})
	}
	paths, err := k.paths()
	if err == nil {
		k.lint.queries, err = below(k.lint.queries)
	}
	if err != nil {
		return k.fail(err)
	}
	var problems diag.List
	machines, err := pipeline.Lint(ctx, os.DirFS(k.dir), paths, &problems)
	if err != nil {
		return k.fail(k.atRoot(err))
	}
	checked, err := k.machines(paths)
	if err != nil {
		return k.fail(err)
	}
	allowed := 0
	if len(k.lint.queries) > 0 {
		read := 0
		if read, allowed, err = pipeline.Bypass(ctx, os.DirFS(k.dir), k.lint.queries, machines, &problems); err != nil {
			return k.fail(k.atRoot(err))
		}
		checked += " and " + count(read, "hand-written SQL file")
	}
	if err := k.print(&problems); err != nil {
		return k.fail(err)
	}
	_, _ = fmt.Fprintf(k.err, "%s checked, %s", checked, summary(&problems))
	if allowed > 0 {
		_, _ = fmt.Fprintf(k.err, ", %d allowed", allowed)
	}
	_, _ = fmt.Fprintln(k.err)
	if problems.Errors() > 0 {
		return exitFindings
	}
	return exitFine
}

// machines is the number of machines that paths define, the broken included,
// with its word. A file defines one.
func (k *call) machines(paths []string) (string, error) {
	files, err := pipeline.DefinitionFiles(os.DirFS(k.dir), paths)
	return count(len(files), "machine"), err
}

// atRoot adds to an error of a path that is not there where paths count from.
func (k *call) atRoot(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, missing := os.Stat(k.dir); missing != nil {
		return fmt.Errorf("-C: %w", missing)
	}
	root := "this folder"
	if filepath.Clean(k.dir) != "." {
		root = k.dir
	}
	err = fmt.Errorf("%w; paths count from the project's root, which is %s: -C FOLDER names another", err, root)
	if _, missing := os.Stat(filepath.Join(k.dir, pipeline.Definitions)); errors.Is(missing, fs.ErrNotExist) {
		err = fmt.Errorf("%w; it has no %s/", err, pipeline.Definitions)
	}
	return err
}

// paths are those that the arguments name, or all.
func (k *call) paths() ([]string, error) {
	if len(k.args) == 0 {
		return []string{pipeline.Definitions}, nil
	}
	return below(k.args)
}

// below returns paths as they are called below the project's root.
func below(given []string) ([]string, error) {
	paths := make([]string, len(given))
	for i, p := range given {
		if filepath.IsAbs(p) {
			return nil, fmt.Errorf("%s: give a path below the project's root, see -C", p)
		}
		paths[i] = filepath.ToSlash(filepath.Clean(p))
		if paths[i] == ".." || strings.HasPrefix(paths[i], "../") {
			return nil, fmt.Errorf("%s: this is outside the project's root; give a path below it, see -C", p)
		}
	}
	return paths, nil
}
