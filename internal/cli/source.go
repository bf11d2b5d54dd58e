package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pipeline"
	"github.com/pawl-go/pawl/internal/revision"
)

// source is where one side of a difference is read.
type source struct {
	// name is the side as it was given.
	name string
	// fsys is nil for a revision from before the folder of definitions.
	fsys fs.FS
	path string
	// prefix goes before the names of files.
	prefix string
	// mayBeEmpty says that having no definitions is fine.
	mayBeEmpty bool
}

// locate names the file of a position as the caller would.
func (s source) locate(p *diag.Position) {
	if p.File != "" {
		p.File = s.prefix + p.File
	}
}

// sides finds OLD and NEW: without NEW the working tree's definitions, without
// OLD those of the newest commit.
func (k *call) sides(ctx context.Context) (old, new source, err error) {
	if len(k.args) > 2 {
		return old, new, fmt.Errorf("diff takes OLD and NEW: %q", k.args)
	}
	if len(k.args) > 0 {
		old, err = k.definitions(ctx, k.args[0])
	} else {
		old, err = k.inRevision(ctx, "HEAD") // whatever else is called so
	}
	if err != nil {
		return old, new, fmt.Errorf("OLD: %w", err)
	}
	if len(k.args) > 1 {
		new, err = k.definitions(ctx, k.args[1])
	} else {
		new, err = k.onDisk(pipeline.Definitions)
	}
	if err != nil {
		return old, new, fmt.Errorf("NEW: %w", err)
	}
	return old, new, nil
}

// definitions finds what a name means: a file or folder, seen from the
// project's root, or else a revision of the repository around it.
func (k *call) definitions(ctx context.Context, name string) (source, error) {
	if name == "" {
		return source{}, errors.New("an empty name is neither a path nor a revision")
	}
	s, notPath := k.onDisk(name)
	if notPath == nil {
		if revision.Known(ctx, k.dir, name) {
			_, _ = fmt.Fprintf(k.err, "%s is a path and a revision; the path is taken, and %s:./%s would be the revision\n", name, name, pipeline.Definitions)
		}
		return s, nil
	}
	s, err := k.inRevision(ctx, name)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("neither a path (%w) nor a revision (%w)", notPath, err)
	}
	return s, err
}

// onDisk reads a file or folder.
func (k *call) onDisk(name string) (source, error) {
	base := k.dir
	if filepath.IsAbs(filepath.FromSlash(name)) {
		base = ""
	}
	full := filepath.Join(base, filepath.FromSlash(name))
	for at, up := range filepath.ToSlash(name) { // a/.. is a path when a is there, and HEAD:a/.. is none
		if rest := filepath.ToSlash(name)[at:]; up == '/' && at > 0 && (rest == "/.." || strings.HasPrefix(rest, "/../")) {
			if _, err := os.Stat(filepath.Join(base, filepath.FromSlash(name[:at]))); err != nil {
				return source{}, err
			}
		}
	}
	if _, err := os.Stat(full); err != nil {
		return source{}, err
	}
	if clean := filepath.Clean(filepath.FromSlash(name)); filepath.IsLocal(clean) {
		return source{name: name, fsys: os.DirFS(k.dir), path: filepath.ToSlash(clean)}, nil
	}
	if info, err := os.Stat(full); err == nil && info.IsDir() {
		return source{name: name, fsys: os.DirFS(full), path: ".", prefix: filepath.ToSlash(name) + "/"}, nil
	}
	return source{name: name, fsys: os.DirFS(filepath.Dir(full)), path: filepath.Base(full), prefix: filepath.ToSlash(filepath.Dir(filepath.FromSlash(name))) + "/"}, nil
}

// inRevision reads REV, whose definitions are those of the project's root,
// REV:PATH, or :PATH of the index.
func (k *call) inRevision(ctx context.Context, name string) (source, error) {
	rev, inside, pathed := strings.Cut(name, ":")
	if rev == "" {
		inside = strings.TrimPrefix(inside, "0:")
	}
	object, root := name, path.Clean("/" + inside)[1:]
	if !pathed {
		switch err := revision.Commit(ctx, k.dir, rev); {
		case errors.Is(err, revision.ErrNoCommit):
			return source{}, fmt.Errorf("%w; %s: with its colon reads a tree", err, rev)
		case err != nil:
			return source{}, err
		}
		object, root = rev+":./"+pipeline.Definitions, pipeline.Definitions
	}
	fsys, err := revision.Files(ctx, k.dir, object, root, pipeline.IsDefinition)
	if errors.Is(err, revision.ErrNoPath) && !pathed {
		return source{name: name, mayBeEmpty: true}, nil
	}
	return source{name: name, fsys: fsys, path: ".", prefix: rev + ":", mayBeEmpty: !pathed}, err
}
