package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/syntax"
)

var (
	// ErrNotRegular says that a file of the project is a pipe, a device or the like,
	// which might never end, or never begin.
	ErrNotRegular = errors.New("not a regular file")
	// ErrLinkedFolder says that a folder of definitions, or of queries, is a
	// symbolic link. Links may form a circle, so they are not followed, and
	// passing over one silently would drop what is in it.
	ErrLinkedFolder = errors.New("a link to a folder is not followed: move the folder here, or name it as an argument of its own")
)

// maxRead is one byte more than internal/syntax takes, which then says so.
const maxRead = syntax.MaxBytes + 1

// DefinitionFiles lists the files of definitions under the given files or
// folders of fsys, each once, sorted. The error is ErrNoDefinitions,
// ErrLinkedFolder or the file system's.
func DefinitionFiles(fsys fs.FS, paths []string) ([]string, error) {
	files, err := definitionFiles(fsys, paths, refuse)
	if err == nil && len(files) == 0 {
		err = ErrNoDefinitions
	}
	return files, err
}

// PassedOver is a file or folder below the definitions that is not read, and why: a link
// to a folder, a pipe, what may not be read. Err names it.
type PassedOver struct {
	Name string
	Err  error
}

// ReadableFiles is DefinitionFiles that goes on beside folders that are not read, and
// returns those in their order. None of either is [ErrNoDefinitions]; the other errors are
// of the paths themselves.
func ReadableFiles(fsys fs.FS, paths []string) ([]string, []PassedOver, error) {
	var passed []PassedOver
	files, err := definitionFiles(fsys, paths, passing(&passed))
	if err == nil && len(files) == 0 && len(passed) == 0 {
		err = ErrNoDefinitions
	}
	return files, passed, err
}

// Read reads the definitions under the given files or folders of fsys, in order
// of file names. The errors are those of Lint.
func Read(ctx context.Context, fsys fs.FS, paths []string) ([]Definition, error) {
	files, err := DefinitionFiles(fsys, paths)
	if err != nil {
		return nil, err
	}
	return readAll(ctx, fsys, files, refuse)
}

// ReadReadable is Read that goes on beside files and folders that are not read, and returns
// them after what was. The errors are those of [ReadableFiles] and of ctx.
func ReadReadable(ctx context.Context, fsys fs.FS, paths []string) ([]Definition, []PassedOver, error) {
	files, passed, err := ReadableFiles(fsys, paths)
	if err != nil {
		return nil, nil, err
	}
	read, err := readAll(ctx, fsys, files, passing(&passed))
	return read, passed, err
}

// readAll reads files; one that is not read ends it with the error of unread.
func readAll(ctx context.Context, fsys fs.FS, files []string, unread func(string, error) error) ([]Definition, error) {
	var definitions []Definition
	for _, name := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch text, err := readDefinition(fsys, name); {
		case err == nil:
			definitions = append(definitions, Definition{Name: name, Text: text})
		default:
			if err := unread(name, err); err != nil {
				return nil, err
			}
		}
	}
	return definitions, nil
}

// passing notes what is not read, and goes on.
func passing(over *[]PassedOver) func(string, error) error {
	return func(name string, err error) error {
		*over = append(*over, PassedOver{name, err})
		return nil
	}
}

// refuse ends with what cannot be read.
func refuse(_ string, err error) error { return err }

func definitionFiles(fsys fs.FS, paths []string, unread func(string, error) error) ([]string, error) {
	var files []string
	for _, p := range paths {
		found, err := walked(fsys, p, IsDefinition, unread)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// filesUnder returns p itself when it is a file, else the files below it whose
// names are wanted.
func filesUnder(fsys fs.FS, p string, wanted func(name string) bool) ([]string, error) {
	return walked(fsys, p, wanted, refuse)
}

// walked is filesUnder that asks whether to go on beside a folder below p that is not read:
// the walk ends with the error of unread.
func walked(fsys fs.FS, p string, wanted func(name string) bool, unread func(name string, err error) error) ([]string, error) {
	info, err := fs.Stat(fsys, p)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{p}, nil
	}
	var files []string
	err = fs.WalkDir(fsys, p, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == p:
			return err
		case err != nil:
			if err := unread(name, err); err != nil {
				return err
			}
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
		case name != p && linkedFolder(fsys, name, d):
			return unread(name, fmt.Errorf("%s: %w", name, ErrLinkedFolder))
		case !d.IsDir() && wanted(name):
			files = append(files, name)
		}
		return nil
	})
	return files, err
}

// IsDefinition reports whether a file's name is that of a definition.
func IsDefinition(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

func linkedFolder(fsys fs.FS, name string, d fs.DirEntry) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := fs.Stat(fsys, name)
	return err == nil && info.IsDir()
}

// readDefinition reads no more of a definition than can be of use.
func readDefinition(fsys fs.FS, name string) ([]byte, error) { return readRegular(fsys, name, maxRead) }

// readRegular reads a regular file, at most limit bytes of it. It looks before
// it opens, since opening a pipe waits for its writer.
func readRegular(fsys fs.FS, name string, limit int64) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", name, ErrNotRegular)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, limit))
}
