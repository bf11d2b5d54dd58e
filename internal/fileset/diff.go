package fileset

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// ChangeKind says what happens to a file.
type ChangeKind int

// The kinds of changes.
const (
	Created ChangeKind = iota + 1
	Changed
	Removed
)

// String returns "created", "changed" or "removed".
func (k ChangeKind) String() string {
	switch k {
	case Created:
		return "created"
	case Changed:
		return "changed"
	case Removed:
		return "removed"
	}
	return "unknown"
}

// Change is one file that differs from the disk. Diff is a unified diff, or a
// line saying that the files differ when one is not text.
type Change struct {
	Path string
	Kind ChangeKind
	Diff string

	mode fs.FileMode // of the file that is there
}

// Diff compares the set with the folder root and returns what [Set.Write]
// would do, in ascending order of paths; nil when nothing would change. A root
// that does not exist is empty. Nothing is written.
//
// Everything that Write would refuse is an error here: [ErrUnowned],
// [ErrAppendOnly] and [ErrNotRegular], all of them joined, and whatever the
// system reports, such as a link that leads out of root.
func (s *Set) Diff(root string, owned Owned) ([]Change, error) {
	dir, err := os.OpenRoot(root)
	if errors.Is(err, fs.ErrNotExist) {
		if err := owned.check(); err != nil {
			return nil, err
		}
		var changes []Change
		for _, path := range s.Paths() {
			changes = append(changes, owned.created(path, s.files[path]))
		}
		return changes, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return s.plan(dir, owned)
}

func (s *Set) plan(root *os.Root, owned Owned) ([]Change, error) {
	if err := owned.check(); err != nil {
		return nil, err
	}
	before, err := readManifest(root, owned.Manifest)
	if err != nil {
		return nil, err
	}
	var changes []Change
	var refused []error
	for _, path := range s.Paths() {
		change, err := s.compare(root, path, owned, before)
		switch {
		case err != nil:
			refused = append(refused, err)
		case change != nil:
			changes = append(changes, *change)
		}
	}
	stale, err := s.stale(root, owned)
	if err != nil {
		refused = append(refused, err)
	}
	left, err := s.left(root, before)
	if err != nil {
		refused = append(refused, err)
	}
	for _, path := range left {
		changes = append(changes, Change{Path: path, Kind: Removed})
	}
	for _, path := range stale {
		if slices.Contains(left, path) {
			continue
		}
		content, err := root.ReadFile(path)
		if err != nil {
			refused = append(refused, err)
			continue
		}
		changes = append(changes, Change{Path: path, Kind: Removed, Diff: owned.diff("a/"+path, "/dev/null", content, nil)})
	}
	if err := errors.Join(refused...); err != nil {
		return nil, err
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes, nil
}

// compare returns nil when the file on disk is as it should be.
func (s *Set) compare(root *os.Root, path string, owned Owned, before manifest) (*Change, error) {
	content := s.files[path]
	info, err := root.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := folderFree(root, path); err != nil {
			return nil, err
		}
		change := owned.created(path, content)
		return &change, nil
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("%s: a folder of it is %w", path, ErrNotRegular)
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", path, ErrNotRegular)
	}
	old, err := root.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(old, content) {
		return nil, nil
	}
	if owned.appendOnly(path) {
		return nil, fmt.Errorf("%s: %w", path, ErrAppendOnly)
	}
	generated, err := isGenerated(bytes.NewReader(old))
	if err != nil {
		return nil, err
	}
	if !generated && !owned.unmarked(path) && !s.adoptable[path] && !before.has(path, old) {
		return nil, fmt.Errorf("%s: %w", path, ErrUnowned)
	}
	return &Change{
		Path: path, Kind: Changed, mode: info.Mode().Perm(),
		Diff: owned.diff("a/"+path, "b/"+path, old, content),
	}, nil
}

// folderFree looks for what would keep the folders of a new file from being
// made, so that it is known before the first write. Links are followed, but
// not out of root.
func folderFree(root *os.Root, path string) error {
	folders := prefixes(path)
	for _, folder := range folders[:len(folders)-1] {
		info, err := root.Stat(folder)
		if errors.Is(err, fs.ErrNotExist) {
			if _, err := root.Lstat(folder); err == nil {
				return fmt.Errorf("%s: a link that leads nowhere: %w", folder, errNotFolder)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s: %w", folder, errNotFolder)
		}
	}
	return nil
}

func (o Owned) created(path string, content []byte) Change {
	return Change{Path: path, Kind: Created, Diff: o.diff("/dev/null", "b/"+path, nil, content)}
}

// diff is the difference of two texts, and nothing where nobody will read it.
func (o Owned) diff(from, to string, old, content []byte) string {
	if o.Manifest != "" {
		return ""
	}
	return unified(from, to, old, content)
}

func unified(from, to string, old, content []byte) string {
	if !isText(old) || !isText(content) {
		return fmt.Sprintf("Binary files %s and %s differ\n", from, to)
	}
	return udiff.Unified(from, to, string(old), string(content))
}

func isText(content []byte) bool {
	return utf8.Valid(content) && !bytes.Contains(content, []byte{0})
}
