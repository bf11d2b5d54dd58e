// Package fileset holds rendered files by path, compares them with a folder,
// and writes them there.
//
// It decides what may be overwritten and removed; what the files say is the
// renderers' business.
package fileset

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"
)

// Errors that say why a path or a file is refused. They come wrapped, with the
// path in front.
var (
	// ErrBadPath: the path is not a relative one with forward slashes that
	// stays inside its folder.
	ErrBadPath = errors.New("not a clean relative path")
	// ErrDuplicate: two renderers made the same path.
	ErrDuplicate = errors.New("the path is made twice")
	// ErrCaseClash: two paths differ in letter case only, or one is a folder
	// of the other, so that not every file system can hold both.
	ErrCaseClash = errors.New("the path clashes with another")
	// ErrUnowned: a file that was not generated is in the way.
	ErrUnowned = errors.New("a file without our header is in the way; move or delete it")
	// ErrAppendOnly: a file of an append-only folder would change.
	ErrAppendOnly = errors.New("the file exists with other content, and its folder is append-only")
	// ErrNotRegular: a folder, a symbolic link or another special file is in
	// the way.
	ErrNotRegular = errors.New("not a regular file")
)

// Set is files by path. It is not safe for concurrent use while files are
// added.
type Set struct {
	files     map[string][]byte
	adoptable map[string]bool
	folded    map[string]taken // by folded path, folders included
}

type taken struct {
	path   string
	folder bool
}

// New returns an empty set.
func New() *Set {
	return &Set{files: make(map[string][]byte), adoptable: make(map[string]bool), folded: make(map[string]taken)}
}

// Add adds a file and keeps a copy of its content. Paths are relative and have
// forward slashes on every system. The error is [ErrBadPath], [ErrDuplicate]
// or [ErrCaseClash], and the set is then unchanged.
func (s *Set) Add(path string, content []byte) error {
	if !cleanPath(path) {
		return fmt.Errorf("%q: %w", path, ErrBadPath)
	}
	if _, twice := s.files[path]; twice {
		return fmt.Errorf("%s: %w", path, ErrDuplicate)
	}
	parts := prefixes(path)
	for i, part := range parts {
		now := taken{path: part, folder: i < len(parts)-1}
		if before, ok := s.folded[fold(part)]; ok && before != now {
			return fmt.Errorf("%s: %w: %s", path, ErrCaseClash, before.path)
		}
	}
	for i, part := range parts {
		s.folded[fold(part)] = taken{path: part, folder: i < len(parts)-1}
	}
	s.files[path] = bytes.Clone(content)
	if s.files[path] == nil {
		s.files[path] = []byte{}
	}
	return nil
}

// Adopt marks paths that may replace a file without our header: kinds of files
// that cannot bear one. Paths that are not in the set have no effect.
func (s *Set) Adopt(paths ...string) {
	for _, path := range paths {
		s.adoptable[path] = true
	}
}

// Paths returns the paths in ascending order, and nil for an empty set.
func (s *Set) Paths() []string {
	var paths []string
	for path := range s.files {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// Get returns a copy of a file's content, and whether the set has the file.
func (s *Set) Get(path string) ([]byte, bool) {
	content, ok := s.files[path]
	return bytes.Clone(content), ok
}

// Len returns the number of files.
func (s *Set) Len() int { return len(s.files) }

func cleanPath(path string) bool {
	return path != "." && fs.ValidPath(path) &&
		!strings.ContainsAny(path, `\:`) && !strings.ContainsFunc(path, unicode.IsControl)
}

// prefixes returns the folders of a path, outermost first, and the path.
func prefixes(path string) []string {
	var out []string
	for i, r := range path {
		if r == '/' {
			out = append(out, path[:i])
		}
	}
	return append(out, path)
}

// fold maps all spellings that differ in case to one.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}
