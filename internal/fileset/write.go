package fileset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// PartialError says how far a write came that failed on the way. Everything in
// Written and Removed is done and complete; Failed is as it was before; what
// is in none of them was not tried. Writing again finishes the work.
type PartialError struct {
	Written []string
	Removed []string
	Failed  string
	Err     error
}

// Error names the file that failed and how much was done before.
func (e *PartialError) Error() string {
	return fmt.Sprintf("%s: %v (files written before: %d, removed: %d)", e.Failed, e.Err, len(e.Written), len(e.Removed))
}

// Unwrap returns the reason.
func (e *PartialError) Unwrap() error { return e.Err }

// Write makes the folder root hold the set, and returns what it did, as
// [Set.Diff] would have told; nil when there was nothing to do. Every refusal
// of Diff is found before the first write, and then nothing is changed.
//
// A file appears whole or not at all: it is written beside its place and
// renamed. Files that are right already are not touched, and a file keeps its
// mode. Stale files are removed last. A failure on the way is a
// [PartialError]. Missing folders, root included, are made; nothing outside
// root is written, whatever links there are.
func (s *Set) Write(root string, owned Owned) ([]Change, error) {
	if err := owned.check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	changes, err := s.plan(dir, owned)
	if err != nil {
		return nil, err
	}
	if owned.Manifest == "" {
		err = s.apply(dir, changes)
	} else {
		err = s.recorded(dir, changes, owned.Manifest)
	}
	if err != nil {
		return nil, err
	}
	return changes, nil
}

// recorded applies the changes and keeps the manifest: before them one that
// knows the old files and the new, so that a write which is cut short can be
// finished, and after them that of the new.
func (s *Set) recorded(root *os.Root, changes []Change, manifest string) error {
	before, err := readManifest(root, manifest)
	if err != nil {
		return err
	}
	if len(changes) > 0 {
		if err := record(root, manifest, before.and(s.manifest())); err != nil {
			return err
		}
	}
	if err := s.apply(root, changes); err != nil {
		return err
	}
	return record(root, manifest, s.manifest())
}

func (s *Set) apply(root *os.Root, changes []Change) error {
	var partial PartialError
	into := folders{root: root}
	defer into.close()
	for _, change := range changes {
		if change.Kind == Removed {
			continue
		}
		if err := into.replace(change, s.files[change.Path]); err != nil {
			partial.Failed, partial.Err = change.Path, err
			return &partial
		}
		partial.Written = append(partial.Written, change.Path)
	}
	for _, change := range changes {
		if change.Kind != Removed {
			continue
		}
		if err := root.Remove(change.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			partial.Failed, partial.Err = change.Path, err
			return &partial
		}
		partial.Removed = append(partial.Removed, change.Path)
	}
	return nil
}

// folders opens the folders of files that come in the order of their paths, each
// once: a root looks a path up part by part, since any of them may be a link, and
// that takes longer than to write a small file.
type folders struct {
	root *os.Root
	// open is the folder that was asked for last, and path its path; nil for none.
	open *os.Root
	path string
}

// folder returns a folder, which is made if it is missing.
func (f *folders) folder(path string) (*os.Root, error) {
	if f.open != nil && f.path == path {
		return f.open, nil
	}
	f.close()
	if err := f.root.MkdirAll(path, 0o755); err != nil {
		return nil, err
	}
	open, err := f.root.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	f.path, f.open = path, open
	return open, nil
}

func (f *folders) close() {
	if f.open != nil {
		_ = f.open.Close() // nothing was written through it that is not closed
		f.open = nil
	}
}

// replace puts content at the change's path in one step.
func (f *folders) replace(change Change, content []byte) (err error) {
	folder, err := f.folder(path.Dir(change.Path))
	if err != nil {
		return err
	}
	file, name, err := temporary(folder, path.Dir(change.Path))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = folder.Remove(name) // the first error is the one that counts
		}
	}()
	_, err = file.Write(content)
	if err == nil && change.Kind == Changed {
		err = file.Chmod(change.mode)
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return folder.Rename(name, path.Base(change.Path))
}

// temporary makes a file in a folder with a name that nobody else has: another run may be
// at work in the same folder, or have left one when it was killed.
func temporary(folder *os.Root, named string) (*os.File, string, error) {
	const tries = 1000
	for n := range tries {
		name := fmt.Sprintf(".fsmgen-%d.tmp", n)
		file, err := folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			return file, name, err
		}
	}
	return nil, "", fmt.Errorf("%s: %d temporary files are in the way; delete .fsmgen-*.tmp", named, tries)
}
