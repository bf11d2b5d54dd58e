// Package revision reads files as a revision of a git repository has them, by
// the git program. It changes nothing: neither the repository nor its working
// tree nor its index. The folder alone says which repository is read, and not
// what a hook has in its environment. What the files mean it leaves to others.
package revision

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	// ErrNoGit says that there is no git program to ask.
	ErrNoGit = errors.New("git is not installed, or not in PATH")
	// ErrNoRepository says that the folder is not in a git repository.
	ErrNoRepository = errors.New("not in a git repository")
	// ErrNoRevision says that the repository has no such revision.
	ErrNoRevision = errors.New("no such revision")
	// ErrNoPath says that the revision is there, and the path in it is not.
	ErrNoPath = errors.New("no such path in the revision")
	// ErrNoCommit says that a name is one of a tree or a file, and no revision.
	ErrNoCommit = errors.New("a tree or a file, not a commit")
	// ErrLink says that a file is a symbolic link, which cannot be followed in a revision.
	ErrLink = errors.New("a symbolic link is not followed in a revision")
)

// maxFile is how much of a file is read: one byte more than anybody takes.
const maxFile = 1<<20 + 1

// Known reports whether the name is one of a revision, or of a path in one, of
// the repository around dir. It is false when git cannot be asked.
func Known(ctx context.Context, dir, name string) bool {
	_, err := resolve(ctx, dir, name)
	return err == nil
}

// Commit returns nil when the name is one of a commit, or of a tag of one. The
// errors are ErrNoGit, ErrNoRepository, ErrNoRevision, ErrNoPath, ErrNoCommit,
// and that of ctx.
func Commit(ctx context.Context, dir, name string) error {
	if _, err := resolve(ctx, dir, name); err != nil {
		return err
	}
	if _, err := resolve(ctx, dir, name+"^{commit}"); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%s: %w", name, ErrNoCommit)
	}
	return nil
}

// Files returns the files that keep takes of a revision's path, as a file
// system in which they have the names that root gives: the path itself for a
// file, and root and the rest for those below a folder. name is REV:PATH as git
// writes it: PATH counts from the root of the repository, or from dir when it
// begins with ./ . :PATH is that of the index, which the next commit will have.
// The errors are ErrNoGit, ErrNoRepository, ErrNoRevision,
// ErrNoPath, ErrLink for a file that keep takes, and those of ctx and git.
func Files(ctx context.Context, dir, name, root string, keep func(string) bool) (fs.FS, error) {
	if strings.HasPrefix(name, ":") {
		files, err := index(ctx, dir, name, root, keep)
		if err != nil {
			return nil, err
		}
		return read(ctx, dir, files)
	}
	object, err := resolve(ctx, dir, name)
	if err != nil {
		return nil, err
	}
	kind, err := git(ctx, dir, nil, "cat-file", "-t", object)
	if err != nil {
		return nil, err
	}
	var files []file
	switch strings.TrimSpace(string(kind)) {
	case "blob":
		files = []file{{root, object}}
	case "tree", "commit", "tag":
		if files, err = tree(ctx, dir, object, root, keep); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("%s: neither a file nor a folder", name)
	}
	return read(ctx, dir, files)
}

// Entry is one commit.
type Entry struct {
	// Name is the short hash, as long as the repository needs to tell it apart.
	Name, Subject string
	At            time.Time
	// Tags are the names that point to it, in their order.
	Tags []string
}

// Log lists the newest commits that changed one of the paths, which count from
// dir, the newest first and at most count; none in a repository without a
// commit. The errors are ErrNoGit, ErrNoRepository, and those of ctx and git.
func Log(ctx context.Context, dir string, count int, paths ...string) ([]Entry, error) {
	if _, err := resolve(ctx, dir, "HEAD"); err != nil {
		if errors.Is(err, ErrNoRevision) {
			return nil, nil
		}
		return nil, err
	}
	args := []string{"log", "-z", "--no-show-signature", "--no-color", "--max-count=" + strconv.Itoa(count), "--decorate=full", "--format=%h%x01%ct%x01%D%x01%s", "--"}
	for _, p := range paths {
		args = append(args, ":(literal)"+p)
	}
	out, err := git(ctx, dir, nil, args...)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		fields := strings.SplitN(line, "\x01", 4)
		if len(fields) != 4 {
			continue
		}
		seconds, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("git log gave the time %q", fields[1])
		}
		e := Entry{Name: fields[0], Subject: fields[3], At: time.Unix(seconds, 0)}
		for name := range strings.SplitSeq(fields[2], ", ") {
			if tag, ok := strings.CutPrefix(name, "tag: refs/tags/"); ok {
				e.Tags = append(e.Tags, tag)
			}
		}
		slices.Sort(e.Tags)
		entries = append(entries, e)
	}
	return entries, nil
}

