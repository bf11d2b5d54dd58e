package revision

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// index lists the files of the index that keep takes: what the next commit will
// have. The name begins with a colon, as git writes it: :PATH, or :0:PATH.
func index(ctx context.Context, dir, name, root string, keep func(string) bool) ([]file, error) {
	inside := strings.TrimPrefix(name[1:], "0:")
	if strings.HasPrefix(inside, "/") || len(inside) > 1 && strings.Contains("123", inside[:1]) && inside[1] == ':' {
		return nil, fmt.Errorf("%s: %w: a search for a commit, or a stage of a merge, is not read", name, ErrNoRevision)
	}
	prefix, err := git(ctx, dir, nil, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %v", dir, ErrNoRepository, err)
	}
	elements := strings.Split(inside, "/")
	full := path.Clean(inside)
	if elements[0] == "." || elements[0] == ".." {
		full = path.Join(strings.TrimRight(string(prefix), "\r\n"), inside)
	} else if slices.Contains(elements, "..") {
		return nil, fmt.Errorf("%s: %w", name, ErrNoPath) // as git has it for other revisions
	}
	if full == ".." || strings.HasPrefix(full, "../") {
		return nil, fmt.Errorf("%s: %w", name, ErrNoPath)
	}
	spec := ":(top,literal)" + full
	if full == "." {
		spec = ":(top)"
	}
	out, err := gitWith(ctx, dir, ownIndex(ctx, dir), nil, "ls-files", "--stage", "-z", "--full-name", "--", spec)
	if err != nil {
		return nil, err
	}
	return staged(string(out), name, full, root, keep)
}

// staged reads the entries that git ls-files lists of a file or folder.
func staged(out, name, full, root string, keep func(string) bool) ([]file, error) {
	var files []file
	there := full == "."
	for entry := range strings.SplitSeq(out, "\x00") {
		meta, at, ok := strings.Cut(entry, "\t")
		fields := strings.Fields(meta)
		if !ok || len(fields) != 3 {
			continue
		}
		there = true
		as := root
		if at != full {
			below := at
			if full != "." {
				below = strings.TrimPrefix(at, full+"/")
			}
			if as = path.Join(root, below); !keep(below) {
				continue
			}
		}
		switch {
		case fields[2] != "0":
			return nil, fmt.Errorf("%s: not merged yet", as)
		case fields[0] == "120000":
			return nil, fmt.Errorf("%s: %w", as, ErrLink)
		case fields[0] == "100644" || fields[0] == "100755":
			files = append(files, file{as, fields[1]})
		}
	}
	if !there {
		return nil, fmt.Errorf("%s: %w", name, ErrNoPath)
	}
	return files, nil
}

// ownIndex is the setting of an index that a hook was given, where it is one of
// this repository: a commit of some files alone has one for itself.
func ownIndex(ctx context.Context, dir string) []string {
	name := os.Getenv("GIT_INDEX_FILE")
	if name == "" {
		return nil
	}
	out, err := git(ctx, dir, nil, "rev-parse", "--absolute-git-dir", "--show-toplevel")
	lines := strings.Split(strings.ReplaceAll(string(out), "\r", ""), "\n")
	if err != nil || len(lines) < 2 {
		return nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(lines[1], name)
	}
	if filepath.Dir(filepath.Clean(name)) != filepath.FromSlash(lines[0]) {
		return nil
	}
	return []string{"GIT_INDEX_FILE=" + name}
}
