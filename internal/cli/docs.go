package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-go/pawl/internal/compare"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/fileset"
	"github.com/pawl-go/pawl/internal/gendocs"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// docsManifest is the file of a folder of pages that says which files of it are
// ours.
const docsManifest = "SHA256SUMS"

// docsOptions are the flags of docs.
type docsOptions struct {
	// since is the revision to compare with; empty for none.
	since string
}

func docsFlags(k *call) {
	k.flags.StringVar(&k.docs.since, "since", "", "show what changed since a git `REVISION`, or a folder or file of definitions")
}

// runDocs writes the folder of pages. The first argument is the folder, the
// others are definitions.
func runDocs(ctx context.Context, k *call) int {
	if len(k.args) == 0 {
		return k.fail(errors.New("docs needs the folder to write to: fsmgen docs DIR"))
	}
	dir, err := k.docsFolder(k.args[0])
	if err != nil {
		return k.fail(err)
	}
	k.args = k.args[1:]
	paths, err := k.paths()
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
	if problems.Errors() > 0 {
		if err := k.print(&problems); err != nil {
			return k.fail(err)
		}
		_, _ = fmt.Fprintf(k.err, "%s checked, %s; nothing was written\n", checked, summary(&problems))
		return exitFindings
	}
	since, code := k.since(ctx, machines)
	if code != exitFine {
		return code
	}
	changes, err := writeDocs(dir, machines, &problems, since)
	if err != nil {
		return k.fail(err)
	}
	if _, err := fmt.Fprintln(k.out, tally(changes)); err != nil {
		return k.fail(err)
	}
	_, _ = fmt.Fprintf(k.err, "%s checked, %s; open %s\n", checked, summary(&problems), filepath.Join(dir, "index.html"))
	return exitFine
}

// tally counts changes by their kind: there are hundreds of files, with names
// that follow from the machines'.
func tally(changes []fileset.Change) string {
	var parts []string
	for _, kind := range []fileset.ChangeKind{fileset.Created, fileset.Changed, fileset.Removed} {
		n := 0
		for _, c := range changes {
			if c.Kind == kind {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, count(n, "file")+" "+kind.String())
		}
	}
	if len(parts) == 0 {
		return "nothing to do"
	}
	return strings.Join(parts, ", ")
}

// writeDocs renders the pages and makes the folder hold them.
func writeDocs(dir string, machines []*model.Machine, problems *diag.List, since *gendocs.Since) ([]fileset.Change, error) {
	set, err := pipeline.Docs(machines, problems, since)
	if err != nil {
		return nil, err
	}
	changes, err := set.Write(dir, fileset.Owned{Manifest: docsManifest})
	if errors.Is(err, fileset.ErrUnowned) {
		err = fmt.Errorf("%s has files that fsmgen docs did not write, or that were changed since; nothing was written:\n%w", dir, err)
	}
	return changes, err
}

// docsFolder finds the folder to write to, and refuses one that holds
// definitions: whoever names it has left out DIR.
func (k *call) docsFolder(name string) (string, error) {
	if name == "" {
		return "", errors.New("an empty name is no folder")
	}
	dir := filepath.FromSlash(name)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(k.dir, dir)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return dir, nil
	case err != nil:
		return "", fmt.Errorf("the pages go into a folder: %w", err)
	}
	for _, e := range entries {
		if !e.IsDir() && pipeline.IsDefinition(e.Name()) {
			return "", fmt.Errorf("%s holds %s, so it is no folder for pages: fsmgen docs DIR [FILE|FOLDER ...]", name, e.Name())
		}
	}
	return dir, nil
}

// since compares with the revision that is asked for, if one is.
func (k *call) since(ctx context.Context, machines []*model.Machine) (*gendocs.Since, int) {
	if k.docs.since == "" {
		return nil, exitFine
	}
	old, err := k.definitions(ctx, k.docs.since)
	if err != nil {
		return nil, k.fail(fmt.Errorf("--since: %w", err))
	}
	was, code := k.read(ctx, "--since", old, exitFailed)
	if code != exitFine {
		return nil, code
	}
	return &gendocs.Since{Revision: k.docs.since, Report: compare.Machines(was, machines)}, exitFine
}