type file struct{ name, object string }

// resolve returns the object of a name.
func resolve(ctx context.Context, dir, name string) (string, error) {
	out, err := git(ctx, dir, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
	if object := strings.TrimSpace(string(out)); err == nil && !strings.HasPrefix(object, "^") {
		return object, nil
	} else if err == nil { // all but a revision
		return "", fmt.Errorf("%s: %w", name, ErrNoRevision)
	}
	var failed *exec.ExitError
	if !errors.As(err, &failed) {
		return "", err
	}
	if _, err := git(ctx, dir, nil, "rev-parse", "--git-dir"); err != nil {
		return "", fmt.Errorf("%s: %w: %v", dir, ErrNoRepository, err) // git may have another reason, such as the owner
	}
	rev, _, pathed := strings.Cut(name, ":")
	if pathed && rev != "" {
		if _, err := git(ctx, dir, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", rev); err == nil {
			return "", fmt.Errorf("%s: %w", name, ErrNoPath)
		}
	}
	return "", fmt.Errorf("%s: %w", rev, ErrNoRevision)
}

// tree lists the files below a tree that keep takes.
func tree(ctx context.Context, dir, object, root string, keep func(string) bool) ([]file, error) {
	out, err := git(ctx, dir, nil, "ls-tree", "-r", "-z", "--full-tree", object)
	if err != nil {
		return nil, err
	}
	var files []file
	for entry := range strings.SplitSeq(string(out), "\x00") {
		meta, name, ok := strings.Cut(entry, "\t")
		fields := strings.Fields(meta)
		if !ok || len(fields) != 3 || !keep(name) {
			continue
		}
		switch mode := fields[0]; mode {
		case "100644", "100755":
			files = append(files, file{path.Join(root, name), fields[2]})
		case "120000":
			return nil, fmt.Errorf("%s: %w", path.Join(root, name), ErrLink)
		}
	}
	return files, nil
}

// read makes a file system of the objects: an archive in memory, since the
// standard library reads those as one.
func read(ctx context.Context, dir string, files []file) (fs.FS, error) {
	var ask strings.Builder
	for _, f := range files {
		ask.WriteString(f.object + "\n")
	}
	out, err := git(ctx, dir, strings.NewReader(ask.String()), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for _, f := range files {
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		fields := strings.Fields(string(head))
		if len(fields) != 3 || fields[1] != "blob" {
			return nil, fmt.Errorf("%s: git cat-file says %q", f.name, head)
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil || size < 0 || len(rest) < size+1 {
			return nil, fmt.Errorf("%s: git cat-file gave less than it said", f.name)
		}
		content := rest[:size]
		out = rest[size+1:]
		// Stored: what is in memory twice need not be squeezed.
		entry, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Store})
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(content[:min(size, maxFile)]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
}

// located are the variables by which git is told of one repository, as git
// rev-parse --local-env-vars lists them, but for those of configuration. A hook
// has them set for the repository that it is of.
var located = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE",
	"GIT_GRAFT_FILE", "GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX",
	"GIT_INTERNAL_SUPER_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE",
}

// environment is that of git: the folder alone decides which repository is read.
func environment(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(located, strings.ToUpper(name)) // Windows knows no case
	})
}

// git runs git in dir and returns what it prints.
func git(ctx context.Context, dir string, in io.Reader, args ...string) ([]byte, error) {
	return gitWith(ctx, dir, nil, in, args...)
}

// gitWith is git with further settings of the environment.
func gitWith(ctx context.Context, dir string, set []string, in io.Reader, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Stdin, cmd.Env = dir, in, append(environment(os.Environ()), set...)
	out, err := cmd.Output()
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return nil, ErrNoGit
	}
	var failed *exec.ExitError
	if errors.As(err, &failed) && len(failed.Stderr) > 0 {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(failed.Stderr)))
	}
	return nil, fmt.Errorf("git %s: %w", args[0], err)
}
